//! When to give up waiting for a guest. A clock alone does not decide: on a busy machine a healthy
//! guest waits for a CPU. A guest that makes progress has time.

use std::fmt;
use std::time::Duration;

use crate::guest::monitor::CpuState;
use crate::guest::threads::ThreadWork;

/// Longest idle time of a booting guest's virtual CPUs. They are idle only while init waits for a
/// device (10 s).
const IDLE: Duration = Duration::from_secs(15);
/// Longest idle time of the virtual CPUs of a guest at work: it may wait for another guest.
const IDLE_AT_WORK: Duration = Duration::from_secs(60);
/// An idle guest may use a CPU for one part in this many: its timers tick.
const TICKS: u32 = 20;
/// CPU time after which a guest hangs whose first CPU stands still, with the same registers, before
/// the kernel has printed anything. The kernel waits for nothing there.
const STANDS: Duration = Duration::from_secs(5);
/// The limit once the kernel has printed something: a kernel that measures a timer waits in a
/// loop, up to 6 s if emulated.
const STANDS_LATER: Duration = Duration::from_secs(30);
/// Looks at an unmoved first CPU before it counts as standing still.
const LOOKS: u32 = 3;
/// CPU time until the kernel must have printed something: an emulated kernel unpacks itself in 1 to
/// 3 s.
const SILENT: Duration = Duration::from_secs(20);

/// The record of a guest by which it is waited for, or given up.
#[derive(Debug)]
pub(crate) struct HangDetector {
    /// Longest boot, not counting waits of the virtual CPUs for a CPU.
    most: Option<Duration>,
    /// The guest counts instructions: its one CPU takes time while it is idle, because its clock
    /// runs ahead.
    exact: bool,
    idle: Duration,
    /// Time since the start at which the virtual CPUs were last busy.
    active: Duration,
    looked: Duration,
    wanted: Duration,
    said: u64,
    /// The state of the first CPU when it last moved, the CPU time used until then, and the looks
    /// that have found it unmoved since.
    stood: Option<(CpuState, Duration, u32)>,
}

/// A guest as it is at one time.
#[derive(Debug, Default)]
pub(crate) struct GuestState {
    pub(crate) now: Duration,
    /// The work of the virtual CPUs; `None`: they do not exist yet.
    pub(crate) work: Option<ThreadWork>,
    pub(crate) said: u64,
    /// Its first CPU, if QEMU has answered.
    pub(crate) cpu: Option<CpuState>,
}

/// The way in which a guest hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hang {
    /// Its virtual CPUs have been idle for this long.
    Idle(Duration),
    /// The virtual CPUs have been busy for this long, not counting waits for a CPU.
    Busy(Duration),
    /// Its first CPU halted at this address, and no interrupt wakes it.
    Halted(u64),
    /// Its first CPU has stood at this address for so much of its time.
    Stands(u64, Duration),
    /// Its kernel has printed nothing in so much of its time.
    Silent(Duration),
}

impl HangDetector {
    pub(crate) fn for_boot(most: Duration, exact: bool) -> Self {
        Self { most: Some(most), idle: IDLE, ..Self::for_work(Duration::ZERO, exact) }
    }

    /// A detector for a guest that works from `now` on.
    pub(crate) fn for_work(now: Duration, exact: bool) -> Self {
        Self {
            most: None,
            exact,
            idle: IDLE_AT_WORK,
            active: now,
            looked: now,
            wanted: Duration::ZERO,
            said: 0,
            stood: None,
        }
    }

    pub(crate) fn look(&mut self, look: GuestState) -> Option<Hang> {
        let GuestState { now, work, said, cpu } = look;
        let wanted = work.map_or(Duration::ZERO, |work| work.ran + work.waited);
        let worked = wanted.saturating_sub(self.wanted) > now.saturating_sub(self.looked) / TICKS;
        if work.is_none_or(|work| work.wants) || worked {
            self.active = now;
        }
        (self.looked, self.wanted) = (now, wanted);
        let ran = work.map_or(Duration::ZERO, |work| work.ran);
        if said != self.said {
            (self.said, self.stood) = (said, None);
        }
        if let Some(hang) = cpu.and_then(|cpu| self.stands(cpu, ran)) {
            return Some(hang);
        }
        if said == 0 && ran >= SILENT {
            return Some(Hang::Silent(ran));
        }
        let idle = now.saturating_sub(self.active);
        if idle >= self.idle {
            return Some(Hang::Idle(idle));
        }
        let own = now.saturating_sub(work.map_or(Duration::ZERO, |work| work.waited_longest));
        self.most.is_some_and(|most| own >= most).then_some(Hang::Busy(own))
    }

    /// Whether the first CPU was seen where images unpack themselves.
    pub(crate) fn is_before_kernel(&self) -> bool {
        self.stood.as_ref().is_some_and(|(cpu, ..)| cpu.is_before_kernel())
    }

    /// Whether the first CPU stands too long. `ran`: the time that all have taken.
    fn stands(&mut self, cpu: CpuState, ran: Duration) -> Option<Hang> {
        match &mut self.stood {
            Some((before, ..)) if cpu.stands_as(before) && cpu.is_halted_for_good() => {
                Some(Hang::Halted(cpu.at))
            }
            // Another one may be at work.
            _ if cpu.is_idle() && !self.exact => {
                self.stood = None;
                None
            }
            Some((before, since, looks)) if cpu.stands_as(before) => {
                *looks += 1;
                let stood = ran.saturating_sub(*since);
                let most = if self.said == 0 { STANDS } else { STANDS_LATER };
                (stood >= most && *looks >= LOOKS).then_some(Hang::Stands(cpu.at, stood))
            }
            _ => {
                self.stood = Some((cpu, ran, 0));
                None
            }
        }
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(time) => write!(f, "its virtual CPUs have had no work for {} s", time.as_secs()),
            Self::Busy(time) => write!(
                f,
                "it could use a CPU for {} s, not counting the time in which it waited for one",
                time.as_secs()
            ),
            Self::Halted(at) => write!(f, "its CPU halted at {at:#x}, and no interrupt can wake it"),
            Self::Stands(at, time) => {
                write!(f, "its CPU has stood at {at:#x} for {} s of its time", time.as_secs())
            }
            Self::Silent(time) => write!(f, "its kernel printed nothing in {} s of CPU time", time.as_secs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::monitor::tests::cpu;

    const MOST: Duration = Duration::from_secs(60);
    const ENABLED: u32 = 0x202;
    const DISABLED: u32 = 0x2;

    /// The second of a hang, and which.
    type Found = Option<(u64, Hang)>;

    /// Looks each second at a guest whose virtual CPU runs and waits this many milliseconds in
    /// each; returns the second of the hang. `at`: what the CPU is at, and what was heard by then.
    fn hangs_at(
        mut patience: HangDetector,
        [ran, waited]: [u64; 2],
        wants: bool,
        at: impl Fn(u64) -> (u64, Option<CpuState>),
    ) -> Found {
        (1..1000).find_map(|second| {
            let time = |milliseconds: u64| Duration::from_millis(milliseconds * second);
            let work =
                ThreadWork { ran: time(ran), waited: time(waited), waited_longest: time(waited), wants };
            let (said, cpu) = at(second);
            let look = GuestState { now: Duration::from_secs(second), work: Some(work), said, cpu };
            Some((second, patience.look(look)?))
        })
    }

    /// Of a boot that has printed something.
    fn hangs(ran: u64, waited: u64, wants: bool) -> Found {
        hangs_at(HangDetector::for_boot(MOST, false), [ran, waited], wants, |_| (9, None))
    }

    #[test]
    fn a_halted_guest_hangs_soon_and_a_spinning_one_after_its_time() {
        assert_eq!(hangs(5, 0, false), Some((15, Hang::Idle(Duration::from_secs(15)))));
        assert_eq!(hangs(1000, 0, true), Some((60, Hang::Busy(Duration::from_secs(60)))));
    }

    #[test]
    fn time_in_which_it_waits_for_a_cpu_does_not_count() {
        // A tenth of a CPU: ten times as long.
        assert_eq!(hangs(100, 900, false).unwrap().0, 600);
        // Ready to run but without a CPU for long: it waits, it is not idle.
        assert_eq!(hangs(0, 0, true).unwrap().0, 60);
        assert!(matches!(hangs(40, 40, false), Some((63, Hang::Busy(_)))));
    }

    #[test]
    fn before_there_are_virtual_cpus_only_the_clock_tells() {
        let mut patience = HangDetector::for_boot(MOST, false);
        let mut at = |second, work| {
            patience.look(GuestState { now: Duration::from_secs(second), work, ..GuestState::default() })
        };
        assert_eq!((1..1000).find_map(|second| at(second, None)), Some(Hang::Busy(MOST)));
        assert_eq!(at(61, Some(ThreadWork::default())), Some(Hang::Busy(Duration::from_secs(61))));
    }

    #[test]
    fn an_image_that_is_not_unpacked_is_seen_in_seconds_of_its_own_time() {
        let boot = || HangDetector::for_boot(MOST, false);
        let seconds = Duration::from_secs;
        let loops = |second: u64| (0, Some(cpu("1", 0x10_0000 + 2 * (second % 2), ENABLED, 0)));
        type At<'a> = &'a dyn Fn(u64) -> (u64, Option<CpuState>);
        let rows: [(&str, [u64; 2], At<'_>, Found); 7] = [
            (
                "\"-- System halted\": a halt without interrupts",
                [0, 0],
                &|_| (0, Some(cpu("1", 0x9000, DISABLED, 1))),
                Some((2, Hang::Halted(0x9000))),
            ),
            ("a loop at one address", [1000, 0], &loops, Some((6, Hang::Stands(0x10_0000, seconds(5))))),
            // 50 s without a CPU are none of its time.
            ("the same, busy", [100, 900], &loops, Some((51, Hang::Stands(0x10_0002, seconds(5))))),
            (
                "at one address, but its registers change",
                [1000, 0],
                &|second| (second, Some(cpu(&second.to_string(), 0x9000, ENABLED, 0))),
                Some((60, Hang::Busy(MOST))),
            ),
            (
                "all over its memory",
                [1000, 0],
                &|second| (0, Some(cpu("1", second << 12, ENABLED, 0))),
                Some((20, Hang::Silent(seconds(20)))),
            ),
            (
                "a kernel that waits in a loop after its first line",
                [1000, 0],
                &|_| (9, Some(cpu("1", !0 << 40, ENABLED, 0))),
                Some((31, Hang::Stands(!0 << 40, seconds(30)))),
            ),
            ("a QEMU without a monitor", [1000, 0], &|_| (0, None), Some((20, Hang::Silent(seconds(20))))),
        ];
        for (name, [ran, waited], at, expected) in rows {
            assert_eq!(hangs_at(boot(), [ran, waited], true, at), expected, "{name}");
        }
    }

    #[test]
    fn work_has_time_as_long_as_it_goes_on() {
        let work = || HangDetector::for_work(Duration::ZERO, true);
        let moves = |second: u64| (9, Some(cpu("1", second << 12, ENABLED, 0)));
        let stands = |_| (9, Some(cpu("1", 0x9000, ENABLED, 1)));
        let lives = |second: u64| (1 + second / 20, Some(cpu("1", 0x9000, ENABLED, 0)));
        assert_eq!(hangs_at(work(), [1000, 0], true, moves), None);
        // With a tenth of a CPU too.
        assert_eq!(hangs_at(work(), [100, 900], true, moves), None);
        assert_eq!(hangs_at(work(), [1000, 0], true, lives), None);
        let minute = Duration::from_secs(60);
        assert_eq!(hangs_at(work(), [5, 0], false, stands), Some((60, Hang::Idle(minute))));
        let spins = hangs_at(work(), [1000, 0], true, stands);
        assert_eq!(spins, Some((31, Hang::Stands(0x9000, Duration::from_secs(30)))));
        let spins = hangs_at(work(), [100, 900], true, stands);
        assert_eq!(spins, Some((301, Hang::Stands(0x9000, Duration::from_secs(30)))));
        // Where another virtual CPU works, the first one may be idle.
        assert_eq!(hangs_at(HangDetector::for_work(Duration::ZERO, false), [1000, 0], true, stands), None);
    }
}
