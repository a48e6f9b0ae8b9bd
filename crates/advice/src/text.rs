//! Advice for people at a terminal.

use report::{Layout, listed};

use crate::advice::Advice;
use crate::found::{StudyAdvice, Under};
use crate::judge::Standing;
use crate::phrase;
use crate::recommendation::Recommendation;

impl Advice {
    /// The recommendations in short: a table for each scenario, and one over all.
    #[must_use]
    pub fn table(&self, layout: Layout) -> String {
        let mut text = String::new();
        for summary in &self.summaries {
            text.push_str(&format!("\nRecommendations, {}\n", summary.title()));
            text.push_str(&summary.text(layout));
        }
        text
    }

    /// All of it for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = String::new();
        for study in &self.studies {
            let name = text::line(&study.name);
            text.push_str(&format!("Study {} ({name}): {}\n", study.study, text::line(&study.question)));
            text.push_str(&format!("  {}.\n", phrase::judged(study)));
            text.extend(phrase::settling(study).map(|line| format!("  {line}.\n")));
            if let Some(truth) = study.truth {
                text.push_str(&format!("  {truth}.\n"));
            }
        }
        if !self.has_switches() {
            text.push_str(NOTHING);
        }
        text.push_str(&self.table(layout));
        for study in &self.studies {
            for under in &study.under {
                text.push_str(&self.under(study, under));
            }
            text.push_str(&notes(study));
        }
        text
    }

    fn under(&self, study: &StudyAdvice, under: &Under) -> String {
        let of = if self.studies.len() > 1 { format!("study {}: ", study.study) } else { String::new() };
        let boots = report::counted(under.boots as usize, "boot");
        let mut text = format!("\n{of}{}, {boots}\n", phrase::under(under));
        text.push_str(&format!("  Holds for: {}.\n", phrase::held(under)));
        for (goal, all) in &under.recommendations {
            text.push_str(&format!("  For {goal}:\n"));
            for one in all {
                text.push_str(&self.one(one, study));
            }
            for reason in reasons(all) {
                text.push_str(&format!("    {reason}\n"));
            }
            text.push_str(&self.ties(all));
        }
        for flag in &under.flags {
            text.push_str(&format!("  Flag: {}.\n", text::line(flag)));
        }
        text
    }

    /// One switch; empty for what is said of several at once.
    fn one(&self, one: &Recommendation, study: &StudyAdvice) -> String {
        let Some(head) = head(one) else { return String::new() };
        let mut text = format!("    {head}\n");
        let mut line = |head: &str, rest: String| text.push_str(&format!("      {head}: {rest}\n"));
        if one.standing.is_proven() || one.standing == Standing::Depends {
            for change in &one.others_on {
                line("with all others on", phrase::expected(change));
            }
            if let Some(elsewhere) = phrase::elsewhere(one) {
                line("elsewhere", elsewhere);
            }
        }
        for (what, command) in phrase::commands(one) {
            line(&what, command);
        }
        if let Some(more) = phrase::more(one, study) {
            line("to settle it", more);
        }
        text
    }

    fn ties(&self, all: &[Recommendation]) -> String {
        let ties = ties(all);
        if ties.is_empty() {
            return String::new();
        }
        format!("    no difference of {} % or more: {}\n", self.matters.value(), listed(&ties))
    }
}

/// What is said where no switch was tried.
pub(crate) const NOTHING: &str = "\nNo switch of a host was varied, so there is no advice: name offloads in [design], or \
     features, mtu or congestion_control in [factors].\n";

/// What is said of a switch by the same reason as of others: nothing is known, or the rate was set
/// from outside.
fn reason(one: &Recommendation) -> Option<String> {
    match &one.standing {
        Standing::Unknown(why) => Some(format!("no evidence ({})", text::line(why))),
        Standing::Saturated(limit) => Some(format!(
            "saturated ({} set the rate, which hides any gain: look at the CPU)",
            text::line(limit)
        )),
        _ => None,
    }
}

/// The switches of which the same is said, each reason once, without full stops.
pub(crate) fn reasons(all: &[Recommendation]) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for one in all {
        let Some(reason) = reason(one) else { continue };
        let switch = format!("{} {}", phrase::switches(&one.factors), phrase::place(one));
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, switches)) => switches.push(switch),
            None => found.push((reason, vec![switch])),
        }
    }
    found.into_iter().map(|(reason, switches)| format!("{reason}: {}", listed(&switches))).collect()
}

/// The switches of which a difference that matters is excluded.
pub(crate) fn ties(all: &[Recommendation]) -> Vec<String> {
    let ties = all.iter().filter(|one| one.standing == Standing::Tie);
    ties.map(|one| format!("{} {}", phrase::switches(&one.factors), phrase::place(one))).collect()
}

/// What is said of a switch first, without a full stop; `None` for what is said of several at once.
pub(crate) fn head(one: &Recommendation) -> Option<String> {
    let (set, place) = (phrase::set(&one.factors, &one.to), phrase::place(one));
    let switch = phrase::switches(&one.factors);
    let expected: Vec<String> = one.expected.iter().map(phrase::expected).collect();
    let expected = format!("{}{}", expected.join("; "), phrase::how(one.how));
    Some(match &one.standing {
        Standing::Recommended => format!("set {set} {place}: {expected}"),
        Standing::TradeOff(metrics) => {
            let metrics: Vec<String> = metrics.iter().map(|key| report::metric_words(key)).collect();
            format!("trade-off, {set} {place}: {expected}; it loses in {}", listed(&metrics))
        }
        Standing::Depends => {
            format!(
                "{switch} {place} depends on the other switches, so neither level is recommended: {expected}"
            )
        }
        Standing::NoEvidence => format!("no evidence for {switch} {place}: {expected}"),
        Standing::Saturated(_) | Standing::Unknown(_) | Standing::Tie => return None,
    })
}

/// What a reader must know beside the advice.
fn notes(study: &StudyAdvice) -> String {
    let mut text = String::new();
    for gone in &study.absent {
        let (label, why) = (text::line(&gone.label), text::line(&gone.why));
        text.push_str(&format!("\nNot switched: {label}: {why}.\n"));
    }
    if !study.others.is_empty() {
        let others: Vec<_> = study.others.iter().map(|name| text::line(name)).collect();
        text.push_str(&format!(
            "\nNo switch of a host, so no advice: {} (netassay compare {} compares them).\n",
            listed(&others),
            study.study
        ));
    }
    text
}
