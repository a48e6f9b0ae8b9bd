//! Real traffic between both ends, over loopback.

#[cfg(test)]
mod accounting;
#[cfg(test)]
mod crr;
#[cfg(test)]
mod handshake;
#[cfg(test)]
mod lent;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod namespace;
#[cfg(test)]
mod open_loop;
#[cfg(test)]
mod options;
#[cfg(test)]
mod pacing;
#[cfg(test)]
mod rr;
#[cfg(test)]
mod shared;
#[cfg(test)]
#[path = "../common/skip.rs"]
mod skip;
#[cfg(test)]
mod support;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod two_namespaces;
