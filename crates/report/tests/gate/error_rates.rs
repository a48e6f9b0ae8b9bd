//! The error rates of a gate, and its power to find simulated regressions.

#[path = "../../../stats/tests/normal/mod.rs"]
mod normal;
#[macro_use]
#[path = "../../../stats/tests/sizes/mod.rs"]
mod sizes;

use crate::made_up::{metrics, outline, request, stored, study, two};
use normal::normal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use results::GateCases;
use results::gate::{GateDecision, GateOutcome, GateRequest};
use stats::Design;
use stats::planning::{PlannedFamily, SampleSizePlan};
use store::Outline;
use study::Study;

in_two_sizes! { 200, 1000, "1,000 experiments, of which the gate makes 200":
    of_one_check_false_alarms_and_false_passes_are_as_rare_as_stated_and_power_is_as_planned
    any_false_alarm_over_all_conditions_and_bounds_is_as_rare_as_stated
    a_gate_with_a_true_regression_passes_as_rarely_as_stated
    within_one_study_boots_cancel_and_errors_are_as_rare_as_stated
}

const BOOTS: u32 = 5;
const RUNS: u32 = 3;
const MEAN: f64 = 1000.0;
/// Standard deviations between boots and between runs: 1.5 % of the mean.
const SD: f64 = 15.0;
/// The error rate of a gate with 95 % confidence.
const ALPHA: f64 = 0.05;

/// More such errors among so many experiments are seen once in 2,000 times if the true rate is
/// `rate`.
fn most(rate: f64, experiments: usize) -> f64 {
    rate + 3.3 * (rate * (1.0 - rate) / experiments as f64).sqrt()
}

fn least(rate: f64, experiments: usize) -> f64 {
    rate - 3.3 * (rate * (1.0 - rate) / experiments as f64).sqrt()
}

/// A true rate of false alarms that is not too careful: of 1,000 experiments it leaves 2 % or more.
const NOT_TOO_CAREFUL: f64 = 0.0405;

/// Throughput by condition, boot and run, of conditions with these means. Boots vary, and runs in
/// them; `shared` is what a boot does to all conditions.
fn drawn(random: &mut ChaCha8Rng, means: &[f64], shared: f64) -> Vec<(usize, u32, f64)> {
    let mut values = Vec::new();
    for boot in 1..=BOOTS {
        let common = shared * normal(random);
        for (condition, mean) in means.iter().enumerate() {
            let own = mean + common + SD * normal(random);
            values.extend((0..RUNS).map(|_| (condition, boot, own + SD * normal(random))));
        }
    }
    values
}

/// Two studies of the same plan, to be filled with values. What their machines are is left out: it
/// would be compared in each experiment.
struct Pair {
    before: Outline,
    after: Outline,
    request: GateRequest,
}

impl Pair {
    fn of(study: &Study, texts: &[&str]) -> Self {
        let bare = |id| {
            let outline = outline(&stored(id, study, (BOOTS, RUNS), &["throughput"], |_, _, _| MEAN));
            Outline { environments: Vec::new(), ..outline }
        };
        Self { before: bare(1), after: bare(2), request: request(texts) }
    }

    fn judged(&mut self, random: &mut ChaCha8Rng, before: &[f64], after: &[f64]) -> GateDecision {
        for (outline, means) in [(&mut self.before, before), (&mut self.after, after)] {
            outline.values.insert(study::metric::THROUGHPUT, drawn(random, means, 0.0));
        }
        let cases = GateCases::between(&self.before, &self.after, &metrics(&self.request)).unwrap();
        GateDecision::judge(cases, &self.request).unwrap()
    }
}

/// The shares of experiments whose gate failed, and whose gate passed.
fn rates(experiments: usize, seed: u64, mut gate: impl FnMut(&mut ChaCha8Rng) -> GateDecision) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut failed, mut passed) = (0, 0);
    for _ in 0..experiments {
        match gate(&mut random).outcome {
            GateOutcome::Fail => failed += 1,
            GateOutcome::Pass => passed += 1,
            GateOutcome::Inconclusive => {}
        }
    }
    (failed as f64 / experiments as f64, passed as f64 / experiments as f64)
}

/// One condition against another study, by one bound.
fn one_check(experiments: usize, seed: u64, regression: f64, bound: &str) -> (f64, f64) {
    let one = study("[[workload]]\nkind = \"tcp_stream\"\n");
    let mut pair = Pair::of(&one, &[bound]);
    rates(experiments, seed, |random| pair.judged(random, &[MEAN], &[MEAN * (1.0 - regression / 100.0)]))
}

/// The power that [`stats::planning`] states for a difference of `percent` % with these boots.
fn planned(percent: f64) -> f64 {
    let plan = SampleSizePlan {
        design: Design::Nested,
        conditions: 2,
        cell: SD,
        run: SD,
        family: PlannedFamily::Alone,
        alpha: 2.0 * ALPHA,
        looks: None,
    };
    plan.power(percent / 100.0 * MEAN, BOOTS, RUNS).unwrap()
}

fn of_one_check_false_alarms_and_false_passes_are_as_rare_as_stated_and_power_is_as_planned(
    experiments: usize,
) {
    let [least, most] = [least, most].map(|bound| move |rate| bound(rate, experiments));
    // (regression in %, bound, the planned rates of failures and of passes).
    for (seed, regression, bound, fails, passes) in [
        (1, 0.0, "throughput < -2%", 0.0, planned(2.0)),
        (2, 1.0, "throughput < -2%", 0.0, planned(1.0)),
        (3, 2.0, "throughput < -2%", ALPHA, ALPHA),
        (4, 5.0, "throughput < -2%", planned(3.0), 0.0),
        (5, 0.0, "throughput < 0%", ALPHA, ALPHA),
        (6, 1.0, "throughput < 0%", planned(1.0), 0.0),
        (7, 2.0, "throughput < 0%", planned(2.0), 0.0),
        (8, 5.0, "throughput < 0%", planned(5.0), 0.0),
    ] {
        let (failed, passed) = one_check(experiments, seed, regression, bound);
        for (what, rate, planned) in [("failed", failed, fails), ("passed", passed, passes)] {
            // Where it would be wrong, the rate may be lower than stated, but never higher.
            let (low, high) = match planned {
                ALPHA => (least(ALPHA), most(ALPHA)),
                0.0 => (0.0, most(ALPHA)),
                // The percentage's own error, and spreads that happen to be estimated low.
                planned => (least(planned) - 0.02, most(planned) + 0.04),
            };
            assert!(
                (low..=high).contains(&rate),
                "{regression} % by {bound}: {what} {rate}, planned {planned}, allowed {low} to {high}"
            );
        }
    }
}

/// Four conditions, judged from both sides.
const FOUR: &str =
    "[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 9000]\n";

fn family(seed: u64, experiments: usize, texts: &[&str], changes: [f64; 4]) -> Vec<GateDecision> {
    let mut pair = Pair::of(&study(FOUR), texts);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let after = changes.map(|percent| MEAN * (1.0 + percent / 100.0));
    (0..experiments).map(|_| pair.judged(&mut random, &[MEAN; 4], &after)).collect()
}

fn share(gates: &[GateDecision], is: impl Fn(&GateDecision) -> bool) -> f64 {
    gates.iter().filter(|gate| is(gate)).count() as f64 / gates.len() as f64
}

fn any_false_alarm_over_all_conditions_and_bounds_is_as_rare_as_stated(experiments: usize) {
    let allowed = least(NOT_TOO_CAREFUL, experiments)..=most(ALPHA, experiments);
    // Every true difference lies on both bounds: eight true hypotheses, the worst case.
    let both = ["throughput < 0%", "throughput > 0%"];
    let gates = family(11, experiments, &both, [0.0; 4]);
    let failed = share(&gates, |gate| gate.outcome == GateOutcome::Fail);
    assert!(allowed.contains(&failed), "{failed}, allowed {allowed:?}");
    // One condition is far slower: it is found, and the others are no likelier to be blamed.
    let gates = family(12, experiments, &["throughput < 0%"], [0.0, -20.0, 0.0, 0.0]);
    assert!(share(&gates, |gate| gate.checks[1].outcome == GateOutcome::Fail) > 0.99);
    let blamed = share(&gates, |gate| {
        let others = gate.checks.iter().enumerate().filter(|(place, _)| *place != 1);
        others.into_iter().any(|(_, check)| check.outcome == GateOutcome::Fail)
    });
    assert!(allowed.contains(&blamed), "{blamed}, allowed {allowed:?}");
}

fn a_gate_with_a_true_regression_passes_as_rarely_as_stated(experiments: usize) {
    // Three conditions keep the bound by far; one breaks it by as little as can be.
    let gates = family(21, experiments, &["throughput < -10%"], [0.0, 0.0, -10.0, 0.0]);
    let passed = share(&gates, |gate| gate.outcome == GateOutcome::Pass);
    let allowed = least(ALPHA, experiments) - 0.01..=most(ALPHA, experiments);
    assert!(allowed.contains(&passed), "{passed}, allowed {allowed:?}");
    // All lie on it: then it passes far more rarely.
    let gates = family(22, experiments / 5, &["throughput < -10%"], [-10.0; 4]);
    assert!(share(&gates, |gate| gate.outcome == GateOutcome::Pass) < most(0.001, experiments / 5));
}

fn within_one_study_boots_cancel_and_errors_are_as_rare_as_stated(experiments: usize) {
    let asked = request(&["throughput < -2%"]);
    let mut own = stored(1, &two(), (BOOTS, RUNS), &["throughput"], |_, _, _| MEAN);
    let mut judged = |random: &mut ChaCha8Rng, regression: f64| {
        let means = [MEAN, MEAN * (1.0 - regression / 100.0)];
        // Boots differ by far more than the regression.
        let values = drawn(random, &means, 100.0);
        for (run, (condition, boot, value)) in own.runs.iter_mut().zip(values) {
            (run.condition, run.boot) = (condition, boot);
            run.metrics.insert(study::metric::THROUGHPUT, value);
        }
        let cases = GateCases::within(&own, "family=ipv4", &metrics(&asked)).unwrap();
        GateDecision::judge(cases, &asked).unwrap()
    };
    let (failed, passed) = rates(experiments, 31, |random| judged(random, 2.0));
    let most = most(ALPHA, experiments);
    assert!(failed <= most && passed <= most, "{failed} {passed}, at most {most}");
    let (failed, _) = rates(experiments, 32, |random| judged(random, 8.0));
    assert!(failed > 0.9, "{failed}");
}
