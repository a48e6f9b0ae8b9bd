//! The duration of a plan: ramps, windows, and the time of boots and runs beside them on an idle
//! machine.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{BootState, Protocol};
use crate::plan::{Condition, Plan};

// Measured: times in databases of whole studies, on an idle machine of 2 cores with emulation.

/// A run between local hosts beside its ramp and window: setting features and reading them back,
/// connecting, draining, storing.
// Means of studies: 19 to 36 ms.
const RUN: Duration = Duration::from_millis(30);
/// A run between virtual machines.
// 68 to 88 ms.
const GUEST_RUN: Duration = Duration::from_millis(75);
/// The trials of a search for a rate.
// On a path with a sharp edge, by simulation.
const SEARCH: u32 = 20;
/// A whole run of exact mode, which has neither ramp nor window.
// 1.3 to 1.7 s.
const EXACT_RUN: Duration = Duration::from_millis(1600);
/// A trace of a path in an emulated virtual machine: until its probes are chosen and loaded, and
/// for each message of a batch in each round.
// 20 to 28 s, and 40 s for 5 x 4096 messages: each is sent some six times in a round.
const TRACE: [Duration; 2] = [Duration::from_secs(22), Duration::from_millis(2)];
/// A trace in exact mode.
// 10 s, and 5 s for 5 x 4096 messages.
const EXACT_TRACE: [Duration; 2] = [Duration::from_secs(10), Duration::from_micros(250)];
/// A trace on this machine, by tracepoints.
// Half a second in all.
const TRACE_HERE: [Duration; 2] = [Duration::from_millis(300), Duration::from_micros(10)];
/// The samples of functions beside a trace.
// 1 s on this machine, 3 to 4 s in an emulated one.
const PROFILE: Duration = Duration::from_secs(4);
/// A boot of local hosts: building the testbed, reading the environment, tearing down.
// Medians of studies: 22 to 61 ms.
const BOOT: Duration = Duration::from_millis(40);
/// A boot of virtual machines.
// Emulated, with Debian's kernel for them.
const GUEST_BOOT: Duration = Duration::from_millis(3100);
/// A boot of virtual machines in exact mode.
const EXACT_BOOT: Duration = Duration::from_millis(7400);
/// The part of a boot that is not building: reading the environment twice, and tearing down.
const BOOT_REST: Duration = Duration::from_millis(25);
const GUEST_BOOT_REST: Duration = Duration::from_millis(350);

/// Time of boots and runs beside ramps and windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// A run, beside its ramp and its window; in exact mode, which has none, all of it.
    pub run: Duration,
    measured: Vec<(BootState, Duration)>,
    exact: bool,
    /// Time to try the plan at the beginning of a session.
    pub trying: Duration,
}

/// The expected duration of a plan, by its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// All runs' ramps and windows.
    pub windows: Duration,
    /// Time of runs beside them.
    pub beside: Duration,
    /// Time of boots.
    pub boots: Duration,
    /// Time to try the plan.
    pub trying: Duration,
}

impl Expected {
    /// The sum.
    pub fn total(&self) -> Duration {
        self.windows.saturating_add(self.beside).saturating_add(self.boots).saturating_add(self.trying)
    }
}

impl Costs {
    /// Costs that were measured elsewhere.
    pub fn stated(plan: &Plan) -> Self {
        let guests = plan.conditions.iter().any(|condition| condition.boot.guest.is_some());
        let (run, _, trace) = stated(plan.exact, guests);
        let run = run.saturating_add(traced(plan, trace));
        Self { run, measured: Vec::new(), exact: plan.exact, trying: Duration::ZERO }
    }

    /// Notes the time to build a testbed in this state.
    pub fn built(&mut self, state: &BootState, time: Duration) {
        let rest = if state.guest.is_some() { GUEST_BOOT_REST } else { BOOT_REST };
        self.booted(state, time.saturating_add(rest));
    }

    /// Notes the time of a whole boot in this state, without its runs.
    pub fn booted(&mut self, state: &BootState, time: Duration) {
        self.measured.retain(|(known, _)| known != state);
        self.measured.push((state.clone(), time));
    }

    /// The time of a boot in this state.
    pub fn boot(&self, state: &BootState) -> Duration {
        let measured = self.measured.iter().find(|(known, _)| known == state);
        measured.map_or(stated(self.exact, state.guest.is_some()).1, |(_, time)| *time)
    }

    /// The ramp and window of a run of each condition; of a search for a rate those of its trials,
    /// and of conditions that take turns its share of their flow, or half of both if they do so in
    /// every second block.
    pub fn windows(&self, plan: &Plan) -> Vec<Duration> {
        let flows = plan.flows();
        let window = |condition: &Condition| {
            let workload = &condition.workload;
            let trials = if workload.traffic.find_rate { SEARCH } else { 1 };
            let once = workload.ramp.saturating_add(workload.duration);
            match plan.share_of_flow(condition.index, flows.containing(condition.index).len()) {
                Some(share) if plan.asked.protocol.apart => once.saturating_add(share) / 2,
                Some(share) => share,
                None if self.exact => Duration::ZERO,
                None => once.saturating_mul(trials),
            }
        };
        plan.conditions.iter().map(window).collect()
    }

    /// The duration of a plan with these costs.
    pub fn expect(&self, plan: &Plan, protocol: &Protocol) -> Expected {
        let sum =
            |times: &mut dyn Iterator<Item = Duration>| times.fold(Duration::ZERO, Duration::saturating_add);
        let runs = protocol.warmup.saturating_add(protocol.runs).saturating_mul(protocol.boots);
        let boots = sum(&mut plan.states().iter().map(|state| self.boot(state)));
        Expected {
            windows: sum(&mut self.windows(plan).into_iter()).saturating_mul(runs),
            beside: sum(&mut plan.conditions.iter().map(|_| self.run)).saturating_mul(runs),
            boots: boots.saturating_mul(protocol.boots),
            trying: self.trying,
        }
    }
}

fn stated(exact: bool, guests: bool) -> (Duration, Duration, [Duration; 2]) {
    match (exact, guests) {
        (true, _) => (EXACT_RUN, EXACT_BOOT, EXACT_TRACE),
        (false, true) => (GUEST_RUN, GUEST_BOOT, TRACE),
        (false, false) => (RUN, BOOT, TRACE_HERE),
    }
}

/// The time of the traces behind a run, as the mean of all runs: warm-ups are not traced.
fn traced(plan: &Plan, [once, message]: [Duration; 2]) -> Duration {
    let Some(tracing) = &plan.tracing else { return Duration::ZERO };
    let trace = message.saturating_mul(tracing.batch).saturating_mul(tracing.rounds).saturating_add(once);
    let (mut traces, mut profiles) = (0, 0);
    for kind in plan.conditions.iter().map(|condition| condition.workload.traffic.kind) {
        traces += tracing.of_kind(kind).count();
        profiles += tracing.of_kind(kind).filter(|one| tracing.samples(kind, *one)).count();
    }
    let protocol = &plan.asked.protocol;
    let runs = f64::from(protocol.runs) / f64::from(protocol.runs.saturating_add(protocol.warmup).max(1));
    let all = trace.mul_f64(traces as f64) + PROFILE.mul_f64(profiles as f64);
    all.mul_f64(runs / plan.conditions.len().max(1) as f64)
}

/// The duration of a plan that was not tried here.
pub fn expected_duration(plan: &Plan, protocol: &Protocol) -> Duration {
    Costs::stated(plan).expect(plan, protocol).total()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;

    fn study(more: &str) -> Study {
        let text = format!(
            "name = \"s\"\nquestion = \"?\"\n{more}\n[[workload]]\nkind = \"udp_stream\"\nduration = \"1s\"\nramp = \"200ms\"\n\
             [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 3\nwarmup = 1\nruns = 4\n"
        );
        Study::parse("s.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn each_run_and_each_boot_has_its_cost() {
        let study = study("scenario = \"veth\"");
        let expected = Costs::stated(&study.plan()).expect(&study.plan(), &study.protocol);
        assert_eq!(expected.windows, Duration::from_secs(36), "30 runs");
        assert_eq!(expected.beside, RUN * 30);
        assert_eq!(expected.boots, BOOT * 3);
        assert_eq!(expected.total(), Duration::from_secs(36) + RUN * 30 + BOOT * 3);
    }

    #[test]
    fn what_was_measured_comes_before_what_is_stated() {
        let study = study("scenario = \"vm\"");
        let (plan, protocol) = (study.plan(), &study.protocol);
        let mut costs = Costs::stated(&plan);
        assert_eq!(costs.expect(&plan, protocol).boots, GUEST_BOOT * 3);
        costs.built(&plan.states()[0], Duration::from_secs(20));
        assert_eq!(costs.expect(&plan, protocol).boots, (Duration::from_secs(20) + GUEST_BOOT_REST) * 3);
        costs.booted(&plan.states()[0], Duration::from_secs(10));
        assert_eq!(costs.expect(&plan, protocol).boots, Duration::from_secs(30));
    }

    #[test]
    fn a_trace_is_made_behind_each_recorded_run() {
        let plain = study("scenario = \"veth\"\ninside = \"guest\"");
        let traced = Study::parse(
            "s.toml",
            &format!("{}[trace]\npaths = [\"udp-tx\", \"tcp-tx\"]\nbatch = 100\nrounds = 2\n", &plain.text),
        );
        let traced = traced.unwrap_or_else(|problems| panic!("{problems}"));
        let beside =
            |study: &Study| Costs::stated(&study.plan()).expect(&study.plan(), &study.protocol).beside;
        // UDP has one of the paths: two conditions, three boots, four runs that are recorded.
        let (more, [once, message]) = ((beside(&traced) - beside(&plain)).as_secs_f64(), TRACE);
        assert!((more - 24.0 * (once + 200 * message).as_secs_f64()).abs() < 1e-6, "{more}");
    }

    #[test]
    fn exact_mode_has_no_windows() {
        let study = study("scenario = \"veth\"\ninside = \"guest\"\nexact = true");
        let expected = Costs::stated(&study.plan()).expect(&study.plan(), &study.protocol);
        assert_eq!((expected.windows, expected.boots), (Duration::ZERO, EXACT_BOOT * 3));
        assert!(expected.beside >= Duration::from_secs(30));
    }
}
