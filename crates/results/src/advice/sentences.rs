//! Advice in sentences.

use crate::listed;

use crate::advice::advise::Advice;
use crate::advice::goal::AdviceGoal;
use crate::advice::judge::Standing;
use crate::advice::phrase;
use crate::advice::recommendation::Recommendation;
use crate::advice::study_advice::StudyAdvice;
use crate::advice::workload_advice::WorkloadAdvice;

pub(crate) struct GoalAdvice {
    pub(crate) goal: AdviceGoal,
    pub(crate) switches: Vec<SwitchAdvice>,
    /// All switches of which nothing is proven in one sentence; `None` for fewer than two.
    pub(crate) open: Option<String>,
    pub(crate) others: Vec<String>,
}

pub(crate) struct SwitchAdvice {
    /// The effect is neither proven nor excluded: a larger study could settle it.
    pub(crate) is_open: bool,
    /// The recommendation or the lack of one, as a sentence without a full stop.
    pub(crate) head: String,
    pub(crate) facts: Vec<Fact>,
}

/// A fact with its name: `elsewhere`, `apply`.
pub(crate) struct Fact {
    pub(crate) name: String,
    /// Words, or a command.
    pub(crate) words: String,
    pub(crate) is_command: bool,
}

impl Fact {
    fn words(name: &str, words: String) -> Self {
        Self { name: name.to_owned(), words, is_command: false }
    }
}

impl Advice {
    pub(crate) fn by_goal(&self, study: &StudyAdvice, under: &WorkloadAdvice) -> Vec<GoalAdvice> {
        let of_goal = |(goal, all): &(AdviceGoal, Vec<Recommendation>)| {
            let mut others = reasons(all);
            let ties: Vec<&Recommendation> = all.iter().filter(|one| one.standing == Standing::Tie).collect();
            if !ties.is_empty() {
                let ties: Vec<String> = ties.into_iter().map(switch).collect();
                let matters = self.matters.value();
                others.push(format!("no difference of {matters} % or more: {}", listed(&ties)));
            }
            GoalAdvice {
                goal: *goal,
                switches: all.iter().filter_map(|one| switch_advice(one, study)).collect(),
                open: open(all, study, self.matters.value()),
                others,
            }
        };
        under.recommendations.iter().map(of_goal).collect()
    }
}

impl StudyAdvice {
    /// Its name and question.
    pub(crate) fn title(&self) -> String {
        format!(
            "Study {} ({}): {}",
            self.study,
            words::sanitised_line(&self.name),
            words::sanitised_line(&self.question)
        )
    }

    /// The confidence of the advice, and the limits that hold for all of it, as sentences.
    pub(crate) fn method(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(phrase::judged(self).map(|line| format!("{line}.")));
        lines.extend(phrase::checked(self).map(|line| format!("{line}.")));
        lines.extend(phrase::settling(self).map(|line| format!("{line}.")));
        lines.extend(self.truth.map(|truth| format!("{truth}.")));
        lines
    }

    /// Notes beside the advice, as sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        let all = self.under.iter().flat_map(|under| &under.recommendations).flat_map(|(_, all)| all);
        let mut notes: Vec<String> = Vec::new();
        if all.flat_map(|one| &one.apply).next().is_some() {
            notes.push(COMMANDS.to_owned());
        }
        let absent = self.absent.iter();
        notes.extend(absent.map(|gone| {
            format!(
                "Not switched: {}: {}.",
                words::sanitised_line(&gone.label),
                words::sanitised_line(&gone.why)
            )
        }));
        if !self.others.is_empty() {
            let others: Vec<_> = self.others.iter().map(|name| words::sanitised_line(name)).collect();
            let study = self.study;
            notes.push(format!(
                "No switch of a host, so no advice: {} (netassay compare {study} compares them).",
                listed(&others)
            ));
        }
        notes
    }
}

impl WorkloadAdvice {
    /// The kind of traffic with its scenario: `veth, tcp-1450 (tcp_stream), mtu=1500, 5 boots`.
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", phrase::workload_context(self), crate::counted(self.boots as usize, "boot"))
    }

    /// The settings that all runs share, as a sentence.
    pub(crate) fn holds_for(&self) -> String {
        format!("Holds for: {}.", phrase::held(self))
    }
}

/// One sentence for several switches whose effects are not proven, with the study that would settle
/// all of them; `None` for fewer than two.
fn open(all: &[Recommendation], study: &StudyAdvice, matters: f64) -> Option<String> {
    let open: Vec<&Recommendation> = all.iter().filter(|one| one.standing == Standing::NoEvidence).collect();
    if open.len() < 2 {
        return None;
    }
    let names: Vec<String> = open.iter().map(|one| switch(one)).collect();
    let boots = |one: &&&Recommendation| one.more.as_ref().map_or(0, |more| more.boots);
    let more = open.iter().max_by_key(boots).and_then(|one| phrase::more(one, study));
    let more = more.map_or_else(String::new, |more| format!("; to settle all: {more}"));
    Some(format!(
        "no evidence for {}: a difference of {matters} % is neither proven nor excluded (--wide shows figures){more}",
        listed(&names)
    ))
}

/// `None` if one sentence covers several switches.
fn switch_advice(one: &Recommendation, study: &StudyAdvice) -> Option<SwitchAdvice> {
    let head = head(one)?;
    let mut facts = Vec::new();
    if one.standing.is_proven() || one.standing == Standing::Depends {
        facts.extend(states(one));
        facts.extend(phrase::elsewhere(one).map(|words| Fact::words("elsewhere", words)));
    }
    let commands = phrase::commands(one).into_iter();
    facts.extend(commands.map(|(name, words)| Fact { name, words, is_command: true }));
    facts.extend(phrase::more(one, study).map(|words| Fact::words("to settle it", words)));
    Some(SwitchAdvice { is_open: one.standing == Standing::NoEvidence, head, facts })
}

/// The changes in the state that the advice leaves, and by the switches on which the effect
/// depends.
fn states(one: &Recommendation) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(as_left) = &one.as_left {
        let words = match as_left.changes.as_slice() {
            [] => "not measured".to_owned(),
            changes => phrase::changes(changes),
        };
        facts.push(Fact::words(&format!("with {}", phrase::state_left(as_left)), words));
    }
    for on in &one.depends_on {
        for (level, changes) in [(&on.left, &on.with_left), (&on.other, &on.with_other)] {
            let name = format!("where {}", phrase::is_at(&on.factor, level));
            facts.push(Fact::words(&name, phrase::changes(changes)));
        }
    }
    facts
}

/// The reason that a switch shares with others: nothing is known, or the rate was set from outside.
fn reason(one: &Recommendation) -> Option<String> {
    match &one.standing {
        Standing::Unknown(why) => Some(format!("no evidence ({})", words::sanitised_line(why))),
        Standing::Saturated(limit) => Some(format!(
            "saturated ({} set the rate, which hides any gain: look at the CPU)",
            words::sanitised_line(limit)
        )),
        _ => None,
    }
}

/// The reasons why switches have no figures, each once with all its switches.
fn reasons(all: &[Recommendation]) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for one in all {
        let Some(reason) = reason(one) else { continue };
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, switches)) => switches.push(switch(one)),
            None => found.push((reason, vec![switch(one)])),
        }
    }
    found.into_iter().map(|(reason, switches)| format!("{reason}: {}", listed(&switches))).collect()
}

fn switch(one: &Recommendation) -> String {
    format!("{} {}", phrase::switches(&one.factors), phrase::place(one.side))
}

/// The first sentence on a switch; `None` if one sentence covers several switches.
fn head(one: &Recommendation) -> Option<String> {
    let (set, place) = (phrase::set(&one.factors, &one.to), phrase::place(one.side));
    let switch = phrase::switches(&one.factors);
    let expected: Vec<String> = one.expected.iter().map(phrase::expected).collect();
    let expected = format!("{}{}", expected.join("; "), phrase::how(one.how));
    Some(match &one.standing {
        Standing::Recommended => format!("set {set} {place}: {expected}"),
        Standing::Conditional => format!("set {set} {place}, only {}: {expected}", only_with(one)),
        Standing::TradeOff(metrics) => {
            let metrics: Vec<String> = metrics.iter().map(|key| crate::metric_words(key)).collect();
            let only =
                if one.depends_on.is_empty() { String::new() } else { format!(", only {}", only_with(one)) };
            format!("trade-off, set {set} {place}{only}: {expected}; it loses in {}", listed(&metrics))
        }
        Standing::Depends => {
            let on = match one.depends_on.as_slice() {
                [] => "the other switches".to_owned(),
                on => phrase::switches_at(on.iter().map(|on| &on.factor)),
            };
            format!(
                "{switch} {place} depends on {on}, so neither level is recommended; on average {set}: {expected}"
            )
        }
        Standing::NoEvidence => format!("no evidence for {switch} {place}: {expected}"),
        Standing::Saturated(_) | Standing::Unknown(_) | Standing::Tie => return None,
    })
}

/// The levels that it needs: `with gro on at the receiver`.
fn only_with(one: &Recommendation) -> String {
    let each: Vec<String> = one.depends_on.iter().map(|on| phrase::set_at(&on.factor, &on.left)).collect();
    format!("with {}", listed(&each))
}

// The use of the commands.
const COMMANDS: &str = "Commands run on the host that is named, as root: $IF is the interface of the traffic, $UNDERLAY_IF the \
                        one under a tunnel. netassay advise --format sh writes them as a script that notes the state before and restores it.";
