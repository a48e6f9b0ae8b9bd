//! The programs that netassay's traffic is compared with: how each is told to do the same, and what
//! it says of it.

mod peer;
mod table;

pub(crate) use peer::{End, Job, Listens, Peer, Said};
pub(crate) use table::{IN_DEBIAN, OF_THE_GRID, OWN};

/// The peer of that name, for the command line.
pub(crate) fn named(name: &str) -> Result<&'static Peer, String> {
    let all = || OF_THE_GRID.into_iter().chain(IN_DEBIAN);
    all().find(|peer| peer.name == name).ok_or_else(|| {
        let names: std::collections::BTreeSet<_> = all().map(|peer| peer.name).collect();
        format!("no such peer: use one of {}", names.into_iter().collect::<Vec<_>>().join(", "))
    })
}
