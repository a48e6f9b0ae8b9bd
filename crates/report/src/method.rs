//! How differences were judged, in words.

use stats::{Against, Analysis, Correction, Design};

use crate::group::level;
use crate::number::counted;
use crate::subject::Subject;

/// One sentence for each decision that the intervals rest on, without full stops.
pub(crate) fn sentences(subject: &Subject, analysis: &Analysis) -> Vec<String> {
    let mut sentences = vec![format!("{}; {}", design(analysis.design), analysis.error.as_sentence())];
    let count = analysis.comparisons.len();
    if count > 1 {
        sentences.push(together(subject, count));
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

fn design(design: Design) -> &'static str {
    match design {
        Design::Crossed => "the conditions share boots (crossed)",
        Design::Nested => "each condition has boots of its own (nested)",
    }
}

fn together(subject: &Subject, count: usize) -> String {
    let comparisons = counted(count, "comparison");
    match (subject.question.correction, subject.question.against) {
        (Correction::None, _) => {
            format!(
                "each of the {comparisons} has its confidence by itself: that one of them errs is likelier"
            )
        }
        (Correction::Family, Against::Baseline(_)) => format!("the {comparisons} hold together (Dunnett)"),
        (Correction::Family, Against::AllPairs) => {
            format!("the {comparisons} hold together (Tukey and Kramer)")
        }
    }
}
