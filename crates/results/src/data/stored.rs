//! The comparisons of a stored study, as subjects.

use stats::{Against, Margin, Observation, Question};
use store::StoredStudy;
use study::{Condition, Name, Quality};

use crate::data::differences::of_builds;
use crate::data::early_stop::look_of;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::limits;
use crate::data::metric::range_of;
use crate::data::missing::hint;
use crate::data::subject::{Subject, observation};
use crate::data::target::{ComparisonRequest, ComparisonTarget};
use crate::data::truth::truth;
use crate::data::turns::carried;

/// The runs and the question of each target.
///
/// # Errors
/// [`Error::NothingRecorded`] for a target whose baseline has no run.
pub(crate) fn subjects(
    stored: &StoredStudy,
    targets: &[ComparisonTarget],
    request: &ComparisonRequest,
) -> Result<Vec<Subject>, Error> {
    let look = look_of(stored);
    let labels: Vec<Name> = stored.plan.conditions.iter().map(|condition| condition.label.clone()).collect();
    let truth = truth(stored);
    let carried = carried(stored);
    let environments = || stored.boots.iter().map(|boot| &boot.environment);
    let subject = |target: &ComparisonTarget| {
        // All conditions of the workload, compared or not, show how boots affect conditions.
        let conditions = &stored.plan.conditions;
        let alike = |condition: usize| {
            let workload = conditions.get(condition).map(|one| one.workload.name.as_str());
            workload == Some(target.workload.as_str())
        };
        let own = stored.values(target.metric).filter(|(condition, ..)| alike(*condition));
        let observations: Vec<Observation> = own.map(observation).collect();
        if !observations.iter().any(|observation| observation.condition == target.baseline) {
            let hint = hint(stored, target.baseline);
            let study = stored.row.id.0;
            return Err(Error::NothingRecorded { study, metric: target.metric.to_string(), hint });
        }
        let said = target.equivalent.or(look.map(|(stop, _)| stop.detect));
        let question = Question {
            against: if request.all_pairs { Against::AllPairs } else { Against::Baseline(target.baseline) },
            level: request.confidence,
            margin: request.margin.or(said.map(|share| Margin::Percent(share.value()))),
            design: request.design,
            correction: request.correction,
            look: look.map(|(_, look)| look),
            range: range_of(target.metric),
        };
        let compared = target.conditions.iter().copied().chain([target.baseline]).collect();
        let subject =
            Subject::new(&target.workload, target.metric.into(), labels.clone(), observations, question);
        let cannot_differ = limits::cannot_differ(stored, target.metric, target.baseline, &target.conditions);
        let is_counted = stored.plan.exact && exact::is_count(target.metric);
        Ok(Subject {
            compared: Some(compared),
            notes: cannot_differ.into_iter().chain(of_builds(environments(), target.metric)).collect(),
            quality: Some(Quality::from_metric(target.metric)),
            truth,
            resolution: is_counted.then_some(exact::RESOLUTION),
            how: stored.plan.how_of_boots(),
            carried: carried.clone(),
            copies: conditions.get(target.baseline).filter(|_| is_counted).map(Condition::copies),
            ..subject
        })
    };
    targets.iter().map(subject).collect()
}
