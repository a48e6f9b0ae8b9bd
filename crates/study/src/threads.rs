//! Which traffic can have several flows on one thread.

use crate::mode::{Reader, Sender};
use crate::read::limit;
use crate::setting::{Misfit, Setting};
use crate::word::Word;
use crate::workload::{Workload, WorkloadKind};

/// The most threads of a side, as the load engine has it.
pub(crate) const MOST: u32 = *limit::THREADS.end() as u32;
/// The most flows over UDP: each has a port of its own, and those below 1024 are privileged.
const MOST_OVER_UDP: u32 = 65_535 - 1_023;

/// Why the flows of a workload cannot be served as it asks, if they cannot.
pub(crate) fn misfit(workload: &Workload) -> Option<Misfit> {
    let (flows, kind) = (workload.flows, workload.kind);
    if kind.is_udp() && workload.sockets() > MOST_OVER_UDP {
        return Some(Misfit {
            why: format!(
                "each of {flows} flows over UDP needs a port of its own, and {MOST_OVER_UDP} are to be had"
            ),
            help: "take fewer flows".to_owned(),
        });
    }
    let what = alone(workload)?;
    if let Some(threads) = workload.traffic.threads.filter(|threads| *threads < flows) {
        return Some(Misfit {
            why: format!("{what} takes a thread for each of the {flows} flows, not {threads} for all"),
            help: "remove `threads`, or what takes a thread for each flow".to_owned(),
        });
    }
    (flows > MOST).then(|| Misfit {
        why: format!("{what} takes a thread for each of the {flows} flows, and {MOST} is the most"),
        help: "take fewer flows, or remove what takes a thread for each".to_owned(),
    })
}

/// What of a workload takes a thread for each flow, if anything does: the load engine's own rule.
fn alone(workload: &Workload) -> Option<String> {
    let (kind, traffic) = (workload.kind, &workload.traffic);
    let plain = [
        Setting::Sender(Sender::Send),
        Setting::Reader(Reader::Recv),
        Setting::InFlight(1),
        Setting::Connected(true),
    ];
    let takes = |setting: &Setting| match setting {
        Setting::Sender(_) | Setting::Reader(_) | Setting::InFlight(_) | Setting::Connected(_) => {
            !plain.contains(setting)
        }
        Setting::Rate(rate) => rate.is_some(),
        // TCP's pace is kept by the kernel.
        Setting::Pacing(pacing) => pacing.is_some() && kind.is_udp(),
        Setting::BusyPoll(time) => time.is_some(),
        _ => false,
    };
    if kind == WorkloadKind::TcpCrr {
        return Some(format!("a `{kind}`"));
    }
    let setting = traffic.settings().into_iter().find(takes)?;
    Some(format!("`{}` = {}", setting.parameter().word(), setting.text()))
}

#[cfg(test)]
mod tests {
    use crate::Study;

    fn problems(workload: &str) -> String {
        let text = format!("name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\n{workload}\n");
        Study::parse("x.toml", &text).map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn what_takes_a_thread_for_each_flow_is_refused_where_it_is_written() {
        for workload in [
            "kind = \"tcp_rr\"\nflows = 100000\nthreads = 2",
            "kind = \"tcp_rr\"\nflows = 100000",
            "kind = \"tcp_stream\"\nflows = 9\nthreads = 2\npacing = \"1Mbit\"",
            "kind = \"tcp_crr\"\nflows = 2\nthreads = 2",
            "kind = \"udp_rr\"\nflows = 2\nthreads = 1024\nin_flight = 2",
        ] {
            assert_eq!(problems(workload), "", "{workload}");
        }
        for (workload, place) in [
            ("kind = \"tcp_crr\"\nflows = 3\nthreads = 2", "threads = 2"),
            ("kind = \"tcp_crr\"\nflows = 1025", "flows = 1025"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nrate = 5", "threads = 2"),
            ("kind = \"udp_stream\"\nflows = 3\nthreads = 2\nsender = \"gso\"", "threads = 2"),
            ("kind = \"udp_stream\"\nflows = 3\nthreads = 2\npacing = \"1Mbit\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nconnected = \"off\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 3\nthreads = 2\nbusy_poll = \"5us\"", "threads = 2"),
            ("kind = \"tcp_rr\"\nflows = 3\nthreads = 2\nreader = \"spin\"", "threads = 2"),
            ("kind = \"udp_rr\"\nflows = 64513", "flows = 64513"),
        ] {
            let problems = problems(workload);
            assert!(problems.contains(place) && problems.contains("help: "), "{workload}: {problems}");
        }
        assert!(problems("kind = \"tcp_rr\"\nthreads = 0").contains("1 to 1024"));
        assert!(problems("kind = \"tcp_rr\"\nflows = 100001").contains("1 to 100000"));
    }

    #[test]
    fn of_levels_those_that_cannot_be_had_are_left_out_with_the_reason() {
        let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\n\
                    [factors]\nflows = [1, 4]\nthreads = [\"default\", 2]\nin_flight = [1, 2]\n";
        let plan = Study::parse("x.toml", text).unwrap().plan();
        assert_eq!(plan.conditions.len(), 7);
        assert_eq!(plan.excluded.len(), 1);
        assert_eq!(
            plan.excluded[0].why,
            "`in_flight` = 2 takes a thread for each of the 4 flows, not 2 for all"
        );
    }
}
