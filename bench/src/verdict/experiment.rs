//! One experiment: boots are measured, or drawn, until the protocol's rule has decided.

use ministat::{Level, Set};
use stats::{Look, Margin, Observation, Question, Spending, Verdict, analyse_with};

use super::protocol::{CONDITIONS, Protocol, Rule};
use crate::failure::Failure;

/// Where boots come from.
pub(crate) trait Source {
    /// Appends the recorded runs of this boot, from 1, in the order in which they were measured.
    fn boot(&mut self, boot: u32, observations: &mut Vec<Observation>) -> Result<(), Failure>;
}

/// How an experiment ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ended {
    pub(crate) verdict: Verdict,
    /// How many boots it took.
    pub(crate) boots: u32,
}

/// Conducts one. The observations are appended to.
pub(crate) fn conduct(
    protocol: &Protocol,
    source: &mut impl Source,
    observations: &mut Vec<Observation>,
    spending: &Spending,
) -> Result<Ended, Failure> {
    let looks = protocol.looks();
    let mut ended = Ended { verdict: Verdict::Inconclusive, boots: 0 };
    for (number, last) in (1..).zip(looks) {
        while ended.boots < last {
            ended.boots += 1;
            source.boot(ended.boots, observations)?;
        }
        ended.verdict = judge(&protocol.rule, number, observations, spending)?;
        if ended.verdict != Verdict::Inconclusive {
            break;
        }
    }
    Ok(ended)
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
    let analysis = analyse_with(observations, &question, |_| true, spending)
        .map_err(|error| Failure::Environment(error.to_string()))?;
    let first = analysis.comparisons.first();
    first.map(|comparison| comparison.verdict).ok_or_else(|| Failure::Internal("nothing compared".to_owned()))
}

/// As ministat decides at 95 %.
fn pooled(observations: &[Observation]) -> Result<Verdict, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::Environment(error.to_string());
    let set = |condition| {
        let of_it = observations.iter().filter(|run| run.condition == condition);
        Set::new("", of_it.map(|run| run.value).collect()).map_err(|error| wrong(&error))
    };
    let sets: [Set; CONDITIONS] = [set(0)?, set(1)?];
    let test = sets[1].against(&sets[0], Level::default());
    Ok(match test.is_proven {
        true if test.difference > 0.0 => Verdict::Higher,
        true => Verdict::Lower,
        false => Verdict::NoDifferenceProven,
    })
}

/// What a verdict is worth where the truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    Correct,
    Wrong,
    /// Nothing was claimed where something could have been.
    Undecided,
}

impl Worth {
    /// Of a verdict on a condition that truly is lower, or truly is the same.
    pub(crate) fn of(verdict: Verdict, is_lower: bool) -> Self {
        match (verdict, is_lower) {
            (Verdict::Lower, true) | (Verdict::Equivalent | Verdict::NoDifferenceProven, false) => {
                Self::Correct
            }
            (Verdict::Higher, _) | (Verdict::Lower, false) | (Verdict::Equivalent, true) => Self::Wrong,
            (Verdict::NoDifferenceProven, true) | (Verdict::Inconclusive, _) => Self::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use study::Percent;

    use crate::verdict::protocol::Short;

    /// Each boot's two conditions, `lower` apart, all runs of a condition alike but for a little.
    struct Clear {
        lower: f64,
        runs: usize,
    }

    impl Source for Clear {
        fn boot(&mut self, boot: u32, observations: &mut Vec<Observation>) -> Result<(), Failure> {
            for (condition, mean) in [(0, 100.0), (1, 100.0 - self.lower)] {
                observations.extend((0..self.runs).map(|run| Observation {
                    condition,
                    boot,
                    value: mean + f64::from(boot) + 0.01 * ((run + condition + boot as usize) % 3) as f64,
                }));
            }
            Ok(())
        }
    }

    fn ended(protocol: &Protocol, lower: f64) -> Ended {
        conduct(protocol, &mut Clear { lower, runs: 10 }, &mut Vec::new(), &Spending::default()).unwrap()
    }

    #[test]
    fn clear_differences_are_seen_by_all_and_soon_by_netassay() {
        let second = Duration::from_secs(1);
        let short = Short { boots: 20, runs: 10, ramp: second, window: second };
        let own = Protocol::of_netassay("c", Percent::parse("2%").unwrap(), short);
        assert_eq!(ended(&own, 5.0), Ended { verdict: Verdict::Lower, boots: 4 });
        assert_eq!(ended(&own, 0.0), Ended { verdict: Verdict::Equivalent, boots: 4 });
        for (rule, none) in
            [(Rule::PooledRuns, Verdict::NoDifferenceProven), (Rule::BootMeans, Verdict::NoDifferenceProven)]
        {
            let r1 = Protocol::of_r1("", rule, second);
            assert_eq!(ended(&r1, 5.0), Ended { verdict: Verdict::Lower, boots: 3 });
            assert_eq!(ended(&r1, 0.0), Ended { verdict: none, boots: 3 });
        }
    }

    #[test]
    fn what_verdicts_are_worth() {
        use Verdict::{Equivalent, Higher, Inconclusive, Lower, NoDifferenceProven};
        let all = [Higher, Lower, NoDifferenceProven, Equivalent, Inconclusive];
        let worth = |is_lower| all.map(|verdict| Worth::of(verdict, is_lower));
        use Worth::{Correct, Undecided, Wrong};
        assert_eq!(worth(true), [Wrong, Correct, Undecided, Wrong, Undecided]);
        assert_eq!(worth(false), [Wrong, Wrong, Correct, Correct, Undecided]);
    }
}
