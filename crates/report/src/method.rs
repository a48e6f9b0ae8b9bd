//! How differences were judged, in words.

use stats::{Against, Analysis, Correction, Design, ErrorTerm};

use crate::group::level;
use crate::number::counted;
use crate::subject::Subject;

/// One sentence for each decision that the intervals rest on, without full stops.
pub(crate) fn sentences(subject: &Subject, analysis: &Analysis) -> Vec<String> {
    if let Some(resolution) = subject.resolution {
        return vec![format!("{} ({resolution} %)", analysis.error.as_sentence())];
    }
    let mut sentences = vec![if is_of_several_states(analysis) {
        format!("{SEVERAL_STATES}; {}", between_states(analysis.error))
    } else {
        format!("{}; {}", design(analysis.design), analysis.error.as_sentence())
    }];
    let count = analysis.comparisons.len();
    if count > 1 {
        sentences.push(together(subject, analysis));
    }
    if analysis.level > subject.asked {
        sentences.push(format!(
            "several metrics are judged, so each interval of this one has {} % for all of them to hold together with {} % (Holm)",
            level(analysis.level),
            level(subject.asked)
        ));
    }
    if let Some(look) = subject.question.look {
        sentences.push(format!(
            "look {} of {} of a group-sequential study: the intervals hold whenever it stops (nominal error rate of this look {:.2e})",
            look.number, look.of, look.nominal
        ));
    }
    sentences
}

/// How conditions and boots meet where a condition needs a boot of its state.
const SEVERAL_STATES: &str = "conditions of one state of the testbed share boots (crossed), those of different states have boots of their own (nested)";

/// Is something compared across states of the testbed, of which each boot has one?
fn is_of_several_states(analysis: &Analysis) -> bool {
    analysis.comparisons.iter().any(|comparison| comparison.boots_apart)
}

/// Has every pair of conditions an error of its own?
fn is_by_pair(error: ErrorTerm) -> bool {
    matches!(error, ErrorTerm::BootsByPair | ErrorTerm::PairedByPair)
}

/// What the intervals rest on inside a state and between two, without a full stop.
fn between_states(error: ErrorTerm) -> &'static str {
    match error {
        ErrorTerm::PairedByPair => {
            "inside a state intervals rest on the differences inside each boot of the two conditions (paired Student's t), between states on the boots of the two conditions alone, because boots or conditions spread unequally (Welch)"
        }
        ErrorTerm::Reml => {
            "conditions have unequal numbers of runs: intervals rest on variances by REML (Kenward and Roger), and between states on the spread between boots too (Satterthwaite)"
        }
        _ => {
            "inside a state intervals rest on how differently boots treat the conditions (condition x boot), pooled over all conditions, and between states on the spread between boots too, pooled over all states (Satterthwaite)"
        }
    }
}

fn design(design: Design) -> &'static str {
    match design {
        Design::Crossed => "the conditions share boots (crossed)",
        Design::Nested => "each condition has boots of its own (nested)",
    }
}

fn together(subject: &Subject, analysis: &Analysis) -> String {
    let comparisons = counted(analysis.comparisons.len(), "comparison");
    match (subject.question.correction, subject.question.against) {
        (Correction::None, _) => {
            format!(
                "each of the {comparisons} has its confidence by itself: that one of them errs is likelier"
            )
        }
        (Correction::Family, _) if is_of_several_states(analysis) || is_by_pair(analysis.error) => {
            format!("the {comparisons} hold together (Šidák)")
        }
        (Correction::Family, Against::Baseline(_)) => format!("the {comparisons} hold together (Dunnett)"),
        (Correction::Family, Against::AllPairs) => {
            format!("the {comparisons} hold together (Tukey and Kramer)")
        }
    }
}
