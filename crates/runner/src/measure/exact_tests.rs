//! Counts of instructions.

use super::*;

fn account() -> Account {
    record::sample::exact_run().exact
}

#[test]
fn instructions_are_per_unit_of_the_workload_and_divide_into_user_and_kernel() {
    let value = |kind, metric| instructions(kind, 1000, &account()).get(metric);
    assert_eq!(value(Kind::UdpStream, metric::INSTRUCTIONS_PACKET.all), Some(20_000.0));
    assert_eq!(value(Kind::UdpStream, metric::INSTRUCTIONS_PACKET.user), Some(1_000.0));
    assert_eq!(value(Kind::TcpStream, metric::INSTRUCTIONS_BYTE.kernel), Some(19.0));
    assert_eq!(value(Kind::TcpStream, metric::INSTRUCTIONS_PACKET.all), None);
    assert_eq!(value(Kind::UdpRr, metric::INSTRUCTIONS_TRANSACTION.all), Some(20_000.0));
    assert_eq!(value(Kind::UdpStream, metric::INSTRUCTIONS_BYTE.softirq), Some(5.0));
    assert_eq!(value(Kind::Pps, metric::INSTRUCTIONS_CALL.softirq), Some(2_000.0));
    let without = instructions(Kind::Pps, 18, &Account { softirq: None, ..account() });
    assert!(
        without.iter().all(|(metric, _)| !metric.key.starts_with("softirq_")) && without.len() == 6,
        "{without:?}"
    );
}
