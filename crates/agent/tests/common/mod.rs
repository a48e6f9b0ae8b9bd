//! One answer of each kind, with something in each of its parts.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::net::SocketAddr;

use load::exact::{Account, BatchSpread};
use load::{Buffers, Counts, EndOutcome, FlowOutcome, Share, TcpInfo};
use netassay_agent::message::{Answer, Booted, Finished, Late, Measured, Series, Undone, Watched};
use words::Settled;

pub(crate) const ADDRESS: &str = "10.0.0.1:5201";

pub(crate) fn outcome() -> EndOutcome {
    let address: SocketAddr = ADDRESS.parse().unwrap();
    let flow = FlowOutcome {
        sends: true,
        flows: 1,
        local: address,
        peer: address,
        counts: Counts::default(),
        verified_bytes: 0,
        sequence: serde::de::IgnoredAny,
        buffers: Buffers::default(),
        tcp: Some(TcpInfo::default()),
    };
    EndOutcome {
        sent: Counts::default(),
        received: Counts::default(),
        flows: vec![flow],
        threads: vec![Share { sends: true, flows: 1 }],
        latency: Some(record::sample::latency()),
        applied: vec![],
        buffers: Buffers::default(),
        zerocopy: Some(load::Zerocopy::default()),
        slept: false,
        notes: vec![load::LoadNote::NoBusyPolling {
            option: "SO_BUSY_POLL".to_owned(),
            why: "no".to_owned(),
        }],
    }
}

fn measured() -> Measured {
    Measured {
        elapsed_ns: 1,
        load: load::Sample { flows: vec![Counts::default()], ..load::Sample::default() },
        cpu: host::CpuTimes::default(),
        cpus: vec![0],
        cpu_each: vec![host::CpuTimes::default()],
        own: host::ProcessTimes::default(),
        threads: vec![host::ThreadTimes::default()],
        counters: host::Counters::default(),
        interrupts: host::Interrupts(host::InterruptKind::kinds().map(|interrupt| (interrupt, 1)).collect()),
        device: None,
        power: None,
        throttled: None,
        underlay: Some(host::WireCounters::default()),
        clock: host::ClockCheck::default(),
        late: Late::default(),
        link: host::LinkLimit::default(),
        series: Series::default(),
    }
}

pub(crate) fn answers() -> Vec<Answer> {
    let spread = BatchSpread { least: 1.0, low: 1.0, median: 1.0, high: 1.0, most: 1.0 };
    let account = Account {
        messages: 1,
        batches: 1,
        clock_ns: 1,
        whole: spread,
        kernel: spread,
        softirq: Some(spread),
        softirq_absent: Some("no".to_owned()),
        calls: 1.0,
        applied: vec![],
    };
    let settled = Settled {
        mtu: 1500,
        active: [("rx-gro".to_owned(), true)].into(),
        refused: [("rx-gro".to_owned(), "fixed".to_owned())].into(),
        follow_on: [("rx-gro".to_owned(), true)].into(),
        device: [(words::DeviceSetting::AdaptiveRx, 1)].into(),
        tuning: [(words::TuningKey::Governor, "performance".to_owned())].into(),
    };
    let watched = Watched {
        elapsed_ns: 1,
        late: Late::default(),
        guests: vec![(vec![host::ThreadTimes::default()], host::ThreadTimes::default())],
        cpu_each: vec![host::CpuTimes::default()],
        interrupts_each: vec![host::Interrupts(
            host::InterruptKind::kinds().map(|interrupt| (interrupt, 1)).collect(),
        )],
        underlay: None,
        throttled: None,
    };
    let change = host::journal::Change {
        number: 1,
        target: host::machine::Target::Governor { cpu: 0 },
        before: "powersave".into(),
        after: Some("performance".into()),
    };
    let difference = host::journal::ReadBackDifference {
        target: host::machine::Target::Governor { cpu: 0 },
        after: "performance".into(),
        now: host::journal::PresentValue::Unreadable("no".to_owned()),
    };
    vec![
        Answer::Hello { protocol: 1, pid: 1, cpus: vec![(0, 0)] },
        Answer::Done,
        Answer::Discards { device: host::DiscardDevice::Dummy, lacking: vec!["no".to_owned()] },
        Answer::Settled(settled),
        Answer::Environment(Box::new(host::HostEnvironment::read(&["lo"], "1"))),
        Answer::Told(vec!["no".to_owned()]),
        Answer::MachineChanged(vec![change]),
        Answer::MachineDiffers(vec![difference]),
        Answer::MachineUndone(vec![Undone::Left("no".to_owned())]),
        Answer::Sockets(vec![ADDRESS.parse().unwrap()]),
        Answer::Measured(Box::new(measured())),
        Answer::Interface("eth0".to_owned()),
        Answer::Watched(Box::new(watched)),
        Answer::Exact(Box::new(account)),
        Answer::Traced(Box::new(traced())),
        Answer::TracedRound(Box::new(traced())),
        Answer::Surveyed(Box::new(surveyed())),
        Answer::Finished(Box::new(Finished { outcome: outcome(), counters: host::Counters::default() })),
        Answer::Booted(Box::new(Booted {
            process: 1,
            acceleration: words::Accelerated::Emulation { why: "no".to_owned() },
            stays_root: Some("no".to_owned()),
            boot_ms: 1.0,
            failed_first: Some("no".to_owned()),
        })),
        Answer::Failed { why: "no".to_owned(), broken: false },
        Answer::NoJournal("no".to_owned()),
    ]
}

fn surveyed() -> trace::Survey {
    use trace::{
        At, Availability, JourneyPhase, LadderStep, Layer, PointKind, ProbeLadder, ProbePoint, ProbePoints,
        ResolvedStage, Rung, Survey,
    };
    let [reason, name, without] = ["no", "kprobe", "less"].map(str::to_owned);
    let step = LadderStep { rung: Rung::Kprobe, verdict: Availability::NotTried, reason, name, without };
    let point =
        ProbePoint { kind: PointKind::Function, name: "f".to_owned(), arguments: Some(2), packet: None };
    let resolved = ResolvedStage {
        label: "f".to_owned(),
        lane: Layer::Ip,
        at: At::Entry,
        optional: true,
        phase: JourneyPhase::Out,
        ipv4: ProbePoints::Points(vec![point]),
        ipv6: ProbePoints::Missing("no".to_owned()),
    };
    Survey { ladder: ProbeLadder(vec![step]), paths: vec![vec![resolved]] }
}

fn traced() -> trace::TraceAccount {
    use trace::{
        At, Attachment, ChosenStage, JourneyPhase, Journeys, Layer, ProbeCounts, Round, SampledPackets,
        Segment, StagePoint, Stamp, StampedPacket, Way,
    };
    let segment = |point: u8| Segment {
        point,
        count: 1,
        sum: 20,
        least: 20,
        most: 20,
        outside: 0,
        buckets: vec![(18, 1)],
    };
    let way = Way { whole: segment(0), segments: vec![segment(1)] };
    let reading = ProbeCounts {
        ways: vec![way],
        journeys: Journeys { arrived: 1, ..Journeys::default() },
        hits: vec![0],
    };
    let rounds = vec![Round {
        batch_ns: 30,
        reading,
        between: vec![trace::TimeBetween { from: 0, to: 1, quarter: 20 }],
    }];
    let seen = Ok(StagePoint { point: 0, name: "f".to_owned(), mean: Attachment::Kprobe, packet: None });
    let (lane, phase) = (Layer::Ip, JourneyPhase::Reading);
    let stage =
        |seen| ChosenStage { label: "a".to_owned(), lane, at: At::Entry, optional: false, phase, seen };
    let cost = trace::ProbeCost { mean: Attachment::Kprobe, at: At::Entry, phase, listed: true };
    trace::TraceAccount {
        batch: 1,
        stages: vec![stage(seen), stage(Err("no function g".to_owned()))],
        untraced: vec![10],
        ends: rounds.clone(),
        avoiding: Some(5),
        one_more: vec![(cost, rounds.clone())],
        all: rounds,
        sampled: Some(SampledPackets {
            packets: vec![StampedPacket { stamps: vec![Stamp { point: 1, at: 2, aside: 3 }] }],
            missed: 4,
        }),
        profile: Some(host::perf::Profile {
            means: host::perf::SamplingScope::Threads,
            period: 250_000,
            message: 20.0,
            samples: 3,
            elsewhere: 1,
            lost: 2,
            functions: vec![host::perf::SampledFunction {
                name: "f".to_owned(),
                samples: 3,
                error: Some(1.5),
            }],
            stacks: vec![host::perf::SampledStack { frames: vec![0], samples: 3 }],
        }),
    }
}
