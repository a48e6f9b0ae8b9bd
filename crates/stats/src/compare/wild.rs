//! A wild run that prevents a percentage: it makes the error so large that the baseline's interval
//! includes zero.

use super::check::Farthest;
use super::comparison::Comparison;
use super::question_at_look::QuestionAtLook;
use crate::observed::{Cells, Observation, median};

/// Names the run farthest from its condition's median for each comparison without a percentage that
/// would have one without that run. The run still counts.
pub(crate) fn blame(
    comparisons: &mut [Comparison],
    observations: &[Observation],
    asked: &QuestionAtLook<'_>,
) {
    let lacks = |one: &Comparison| {
        one.interval.is_some() && one.relative_interval.is_none() && one.baseline_mean != 0.0
    };
    if !comparisons.iter().any(lacks) {
        return;
    }
    let Some((place, run)) = wildest(observations) else { return };
    let mut rest = observations.to_vec();
    rest.remove(place);
    let Ok(cells) = Cells::from_observations(&rest) else { return };
    let without = asked.judge(&cells);
    for one in comparisons.iter_mut().filter(|one| lacks(one)) {
        let has_percentage = one.same_among(&without).is_some_and(|other| other.relative_interval.is_some());
        one.wild = has_percentage.then_some(run);
    }
}

/// The run farthest from the median of its condition, with its place.
fn wildest(observations: &[Observation]) -> Option<(usize, Farthest)> {
    let mut conditions: Vec<usize> = observations.iter().map(|run| run.condition).collect();
    conditions.sort_unstable();
    conditions.dedup();
    let by_distance =
        |one: &(usize, Farthest), other: &(usize, Farthest)| Farthest::by_distance(&one.1, &other.1);
    let of = |condition: usize| {
        let own = || observations.iter().enumerate().filter(move |(_, run)| run.condition == condition);
        let median = median(&own().map(|(_, run)| run.value).collect::<Vec<_>>())?;
        let run = |(place, run): (usize, &Observation)| {
            (place, Farthest { condition, boot: run.boot, run: None, value: run.value, median })
        };
        own().map(run).max_by(by_distance)
    };
    let (place, run) = conditions.into_iter().filter_map(of).max_by(by_distance)?;
    let is_of_its_boot = |other: &&Observation| (other.condition, other.boot) == (run.condition, run.boot);
    let number = observations[..=place].iter().filter(is_of_its_boot).count();
    Some((place, Farthest { run: Some(number), ..run }))
}

#[cfg(test)]
mod tests {
    use crate::{Observation, Question, ValueRange, analyse};

    /// Two conditions in five boots of three runs, with values of about 100.4 and 0.5 apart; one
    /// run may be wild.
    fn compared(wild: Option<f64>) -> crate::Comparison {
        let mut runs = Vec::new();
        for boot in 1..=5_u32 {
            for run in 0..3_u32 {
                for condition in 0..2_usize {
                    let wobble = f64::from((boot * 7 + run * 5 + condition as u32 * 3) % 11) / 10.0 - 0.5;
                    runs.push(Observation { condition, boot, value: 100.4 + wobble });
                }
            }
        }
        if let Some(value) = wild {
            // Boot 3, the second run of the baseline.
            let place = runs.iter().position(|run| (run.condition, run.boot) == (0, 3)).unwrap() + 2;
            runs[place].value = value;
        }
        let question = Question { range: ValueRange::NON_NEGATIVE, ..Question::against(0) };
        analyse(&runs, &question).unwrap().comparisons.remove(0)
    }

    #[test]
    fn one_wild_run_is_named_and_not_the_baseline_blamed() {
        assert_eq!(compared(None).wild, None);
        let one = compared(Some(1e6));
        let wild = one.wild.unwrap();
        assert_eq!((wild.condition, wild.boot, wild.run, wild.value), (0, 3, Some(2), 1e6));
        assert!((wild.median - 100.4).abs() < 0.5, "{wild:?}");
        let said = one.sentence("b", "ns", None);
        assert!(!said.contains("the baseline cannot be told from zero"), "{said}");
        // Values with a large spread are not the effect of a single run.
        let spread = |condition, boot, value| Observation { condition, boot, value };
        let runs: Vec<Observation> = (0..8)
            .flat_map(|boot| {
                let value = [1.0, -90.0, 80.0, -70.0, 95.0, -60.0, 60.0, -10.0][boot as usize];
                [spread(0, boot, value), spread(1, boot, -value)]
            })
            .collect();
        let one = analyse(&runs, &Question::against(0)).unwrap().comparisons.remove(0);
        assert_eq!((one.relative, one.wild), (None, None));
    }
}
