use words::{Kind, Waiting};

use crate::Study;

fn study(head: &str, workload: &str, trace: &str) -> Result<Study, String> {
    let text =
        format!("name = \"x\"\nquestion = \"q\"\n{head}\n[[workload]]\n{workload}\n[trace]\n{trace}\n");
    Study::parse("x.toml", &text).map_err(|problems| problems.to_string())
}

const GUEST: &str = "scenario = \"veth\"\ninside = \"guest\"";

#[test]
fn a_traced_study_has_its_paths_in_its_plan_and_reads_back() {
    let trace = "paths = [\"udp-tx\", \"udp-rx\"]\nreaders = [\"awake\", \"asleep\"]\nbatch = 256";
    let plan = study(GUEST, "kind = \"udp_rr\"", trace).unwrap().plan();
    let tracing = plan.tracing.clone().unwrap();
    assert_eq!((tracing.batch, tracing.rounds), (256, 5));
    assert_eq!(tracing.of_kind(Kind::UdpRr).count(), 4);
    // A stream's readers are not woken one by one, and TCP has other paths.
    assert!(tracing.of_kind(Kind::UdpStream).all(|(_, reader)| reader == Waiting::Awake));
    assert_eq!((tracing.of_kind(Kind::UdpStream).count(), tracing.of_kind(Kind::TcpRr).count()), (2, 0));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(crate::Plan::read(&json).unwrap(), plan);
}

#[test]
fn what_cannot_be_traced_is_refused_with_its_place() {
    let udp = "kind = \"udp_rr\"";
    let tx = "paths = [\"udp-tx\"]";
    for (head, workload, trace, part) in [
        (GUEST, udp, "paths = []", "`paths` is empty"),
        (GUEST, udp, "paths = [\"udp-tx\", \"udp-tx\"]", "`paths` names one twice"),
        (GUEST, udp, "batch = 7", "`paths` is missing from [trace]"),
        (GUEST, udp, "paths = [\"upd-tx\"]", "did you mean `udp-tx`?"),
        (GUEST, udp, "paths = [\"tcp-tx\"]", "no workload has packets on tcp-tx"),
        (GUEST, "kind = \"udp_stream\"", "paths = [\"udp-tx\"]\nreaders = [\"asleep\"]", "no workload has"),
        (GUEST, udp, "paths = [\"udp-tx\"]\nbatch = 0", "`batch` must be 1 to 1048576"),
        (GUEST, udp, "paths = [\"udp-tx\"]\nround = 2", "did you mean `rounds`?"),
        (GUEST, "kind = \"udp_rr\"\nflows = 4", tx, "a trace does not support this `flows`"),
        (GUEST, "kind = \"tcp_crr\"", "paths = [\"tcp-tx\"]", "a trace does not support this `kind`"),
        ("scenario = \"veth\"", udp, tx, "a trace of `veth` needs a virtual machine"),
        ("scenario = \"vm\"", udp, tx, ""),
        ("scenario = \"vm\"", "kind = \"udp_rr\"\nbusy_poll = \"50us\"", tx, ""),
        (GUEST, "kind = \"udp_rr\"\nbusy_poll = \"50us\"", tx, "does not support this `busy_poll`"),
        ("scenario = \"vm\"", "kind = \"udp_stream\"", tx, "does not support this `kind`"),
        (
            "",
            "kind = \"tcp_stream\"",
            "paths = [\"tcp-tx\"]\n[factors]\nscenario = [\"vm\", \"ssh\"]",
            "`kind`",
        ),
        ("scenario = \"loopback\"", udp, tx, ""),
        ("scenario = \"veth\"\nexact = true", udp, tx, ""),
    ] {
        let problems = study(head, workload, trace).err().unwrap_or_default();
        assert!(problems.contains(part) && problems.is_empty() == part.is_empty(), "{trace}: {problems}");
    }
}
