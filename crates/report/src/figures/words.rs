//! Sentences that describe figures.

use results::capital;
use stats::ConditionEstimate;

use super::measure::Measure;

/// The note of a section if not all conditions are shown.
pub(super) const CHOSEN: &str = "Where a workload has more than twelve conditions, the most telling ones are shown: of a \
                      design those that lead from all on to all off, else the baselines and both ends.";

/// The note of a section if the other conditions are folded.
pub(super) fn others_folded() -> String {
    format!(
        "{CHOSEN} The folded figures below have all conditions, in the main metric where several are compared."
    )
}

/// The end of the title of a figure of all conditions, where another figure has a choice of them.
pub(super) const ALL: &str = ", all conditions";

/// Words with a full stop. Names keep their letters: a condition has no capital at the beginning.
fn sentence(words: &str) -> String {
    let stop = if words.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{words}{stop}")
}

/// Sentences, one after the other; empty ones are left out.
pub(super) fn paragraph(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")
}

/// The highest and the lowest of several estimates as a sentence: of `place`, if it has a name.
pub(super) fn extremes(
    place: &str,
    measure: &Measure,
    names: &[String],
    estimates: &[ConditionEstimate],
) -> String {
    let by_mean = |one: &usize, other: &usize| estimates[*one].mean.total_cmp(&estimates[*other].mean);
    let (Some(low), Some(high)) =
        ((0..estimates.len()).min_by(by_mean), (0..estimates.len()).max_by(by_mean))
    else {
        return String::new();
    };
    let of = |place: usize| {
        let one = &estimates[place];
        let name = names.get(place).map_or("", String::as_str);
        let gap = if name.is_empty() { "" } else { ", " };
        format!("{name}{gap}{}", measure.with_interval(one.mean, one.interval))
    };
    let [least, most] = [low, high].map(|place| measure.words(estimates[place].mean));
    let words = match estimates.len() {
        // It begins with the condition's name.
        1 if place.is_empty() => return of(low),
        1 => of(low),
        _ if least == most => format!("all conditions alike, {least}"),
        _ => format!("highest {}; lowest {}", of(high), of(low)),
    };
    if place.is_empty() { capital(&words) } else { format!("{place}: {words}") }
}
