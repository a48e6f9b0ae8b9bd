//! The state machine that turns hits into stages (`bpf/journey.h`), compiled for this machine: the
//! same lines run in the kernel.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use netassay_trace::Segment;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The last point of every path here.
const LAST: u64 = 7;

/// `enum came_to`.
const PASSED: u64 = 0;
const BEGUN: u64 = 1;
const DONE: u64 = 2;
const LOST: u64 = 3;
const STRAY: u64 = 4;
const REPEATED: u64 = 5;
const INSIDE: u64 = 6;

struct Journey {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
}

impl Journey {
    fn compiled() -> Self {
        let room = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("journey");
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-I"]).arg(room.join("bpf"));
        cc.arg(room.join("tests/journey.c")).arg("-o").arg(&program);
        assert!(cc.status().unwrap().success());
        let mut process =
            Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, to, from: BufReader::new(from), _directory: directory }
    }

    fn ask(&mut self, what: char, first: u64, second: u64) -> String {
        writeln!(self.to, "{what} {first} {second}").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The outcome of a hit, and for a journey that arrived: point, own time and interruptions of
    /// each segment.
    fn hit(&mut self, point: u64, now: u64) -> (u64, Vec<[u64; 3]>) {
        self.hit_of('h', point, now)
    }

    fn hit_of(&mut self, whose: char, point: u64, now: u64) -> (u64, Vec<[u64; 3]>) {
        let line = self.ask(whose, point, now);
        let mut words = line.split(' ');
        let came_to = words.next().unwrap().parse().unwrap();
        let segment = |word: &str| {
            let numbers: Vec<u64> = word.split(':').map(|number| number.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        };
        (came_to, words.map(segment).collect())
    }
}

impl Drop for Journey {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A tick of the timer in the programs themselves: counted twice, it would make a stage shorter
/// than nothing.
#[test]
fn an_interruption_that_is_interrupted_at_once_counts_once() {
    let mut journey = Journey::compiled();
    journey.ask('n', 0, 0);
    assert_eq!(journey.hit(0, 1000).0, BEGUN);
    journey.ask('u', 1010, 1900);
    journey.ask('r', 1910, 0);
    assert_eq!(journey.hit(1, 1920), (PASSED, Vec::new()));
    assert_eq!(journey.hit(LAST, 1950), (DONE, vec![[1, 910, 10], [LAST, 30, 0]]));
}

/// A thread's leaving ends every interruption, also one whose end was never seen.
#[test]
fn a_thread_that_left_counts_again_when_it_is_back() {
    let mut journey = Journey::compiled();
    journey.ask('n', 0, 0);
    assert_eq!(journey.hit(0, 1000).0, BEGUN);
    journey.ask('i', 1010, 0);
    journey.ask('s', 1100, 0);
    assert_eq!(journey.hit(1, 1200).0, INSIDE);
    journey.ask('S', 1900, 0);
    assert_eq!(journey.hit(1, 1920), (PASSED, Vec::new()));
    assert_eq!(journey.hit(LAST, 1950), (DONE, vec![[1, 120, 800], [LAST, 30, 0]]));
}

#[test]
fn a_packet_that_passes_in_order_is_divided_without_a_rest() {
    let journey = RefCell::new(Journey::compiled());
    // Which points of the middle are passed; the time to each and an interruption before it.
    let steps = prop::collection::vec((any::<bool>(), 1u64..1000, 0u64..50), LAST as usize);
    let mut runner = TestRunner::default();
    let test = |steps: Vec<(bool, u64, u64)>| {
        let mut journey = journey.borrow_mut();
        journey.ask('n', 0, 0);
        let mut now = 1000;
        assert_eq!(journey.hit(0, now).0, BEGUN);
        let (mut expected, mut own, mut aside) = (Vec::new(), 0, 0);
        for (point, (passed, time, interruption)) in (1..=LAST).zip(steps) {
            now += time;
            own += time;
            if interruption > 0 {
                journey.ask('i', now, 0);
                // One in the other, with another packet's hit inside.
                journey.ask('i', now + interruption / 2, 0);
                assert_eq!(journey.hit(point, now + interruption / 2).0, INSIDE);
                journey.ask('r', now + interruption / 2, 0);
                now += interruption;
                aside += interruption;
                journey.ask('r', now, 0);
            }
            if passed || point == LAST {
                expected.push([point, own, aside]);
                (own, aside) = (0, 0);
                let (came_to, segments) = journey.hit(point, now);
                if point == LAST {
                    prop_assert_eq!(came_to, DONE);
                    prop_assert_eq!(&segments, &expected);
                } else {
                    prop_assert_eq!(came_to, PASSED);
                }
            }
        }
        Ok(())
    };
    runner.run(&steps, test).unwrap();
}

/// A card may interrupt a soft interrupt. The packet's way begins within that interrupt, so only
/// the rest of it lies aside. When all of it was subtracted, the first stage had a negative time.
#[test]
fn an_interrupt_that_leads_to_a_packet_is_not_longer_than_its_way() {
    let mut journey = Journey::compiled();
    journey.ask('n', 0, 0);
    journey.ask('I', 1000, 0);
    journey.ask('l', 0, 1010);
    journey.ask('R', 1050, 0);
    journey.ask('l', 1, 1055);
    assert_eq!(journey.hit_of('p', 2, 1100).0, BEGUN);
    for (point, now) in [(4, 1200), (LAST, 1300)] {
        let (_, segments) = journey.hit_of('g', point, now);
        let to_the_reader = [[1, 5, 40], [2, 45, 0], [4, 100, 0], [LAST, 100, 0]];
        assert_eq!(segments, if point == LAST { &to_the_reader[..] } else { &[] });
    }
}

/// A card may interrupt while the stamp of a soft interrupt is written: the clock was read before,
/// and the interrupt's own stamp is later. When both were kept, the stage between them had a
/// negative time.
#[test]
fn what_an_interrupt_overwrote_leads_to_no_packet() {
    let mut journey = Journey::compiled();
    for (led, took) in [('L', 'p'), ('l', 'P'), ('L', 'P')] {
        journey.ask('n', 0, 0);
        journey.ask('l', 0, 1000);
        journey.ask(led, 1, 1050);
        assert_eq!(journey.hit_of(took, 2, 1100).0, BEGUN);
        journey.hit_of('g', 4, 1200);
        let (_, segments) = journey.hit_of('g', LAST, 1300);
        assert_eq!(segments, [[4, 100, 0], [LAST, 100, 0]], "{led} {took}");
        // The next packet is led to as ever.
        journey.ask('l', 0, 2000);
        journey.ask('l', 1, 2050);
        assert_eq!(journey.hit_of('p', 2, 2100).0, LOST);
        journey.hit_of('g', 4, 2200);
        let (_, segments) = journey.hit_of('g', LAST, 2300);
        assert_eq!(segments[..2], [[1, 50, 0], [2, 50, 0]], "{led} {took}");
    }
}

/// The way in: points 0 and 1 lead to a packet, 2 and 3 are its own, 4 to 7 its reader's.
#[test]
fn a_packet_that_is_read_is_divided_from_the_interrupt_to_the_reader() {
    let journey = RefCell::new(Journey::compiled());
    let steps = prop::collection::vec((any::<bool>(), 1u64..1000, 0u64..50), LAST as usize + 1);
    // Polls without a packet before; how many points the reader had passed before the packet came.
    let given = (steps, 0u64..3, 0u64..4);
    let test = |(steps, polls, asleep): (Vec<(bool, u64, u64)>, u64, u64)| {
        let mut journey = journey.borrow_mut();
        journey.ask('n', 0, 0);
        let mut now = 1000;
        for point in 4..4 + asleep {
            journey.hit_of('g', point, now);
            now += 10;
        }
        for _ in 0..polls {
            now += 5;
            journey.ask('l', 1, now);
        }
        let (mut expected, mut since): (Vec<[u64; 3]>, Option<u64>) = (Vec::new(), None);
        let mut aside = 0;
        for (point, (passed, time, interruption)) in (0..=LAST).zip(steps) {
            if (4..4 + asleep).contains(&point) {
                continue;
            }
            now += time;
            // A clock of its own for the CPU, another for the reader; none while a packet waits.
            let crossing = point == 4 + asleep;
            if crossing {
                aside = 0;
            }
            if interruption > 0 && point > 0 && !crossing {
                let (begins, ends) = if point < 4 { ('I', 'R') } else { ('i', 'r') };
                journey.ask(begins, now, 0);
                now += interruption;
                journey.ask(ends, now, 0);
                aside += interruption;
            }
            if !passed && !matches!(point, 2 | 4 | LAST) && !crossing {
                continue;
            }
            let came = match point {
                0 | 1 => {
                    // A poll before is forgotten when its like begins anew.
                    journey.ask('l', point, now);
                    (PASSED, Vec::new())
                }
                2 | 3 => journey.hit_of('p', point, now),
                _ => journey.hit_of('g', point, now),
            };
            if let Some(since) = since {
                expected.push([point, now - since - aside, aside]);
            } else if polls > 0 && point == 2 {
                // Only an earlier poll led to it.
                let poll = 1000 + 10 * asleep + 5 * polls;
                expected.push([point, now - poll - aside, aside]);
            }
            (since, aside) = (Some(now), 0);
            if point == LAST {
                prop_assert_eq!(came.0, DONE);
                prop_assert_eq!(&came.1, &expected);
            } else {
                prop_assert!(came.0 == PASSED || came.0 == BEGUN, "{:?}", came);
            }
        }
        Ok(())
    };
    TestRunner::default().run(&given, test).unwrap();
}

#[test]
fn lost_hits_lose_packets_and_never_make_up_a_time() {
    let journey = RefCell::new(Journey::compiled());
    // Packets one after the other; of each hit whether it was seen, or seen twice.
    let packets = prop::collection::vec(prop::collection::vec(0u8..6, LAST as usize + 1), 1..8);
    let mut runner = TestRunner::default();
    runner
        .run(&packets, |packets| {
            let mut journey = journey.borrow_mut();
            journey.ask('n', 0, 0);
            let mut now = 1;
            let mut came: [u64; 7] = [0; 7];
            let mut under_way = false;
            for seen in packets {
                let whole = seen.iter().all(|how| *how > 0);
                for (point, how) in (0..=LAST).zip(&seen) {
                    let times = match how {
                        0 => 0,
                        1 => 2,
                        _ => 1,
                    };
                    for _ in 0..times {
                        now += 10;
                        let (came_to, segments) = journey.hit(point, now);
                        came[came_to as usize] += 1;
                        let begins = came_to == BEGUN || came_to == LOST;
                        prop_assert_eq!(begins, point == 0);
                        prop_assert_eq!(came_to == LOST, point == 0 && under_way);
                        prop_assert_eq!(came_to == STRAY, point != 0 && !under_way);
                        under_way = match came_to {
                            BEGUN | LOST => true,
                            DONE | REPEATED => false,
                            _ => under_way,
                        };
                        // Hits are 10 apart, so a segment is as long as it has hits, and none is
                        // longer than its packet.
                        for [_, own, aside] in segments {
                            prop_assert!((10..=10 * 2 * (LAST + 1)).contains(&own) && aside == 0);
                        }
                    }
                }
                let once = seen.iter().all(|how| *how > 1);
                prop_assert!(!whole || !once || !under_way, "a packet seen whole arrives");
            }
            let begun = came[BEGUN as usize] + came[LOST as usize];
            let ended = came[DONE as usize] + came[REPEATED as usize] + came[LOST as usize];
            prop_assert_eq!(begun, ended + u64::from(under_way));
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_time_falls_into_the_bucket_that_holds_it() {
    let journey = RefCell::new(Journey::compiled());
    let mut runner = TestRunner::default();
    let times = (any::<u64>(), 0u32..64).prop_map(|(time, shift)| time >> shift);
    runner
        .run(&times, |time| {
            let number: u16 = journey.borrow_mut().ask('b', time, 0).parse().unwrap();
            let (least, most) = Segment::bucket(number);
            prop_assert!((least..=most).contains(&time), "{time} in bucket {number}");
            Ok(())
        })
        .unwrap();
}
