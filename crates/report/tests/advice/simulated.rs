//! The error rate of advice, over simulated experiments.

use results::advice::{AdviceGoal, Standing};

use crate::made::{Noise, advice, factorial, measured, on, recommendations, study};

in_two_sizes! { 120, 600, "600 experiments, of which the gate makes 120":
    without_any_effect_advice_is_as_rare_as_stated
    beside_a_large_effect_false_advice_is_as_rare_as_stated
    without_an_interaction_advice_is_withheld_as_rarely_as_stated
}

const OFFLOADS: [&str; 2] = ["transmitter.tso", "receiver.gro"];
const NOISE: Noise = Noise { boot: 0.05, cell: 0.01, run: 0.01 };

/// The number of experiments in which a false statement was called proven.
fn wrong(experiments: u64, truth: crate::made::Truth<'_>, is_false: impl Fn(&str) -> bool) -> u64 {
    let (study, plan) = study(&factorial(&OFFLOADS, 3));
    let is_wrong = |seed: &u64| {
        let found = advice(&measured(&study, &plan, NOISE, *seed, truth), &[]);
        let all = [AdviceGoal::Throughput, AdviceGoal::Cpu]
            .into_iter()
            .flat_map(|goal| recommendations(&found, goal));
        all.into_iter().any(|one| {
            let is_claim = one.standing.is_proven() || one.standing == Standing::Depends;
            is_claim && is_false(&one.factors[0])
        })
    };
    (0..experiments).filter(is_wrong).count() as u64
}

/// 5 % and 3.3 standard errors of so many experiments.
fn most(experiments: u64) -> u64 {
    let n = experiments as f64;
    (0.05 * n + 3.3 * (0.05 * 0.95 * n).sqrt()) as u64
}

fn without_any_effect_advice_is_as_rare_as_stated(experiments: u64) {
    let found = wrong(
        experiments,
        &|_| {
            vec![
                ("throughput", 1000.0),
                ("transmitter.service_demand_byte", 1.0),
                ("receiver.service_demand_byte", 2.0),
            ]
        },
        |_| true,
    );
    assert!(found <= most(experiments), "{found} of {experiments}");
}

fn beside_a_large_effect_false_advice_is_as_rare_as_stated(experiments: u64) {
    // What is proven passes its share of the error rate on.
    let found =
        wrong(experiments, &|one| vec![("throughput", 1000.0 * (1.0 + on(one, OFFLOADS[0])))], |factor| {
            factor == OFFLOADS[1]
        });
    assert!(found <= most(experiments), "{found} of {experiments}");
}

#[test]
fn what_is_large_is_found() {
    let (study, plan) = study(&factorial(&OFFLOADS, 3));
    let found = (0..100).filter(|seed| {
        let stored = measured(&study, &plan, NOISE, *seed, &|one| {
            vec![("throughput", 1000.0 * (1.0 + 0.2 * on(one, OFFLOADS[1])))]
        });
        let advice = advice(&stored, &[AdviceGoal::Throughput]);
        let all = recommendations(&advice, AdviceGoal::Throughput);
        all.iter().any(|one| one.factors == [OFFLOADS[1]] && one.standing == Standing::Recommended)
    });
    let found = found.count();
    assert!(found >= 95, "{found} of 100");
}

fn without_an_interaction_advice_is_withheld_as_rarely_as_stated(experiments: u64) {
    let (study, plan) = study(&factorial(&OFFLOADS, 3));
    let found = (0..experiments).filter(|seed| {
        let stored = measured(&study, &plan, NOISE, *seed, &|one| {
            vec![("throughput", 1000.0 + 500.0 * on(one, OFFLOADS[0]) + 300.0 * on(one, OFFLOADS[1]))]
        });
        let advice = advice(&stored, &[AdviceGoal::Throughput]);
        let is_doubted = |standing: &Standing| matches!(standing, Standing::Conditional | Standing::Depends);
        recommendations(&advice, AdviceGoal::Throughput).iter().any(|one| is_doubted(&one.standing))
    });
    let found = found.count() as u64;
    assert!(found <= most(experiments), "{found} of {experiments}");
}
