//! TCP's congestion control where the study names none.

use study::CongestionControl;

/// The first congestion control without a pacing timer that a testbed's hosts allow, by its kernel
/// name; the last candidate where they allow none, so that the error names it. `lacking` says what
/// the hosts lack for a kind of traffic.
///
/// # Errors
/// The errors of `lacking`.
pub fn unpaced<E>(
    mut lacking: impl FnMut(&load::Traffic) -> Result<Vec<String>, E>,
) -> Result<&'static str, E> {
    let [preferred @ .., last] = CongestionControl::UNPACED;
    for name in preferred {
        let plain = load::Traffic::new(load::Kind::TcpStream);
        let congestion_control = CongestionControl::Named(name.to_owned());
        let traffic = load::Traffic { congestion_control, ..plain };
        if lacking(&traffic)?.is_empty() {
            return Ok(name);
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_the_hosts_allow_is_taken() {
        for (allowed, chosen) in
            [(vec!["reno", "cubic"], "cubic"), (vec!["reno", "bbr"], "reno"), (vec!["bbr"], "reno")]
        {
            let lacking = |traffic: &load::Traffic| {
                let name = traffic.congestion_control.to_string();
                let lacks = !allowed.contains(&name.as_str());
                Ok::<_, ()>(lacks.then_some(name).into_iter().collect())
            };
            assert_eq!(unpaced(lacking), Ok(chosen), "{allowed:?}");
        }
    }
}
