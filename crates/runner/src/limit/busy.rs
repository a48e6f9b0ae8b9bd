//! Whether the CPU limits one end.

use host::{CpuTimes, ThreadTimes};
use study::Side;

use super::end::MeasuredEnd;
use record::{Evidence, Label};

// A thread that wants a CPU for this share of a long window hardly waits for anything else.
const WANTED: f64 = 0.9;
// A thread that is ready without a CPU for this share of a window waits for nothing else as long.
const STARVED: f64 = 0.5;
// The slowest tick of the kernel's CPU accounting: 10 ms.
const TICK_NS: f64 = 10e6;
// A CPU with this share of busy time has no time left: time is counted in ticks.
const ALL: f64 = 0.97;
const MOSTLY_INTERRUPTS: f64 = 0.9;
// Counts the process and the interrupts, as a share of the host's busy time.
const OURS: f64 = 0.9;
// From this share of software interrupts on, a full CPU is full of network work.
const MUCH_INTERRUPTS: f64 = 0.2;

#[derive(Debug, Clone)]
pub(super) struct Busy {
    /// Threads had a CPU or waited for one, on average, for this share of the window.
    pub(super) wanted: f64,
    /// The part of it in which they waited.
    pub(super) waiting: f64,
    /// Whether the threads, or a CPU of the end, had no time left.
    pub(super) saturated: bool,
    mostly_user: bool,
    pub(super) evidence: Vec<Evidence>,
}

impl Busy {
    pub(super) fn of_end(end: &MeasuredEnd<'_>, sending: bool, polls: bool) -> Self {
        let elapsed = end.window.elapsed_ns as f64;
        let threads = end.threads(sending);
        let share = |part: fn(&ThreadTimes, f64) -> f64| {
            let sum: f64 = threads.iter().map(|times| part(times, elapsed)).sum();
            let all = elapsed * threads.len() as f64;
            if all > 0.0 { sum / all } else { 0.0 }
        };
        let (running, waiting) = (share(running_in), share(waiting_in));
        let wanted = running + waiting;
        // A thread that runs at an edge: the time since the last tick is not counted yet.
        let slack = if elapsed > 0.0 { TICK_NS / elapsed } else { 1.0 };
        // Threads that poll never sleep, so their busy time is no evidence.
        let by_threads = !polls && (wanted >= WANTED - slack.min(0.1) || waiting >= STARVED);
        let full = if slack <= 0.1 { full_cpu(end, slack, polls) } else { None };

        let user: f64 = threads.iter().map(|times| times.user_ns as f64).sum();
        let ticks: f64 = user + threads.iter().map(|times| times.system_ns as f64).sum::<f64>();
        // Below ten ticks a share means nothing.
        let user = (ticks >= 10.0 * TICK_NS).then(|| user / ticks);

        let mut evidence = Vec::new();
        if !threads.is_empty() {
            let (side, threads) = (end.side, threads.len());
            evidence.push(Evidence::Threads { side, sending, threads, running, waiting, user });
        }
        if polls {
            evidence.push(Evidence::Polls(end.side));
        }
        let saturated = by_threads || full.is_some();
        evidence.extend(full);
        Self {
            wanted,
            waiting,
            saturated,
            mostly_user: by_threads && user.is_some_and(|user| user >= 0.5),
            evidence,
        }
    }

    pub(super) fn label(&self, side: Side) -> Label {
        match (self.saturated, self.mostly_user) {
            (true, true) => Label::Generator,
            (true, false) => Label::cpu(side),
            (false, _) => Label::Path,
        }
    }
}

/// In ns.
fn running_in(times: &ThreadTimes, elapsed: f64) -> f64 {
    (times.running_ns as f64).min(elapsed)
}

/// In ns.
fn waiting_in(times: &ThreadTimes, elapsed: f64) -> f64 {
    // The kernel counts a whole wait when it ends, also one from before the window.
    (times.waiting_ns as f64).min(elapsed - running_in(times, elapsed))
}

fn full_cpu(end: &MeasuredEnd<'_>, slack: f64, polls: bool) -> Option<Evidence> {
    let side = end.side;
    let share = |part: u64, times: &CpuTimes| part as f64 / times.total().max(1) as f64;
    let interrupts = |times: &CpuTimes| times.irq.saturating_add(times.softirq);
    let each = || end.window.cpus.iter().zip(&end.window.cpu_each);
    if let Some((cpu, inside)) = each()
        .map(|(cpu, times)| (cpu, share(interrupts(times), times)))
        .find(|(_, inside)| *inside >= MOSTLY_INTERRUPTS - slack)
    {
        return Some(Evidence::Interrupts { side, cpu: *cpu, share: inside });
    }
    let all = &end.window.cpu;
    // A CPU's work is not counted by process, so it may be that of busy other processes.
    let ours = end.window.own.total_ns().saturating_add(interrupts(all));
    if polls || (ours as f64) < OURS * all.busy() as f64 {
        return None;
    }
    if let Some((cpu, busy, inside)) = each()
        .map(|(cpu, times)| (cpu, share(times.busy(), times), share(interrupts(times), times)))
        .find(|(_, busy, inside)| *busy >= ALL - slack && *inside >= MUCH_INTERRUPTS)
    {
        return Some(Evidence::CpuFull { side, cpu: *cpu, busy, interrupts: inside });
    }
    let busy = share(all.busy(), all);
    (busy >= ALL - slack).then_some(Evidence::CpusFull { side, cpus: end.window.cpus.len(), busy })
}
