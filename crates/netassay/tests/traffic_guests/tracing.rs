//! A path of packets traced in an exact guest: what is counted there is the same each time.

mod apart;
mod studies;

use agent::message::{Answer, Request, TraceOptions};
use load::{Kind, Sender, Traffic};
use trace::{Availability, Journeys, ProbePoints, StageTime, TraceAccount, bundled_text};
use words::KernelPath;

use crate::exact::World;

/// A tick of the timer in one batch and not in the other counts for little then.
const BATCH: u32 = 1024;
const ROUNDS: u32 = 3;
/// In half of the batches TCP takes more; one of these is of the other half.
const ROUNDS_OF_TCP: u32 = 5;
/// A batch and its rounds, where packets are only counted.
const FEW: [u32; 2] = [256, 1];

fn bundled(name: &str) -> String {
    bundled_text(KernelPath::ALL.into_iter().find(|path| path.word() == name).unwrap()).to_owned()
}

impl World {
    fn trace(&mut self, path: &str, traffic: &Traffic, size: [u32; 2]) -> Result<TraceAccount, String> {
        self.traced(path, traffic, size, false, 0)
    }

    fn traced(
        &mut self,
        path: &str,
        traffic: &Traffic,
        [batch, rounds]: [u32; 2],
        asleep: bool,
        every: u32,
    ) -> Result<TraceAccount, String> {
        let wanted =
            TraceOptions { path: path.to_owned(), functions: true, batch, rounds, asleep, every, profile: 0 };
        let (spec, receiver) = self.ends(traffic);
        match self.answer(&Request::Trace { spec, receiver, wanted }) {
            Ok(Answer::Traced(account)) => Ok(*account),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Packets that arrived, all of them in order and none twice.
fn all_arrived(account: &TraceAccount, packets: u32) {
    let arrived = u64::from(packets * account.batch) * account.all.len() as u64;
    // A tick of the timer may send an acknowledgement: that is another packet, and told as such.
    // Acknowledgements, and what the kernel sends by itself, come in too and are not read.
    let journeys = Journeys { inside: 0, unread: 0, ..account.reading().journeys };
    assert_eq!(journeys, Journeys { arrived, ..Journeys::default() }, "{:?}", account.stages);
}

/// What the row that ends at this stage takes.
fn takes(account: &TraceAccount, ends_at: usize) -> f64 {
    let row = |row: &StageTime| (row.to == ends_at).then_some(row.corrected);
    account
        .rows()
        .iter()
        .find_map(row)
        .unwrap_or_else(|| panic!("no row ends at {ends_at}: {:?}", account.rows()))
}

fn stage(account: &TraceAccount, label: &str, at: trace::At) -> usize {
    account.stages.iter().position(|stage| stage.label == label && stage.at == at).unwrap()
}

fn datagram(message: u32) -> Traffic {
    Traffic { message, ..Traffic::new(Kind::UdpStream) }
}

/// Traces a path whose packets all arrive, and whose stages add up: so many `packets` a message.
fn closed(world: &mut World, path: &str, traffic: &Traffic, packets: u32) -> TraceAccount {
    let rounds = if traffic.kind.is_tcp() { ROUNDS_OF_TCP } else { ROUNDS };
    let account = world.trace(&bundled(path), traffic, [BATCH, rounds]).unwrap();
    let name = format!("{path}, {}, {} bytes", traffic.kind, traffic.message);
    all_arrived(&account, packets);
    for stage in &account.stages {
        assert!(stage.seen.is_ok() || stage.optional, "{name}: {stage:?}");
    }
    let closure = account.closure().unwrap().share();
    eprintln!("note: {name}: closure {closure:.4}, whole {:?}", account.time_of_way());
    assert!((0.98..=1.02).contains(&closure), "{name}: the stages add up to {closure} of the whole");
    assert!(account.rows().iter().all(|row| row.raw > 0.0), "{name}: {:?}", account.rows());
    let [without, with] = account.a_message().unwrap();
    assert!(without > 1000.0 && with > without, "{name}: {without} {with}");
    account
}

/// What 1399 bytes more take in the row that ends at this stage.
fn apart([small, large]: [&TraceAccount; 2], label: &str, at: trace::At) -> f64 {
    takes(large, stage(large, label, at)) - takes(small, stage(small, label, at))
}

/// The copy is dearer for more bytes, the rest of the way is not.
fn only_the_copy_grows(sizes: [&TraceAccount; 2], copy: (&str, trace::At), others: &[&str]) {
    let (label, at) = copy;
    let copied = apart(sizes, label, at);
    assert!(copied > 100.0, "to {label}: 1399 bytes more take {copied} instructions to copy");
    for label in others {
        let same = apart(sizes, label, trace::At::Entry);
        assert!(same.abs() < 30.0, "to {label}: 1399 bytes more take {same} instructions");
    }
}

/// Packets with their own stamps: each passes the same stages, in the same instructions.
fn sampled_packets_are_like_all_others(world: &mut World, all: &TraceAccount) {
    assert_eq!(all.sampled, None, "nobody asked for samples");
    let account = world.traced(&bundled("udp-tx"), &datagram(1), [BATCH, 1], false, 64).unwrap();
    let sampled = account.sampled.as_ref().unwrap();
    assert_eq!((sampled.packets.len(), sampled.missed), (BATCH as usize / 64, 0));
    let rows = account.rows();
    let mut apart: Vec<f64> = Vec::new();
    for packet in &sampled.packets {
        let slices: Vec<trace::StampInterval> = packet.slices().collect();
        let passed =
            |slice: &trace::StampInterval| slice.points.map(|point| account.stage_at(point).unwrap());
        let stages: Vec<[usize; 2]> = slices.iter().map(passed).collect();
        assert_eq!(stages, rows.iter().map(|row| [row.from, row.to]).collect::<Vec<_>>());
        let own: u64 = slices.iter().map(|slice| slice.takes - slice.aside).sum();
        apart.push(own as f64 - rows.iter().map(|row| row.raw).sum::<f64>());
    }
    // The queue of a device is seldom cleaned up: that is not in every packet.
    apart.sort_by(f64::total_cmp);
    assert!(apart[apart.len() / 2].abs() < 60.0, "instructions apart from the mean: {apart:?}");
}

#[test]
#[ignore = "the gate proves this with packets that are sent"]
fn each_packet_that_is_read_is_followed_from_the_interrupt_and_its_stages_add_up() {
    let mut world = World::boot("");
    let small = closed(&mut world, "udp-rx", &datagram(1), 1);
    let large = closed(&mut world, "udp-rx", &datagram(1400), 1);
    // One request, one answer.
    closed(&mut world, "tcp-rx", &Traffic::new(Kind::TcpRr), 2);
    let copy = ("skb_free_datagram", trace::At::Entry);
    only_the_copy_grows([&small, &large], copy, &["udp_queue_rcv_skb", "ip_rcv"]);
    // Where the packet waits is told apart.
    let waits = small.rows().iter().filter(|row| row.waits).count();
    assert_eq!(waits, 1, "{:?}", small.rows());

    // A reader that sleeps is woken where the packet is queued, and goes on behind its wait.
    let often = [BATCH, ROUNDS];
    let asleep = world.traced(&bundled("udp-rx"), &Traffic::new(Kind::UdpRr), often, true, 0).unwrap();
    let Journeys { arrived, .. } = asleep.reading().journeys;
    let messages = u64::from(2 * BATCH * ROUNDS);
    assert!(arrived >= messages * 99 / 100, "{:?}", asleep.reading().journeys);
    // Half of the packets find their reader awake: they are not in the table.
    let closure = asleep.closure().unwrap().share();
    assert!((0.98..=1.02).contains(&closure), "asleep: the stages add up to {closure} of the whole");
    let queued = |account: &TraceAccount| takes(account, stage(account, "sk_data_ready", trace::At::Return));
    let woken = queued(&asleep) - queued(&small);
    assert!(woken > 300.0, "waking a reader takes {woken} instructions more");
    let went_on = asleep.rows().into_iter().find(|row| row.waits).unwrap();
    assert_eq!(asleep.stages[went_on.to].label, "wait_for_packet", "{:?}", asleep.rows());
}

#[test]
fn a_datagram_that_is_sent_is_followed_to_the_driver() {
    closed(&mut World::boot(""), "udp-tx", &datagram(1), 1);
}

#[test]
#[ignore = "the gate proves this with one kind of packets"]
fn each_packet_that_is_sent_is_followed_to_the_driver_and_its_stages_add_up() {
    let mut world = World::boot("");
    let small = closed(&mut world, "udp-tx", &datagram(1), 1);
    let large = closed(&mut world, "udp-tx", &datagram(1400), 1);
    // One request, one answer.
    closed(&mut world, "tcp-tx", &Traffic::new(Kind::TcpRr), 2);
    // To an interface that discards.
    closed(&mut world, "udp-tx", &Traffic::new(Kind::Pps), 1);
    let copy = ("ip_append_data", trace::At::Return);
    only_the_copy_grows([&small, &large], copy, &["dev_hard_start_xmit"]);
    // Each round calls two probes in one function in the same order.
    let means = |round: &trace::Round| -> Vec<u64> {
        round.reading.ways[0].segments.iter().map(|segment| segment.sum / segment.count).collect()
    };
    let rounds: Vec<Vec<u64>> = small.all.iter().map(means).collect();
    let alike = |round: &Vec<u64>| round.iter().zip(&rounds[0]).all(|(one, other)| one.abs_diff(*other) < 30);
    assert!(rounds.len() > 1 && rounds.iter().all(alike), "{rounds:?}");

    sampled_packets_are_like_all_others(&mut world, &small);

    // A datagram beyond the MTU becomes several packets: that is told, and no time is made up.
    let fragments = world.trace(&bundled("udp-tx"), &datagram(4000), FEW).unwrap();
    let Journeys { arrived, repeated, .. } = fragments.reading().journeys;
    assert_eq!((arrived, repeated), (0, u64::from(FEW[0])), "{:?}", fragments.stages);
    assert_eq!((fragments.rows(), fragments.closure()), (Vec::new(), None));

    // One call for many datagrams, which the interface cuts apart: one packet passes the stages.
    let gso = Traffic { sender: Sender::Gso, ..datagram(1000) };
    let together = world.trace(&bundled("udp-tx"), &gso, FEW).unwrap().reading().journeys;
    assert_eq!((together.arrived, together.repeated), (u64::from(FEW[0]) / 64, 0), "{together:?}");

    // In a guest probes are tried, in the words that `doctor` has for the kernel of this machine.
    let survey = Request::Survey { paths: vec![bundled("udp-tx")], functions: true };
    let Ok(Answer::Surveyed(survey)) = world.answer(&survey) else { panic!("no survey") };
    for step in &survey.ladder.0 {
        assert_eq!(step.verdict, Availability::Yes, "{:?}", survey.ladder);
    }
    assert!(survey.paths[0].iter().any(|stage| matches!(stage.ipv4, ProbePoints::Points(_))), "{survey:?}");

    // A function that no kernel has leaves the others; a path without any is refused.
    let strange = bundled("udp-tx").replace("\"udp_sendmsg\"", "\"no_such_function\"");
    let account = world.trace(&strange, &datagram(1), FEW).unwrap();
    let reason = account.stages[2].seen.as_ref().unwrap_err();
    assert!(reason.contains("no function no_such_function"), "{reason}");
    all_arrived(&account, 1);
    let nowhere = "about = \"x\"\nworkload = \"udp_rr\"\n[[stage]]\nlabel = \"a\"\nlane = \"ip\"\nfunctions = [\"a_b\"]\n\
                   [[stage]]\nlabel = \"b\"\nlane = \"ip\"\nfunctions = [\"c_d\"]\n";
    let error = world.trace(nowhere, &datagram(1), FEW).unwrap_err();
    assert!(error.contains("fewer than two stages are passed; not seen: a (no function a_b"), "{error}");
    let error = world.trace("about = 7", &datagram(1), FEW).unwrap_err();
    assert!(error.contains("the path:1:"), "{error}");
}
