//! Datagrams that do not fit the MTU.

use std::path::Path;

use netassay_report::{Layout, Results};
use study::{Condition, Study};

use crate::made::{level, stored, wobble};

/// The page of a UDP study whose datagrams leave as so many packets over IPv4 and over IPv6.
fn page(ipv4: f64, ipv6: f64, kind: &str) -> String {
    let text = format!(
        "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"{kind}\"\nduration = \"1s\"\n\
         [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 3\nruns = 2\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let packets = if level(condition, "family") == "ipv6" { ipv6 } else { ipv4 };
        let rate = 500.0 + wobble(boot, repeat, condition.index);
        vec![("throughput", rate), ("transmitter.segments_per_wire_packet", 1.0 / packets)]
    };
    Results::new(&stored(&study, &study.plan(), values)).unwrap().text(Path::new("netassay.db"), Layout::WIDE)
}

#[test]
fn conditions_with_fragments_are_named() {
    let said = |page: &str| page.lines().find(|line| line.contains("fragments")).map(str::to_owned);
    let some = said(&page(1.0, 2.0, "udp_stream")).unwrap();
    assert!(some.contains("in ipv6 each datagram left as 2 fragments"), "{some}");
    let all = said(&page(2.0, 5.0, "udp_stream")).unwrap();
    assert!(all.contains("in every condition each datagram left as 2 to 5 fragments"), "{all}");
    // Segments of TCP, and packets of many datagrams (GSO), are no fragments.
    assert_eq!(said(&page(1.0, 2.0, "tcp_stream")), None);
    assert_eq!(said(&page(1.0, 0.03, "udp_stream")), None);
}
