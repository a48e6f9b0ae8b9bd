//! Metrics from the account of fixed work (`study::metric` explains each).

use load::exact::Account;
use study::Kind;

/// The metrics of one run in exact mode, by key, in instructions: the guest's clock counts one
/// instruction as one ns.
pub(crate) fn instructions(kind: Kind, message: u32, account: &Account) -> Vec<(String, f64)> {
    let mut units = match kind {
        Kind::TcpStream => vec![("byte", f64::from(message))],
        Kind::UdpStream => vec![("packet", 1.0), ("byte", f64::from(message))],
        Kind::Pps => vec![("packet", 1.0)],
        Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => vec![("transaction", 1.0)],
    };
    units.push(("call", account.calls));
    let mut parts =
        vec![("", account.whole.median), ("user_", account.user()), ("kernel_", account.kernel.median)];
    parts.extend(account.softirq.map(|softirq| ("softirq_", softirq.median)));
    let metric = |(unit, per): (&str, f64)| {
        let of_part = |(part, taken): &(&str, f64)| (format!("{part}instructions_{unit}"), taken / per);
        parts.iter().map(of_part).collect::<Vec<_>>()
    };
    units.into_iter().flat_map(metric).collect()
}

#[cfg(test)]
mod tests {
    use study::metric;

    use super::*;

    fn account() -> Account {
        record::sample::exact_run().exact
    }

    #[test]
    fn instructions_are_per_unit_of_the_workload_and_divide_into_user_and_kernel() {
        let value = |kind, key: &str| {
            let metrics = instructions(kind, 1000, &account());
            metrics.into_iter().find(|(known, _)| known == key).map(|(_, value)| value)
        };
        assert_eq!(value(Kind::UdpStream, "instructions_packet"), Some(20_000.0));
        assert_eq!(value(Kind::UdpStream, "user_instructions_packet"), Some(1_000.0));
        assert_eq!(value(Kind::TcpStream, "kernel_instructions_byte"), Some(19.0));
        assert_eq!(value(Kind::TcpStream, "instructions_packet"), None);
        assert_eq!(value(Kind::UdpRr, "instructions_transaction"), Some(20_000.0));
        assert_eq!(value(Kind::UdpStream, "softirq_instructions_byte"), Some(5.0));
        assert_eq!(value(Kind::Pps, "softirq_instructions_call"), Some(2_000.0));
        let without = instructions(Kind::Pps, 18, &Account { softirq: None, ..account() });
        assert!(
            without.iter().all(|(key, _)| !key.starts_with("softirq_")) && without.len() == 6,
            "{without:?}"
        );
    }

    #[test]
    fn every_key_is_in_the_vocabulary() {
        let known: Vec<&str> = metric::keys().collect();
        for kind in [Kind::TcpStream, Kind::UdpStream, Kind::Pps, Kind::TcpRr] {
            for (key, _) in instructions(kind, 1, &account()) {
                assert!(known.contains(&key.as_str()), "{key}");
            }
        }
    }
}
