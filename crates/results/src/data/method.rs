//! The method of judging differences, in words.

use stats::planning::{PlannedFamily, SampleSizePlan};
use stats::{Against, Analysis, Correction, Design, ErrorTerm};

use crate::data::exact;
use crate::data::subject::Subject;
use crate::words::number::counted;

pub(crate) fn sentences(subject: &Subject, analysis: &Analysis) -> Vec<String> {
    if let Some(resolution) = subject.resolution {
        let judged = format!("{} ({resolution} %)", analysis.error.as_sentence());
        let copying = subject.copies.map(|copies| exact::copying(copies).to_owned());
        return [judged].into_iter().chain(copying).collect();
    }
    let mut error = if is_of_several_states(analysis) {
        format!("{SEVERAL_STATES}; {BETWEEN_STATES}")
    } else if analysis.error == ErrorTerm::OwnBoots {
        analysis.error.as_sentence().to_owned()
    } else {
        let design = match analysis.design {
            Design::Crossed => "the conditions share boots (crossed)",
            Design::Nested => "each condition has boots of its own (nested)",
        };
        format!("{design}; {}", analysis.error.as_sentence())
    };
    let boots = || analysis.conditions.iter().map(|one| one.boots);
    // A condition with boots of its own has its mean over all of them.
    let is_whole = analysis.design == Design::Nested || boots().min() == boots().max();
    let count = analysis.comparisons.len();
    if count > 1 && subject.question.correction == Correction::Family {
        error.push_str(MODERATED);
    }
    let mut sentences = vec![error];
    sentences.extend((!is_whole).then(|| PARTIAL.to_owned()));
    sentences.extend(subject.how.map(|how| format!("a boot is: {}", how.sentence())));
    if count > 1 {
        sentences.push(together(subject, analysis));
    }
    if analysis.level > subject.asked {
        sentences.push(format!(
            "several metrics are judged, so each interval of this one has {} % for all of them to hold together with {} % (Holm)",
            stats::confidence(analysis.level),
            stats::confidence(subject.asked)
        ));
    }
    if let Some(look) = subject.question.look {
        sentences.push(format!(
            "look {} of {} of a group-sequential study: the intervals hold whenever it stops",
            look.number, look.schedule.looks
        ));
        if analysis.comparisons.iter().any(|one| one.unadjusted.is_some()) {
            sentences.push(
                "a study stops early more often if chance makes a difference large, so the difference is given as a median-unbiased estimate (Emerson and Fleming), with the measured value beside it"
                    .to_owned(),
            );
        }
    }
    sentences
}

// The meaning of means that are not the means of boot means.
const PARTIAL: &str =
    "not every boot has every condition, so the mean of a condition is an estimate for all boots";

// The combination of conditions and boots if a condition needs its own state of the testbed.
const SEVERAL_STATES: &str = "conditions of one state of the testbed share boots (crossed), those of different states have boots of their own (nested)";

fn is_of_several_states(analysis: &Analysis) -> bool {
    analysis.comparisons.iter().any(|comparison| comparison.boots_apart)
}

// The basis of the intervals inside a state and between two, without a full stop.
const BETWEEN_STATES: &str = "inside a state intervals rest on how differently boots treat each condition (condition x boot), and between states on the spread between the boots of each too (Satterthwaite)";

// The words for spreads of comparisons that hold together, after the error.
const MODERATED: &str = ", each spread moderated by the others (Smyth)";

fn together(subject: &Subject, analysis: &Analysis) -> String {
    let comparisons = counted(analysis.comparisons.len(), "comparison");
    match subject.question.correction {
        Correction::None => {
            format!(
                "each of the {comparisons} has this confidence alone: an error in any of them is more likely"
            )
        }
        Correction::Family => {
            let rule = match subject.question.against {
                Against::Baseline(_) => "Dunnett",
                Against::AllPairs => "Šidák",
            };
            format!("the {comparisons} hold together ({rule})")
        }
    }
}

// From this ratio on, to the width with a known spread, the width of intervals is explained.
const WIDE: f64 = 1.4;
// Below this ratio the number of boots is enough.
const NARROW: f64 = 1.25;

/// Without a full stop; `None` if it is small.
pub(crate) fn few_boots(subject: &Subject, analysis: &Analysis) -> Option<String> {
    let judged = analysis.comparisons.iter().filter(|one| one.interval.is_some());
    let judged: Vec<u32> = judged.map(|one| one.boots as u32).collect();
    let is_family = subject.question.correction == Correction::Family && judged.len() > 1;
    let boots = judged.iter().copied().min().filter(|_| is_family)?;
    let plan = SampleSizePlan {
        // Between states of the testbed boots are compared as nested.
        design: if is_of_several_states(analysis) { Design::Nested } else { analysis.design },
        conditions: analysis.conditions.len(),
        cell: 0.0,
        run: 0.0,
        family: match subject.question.against {
            Against::Baseline(_) => PlannedFamily::Baseline,
            Against::AllPairs => PlannedFamily::AllPairs,
        },
        alpha: 1.0 - analysis.level,
        looks: None,
    };
    let stretch = plan.stretch(boots).filter(|stretch| *stretch >= WIDE)?;
    let enough = (boots..1000).find(|boots| plan.stretch(*boots).is_some_and(|stretch| stretch < NARROW))?;
    Some(format!(
        "with {boots} boots the intervals are {stretch:.1} times as wide as with many; use {enough}"
    ))
}
