//! Experiments: in each, boots are measured, or drawn, until the protocol's rule has decided.

use std::thread;

use agent::Interrupt;
use samples::ministat::{ConfidenceLevel, Set};
use stats::{Look, Margin, Observation, Question, Spending, Verdict, analyse_with};
use study::PlannedRun;

use super::protocol::{CONDITIONS, Protocol, Rule};
use crate::failure::Failure;

/// Conducts one, and says after how many boots it ended with which verdict. `measure` appends the
/// recorded ones of the runs that are planned for a boot, from 1, in their order.
pub(super) fn conduct(
    protocol: &Protocol,
    spending: &Spending,
    observations: &mut Vec<Observation>,
    mut measure: impl FnMut(u32, &[PlannedRun], &mut Vec<Observation>) -> Result<(), Failure>,
) -> Result<(u32, Verdict), Failure> {
    let runs = protocol.runs();
    let mut planned = (1..).zip(&runs);
    let (mut boots, mut verdict) = (0, Verdict::Inconclusive);
    for (number, last) in (1..).zip(protocol.looks()) {
        for (boot, runs) in planned.by_ref().take((last - boots) as usize) {
            measure(boot, runs, observations)?;
        }
        boots = last;
        verdict = judge(&protocol.rule, number, observations, spending)?;
        if verdict != Verdict::Inconclusive {
            break;
        }
    }
    Ok((boots, verdict))
}

/// The verdict on condition 1 against condition 0, at this look, from 1.
fn judge(
    rule: &Rule,
    number: u32,
    observations: &[Observation],
    spending: &Spending,
) -> Result<Verdict, Failure> {
    let question = match rule {
        Rule::PooledRuns => return pooled(observations),
        Rule::BootMeans => Question::against(0),
        Rule::Looks { detect, schedule } => Question {
            margin: Some(Margin::Percent(detect.value())),
            look: Some(Look { number, schedule: *schedule }),
            ..Question::against(0)
        },
    };
    let analysis = analyse_with(observations, &question, |_| true, spending).map_err(Failure::environment)?;
    let first = analysis.comparisons.first();
    first.map(|comparison| comparison.verdict).ok_or_else(|| Failure::failed("nothing compared"))
}

/// As ministat decides at 95 %.
fn pooled(observations: &[Observation]) -> Result<Verdict, Failure> {
    let set = |condition| {
        let of_it = observations.iter().filter(|run| run.condition == condition);
        Set::new("", &of_it.map(|run| run.value).collect::<Vec<_>>()).map_err(Failure::environment)
    };
    let sets: [Set; CONDITIONS] = [set(0)?, set(1)?];
    let test = sets[1].against(&sets[0], ConfidenceLevel::default());
    Ok(match test.is_proven {
        true if test.difference > 0.0 => Verdict::Higher,
        true => Verdict::Lower,
        false => Verdict::NoDifferenceProven,
    })
}

/// A simulation leaves the machine's other CPUs to other programs.
const THREADS: u32 = 2;

/// Makes experiments, by number, and gives their results in no order. Each thread has a `state` of
/// its own.
pub(super) fn experiments<State, T: Send>(
    count: u32,
    interrupt: &Interrupt,
    state: impl Fn() -> State + Sync,
    one: impl Fn(&State, u32) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let part = |thread: u32| {
        let state = state();
        let numbers = (thread..count).step_by(THREADS as usize);
        let checked =
            |number| if interrupt.is_tripped() { Err(Failure::Interrupted) } else { one(&state, number) };
        numbers.map(checked).collect::<Result<Vec<T>, Failure>>()
    };
    let part = &part;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| Failure::failed("an experiment panicked"))??);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use study::Percent;

    /// Boots whose two conditions are `lower` apart, all runs of a condition alike but for a
    /// little.
    fn ended(protocol: &Protocol, lower: f64) -> (u32, Verdict) {
        conduct(protocol, &Spending::default(), &mut Vec::new(), |boot, _, observations| {
            for (condition, mean) in [(0, 100.0), (1, 100.0 - lower)] {
                observations.extend((0..10).map(|run| Observation {
                    condition,
                    boot,
                    value: mean + f64::from(boot) + 0.01 * ((run + condition + boot as usize) % 3) as f64,
                }));
            }
            Ok(())
        })
        .unwrap()
    }

    #[test]
    fn clear_differences_are_seen_by_all_and_soon_by_netassay() {
        let second = Duration::from_secs(1);
        let own = Protocol::of_netassay(Percent::parse("2%").unwrap(), (20, 10), (second, second));
        let r1 = |rule| Protocol::of_r1("", rule, second);
        for (protocol, boots, none) in [
            (own, 4, Verdict::Equivalent),
            (r1(Rule::PooledRuns), 3, Verdict::NoDifferenceProven),
            (r1(Rule::BootMeans), 3, Verdict::NoDifferenceProven),
        ] {
            assert_eq!(ended(&protocol, 5.0), (boots, Verdict::Lower));
            assert_eq!(ended(&protocol, 0.0), (boots, none));
        }
    }
}
