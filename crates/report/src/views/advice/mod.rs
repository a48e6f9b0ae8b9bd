//! Advice as blocks: the recommendations in short, and the proof of each on demand.

mod over_pairs;
mod phrase;
mod planned;
mod script;

use results::advice::{
    Advice, AdviceGoal, AdviceRow, AdviceSummary, GoalAdvice, Recommendation, Standing, StudyAdvice,
    SummaryScope, WorkloadAdvice,
};
use results::{SwitchEffects, figure, grouped, listed, percent};

use crate::cells;
use crate::document::{Block, Cell, Table};

pub use over_pairs::fleet_advice;
pub use planned::{PlannedSetting, planned_settings};
pub use script::advice_script;

// Stands where no switch was tried.
const NOTHING: &str = "No switch of a host was varied, so there is no advice: name offloads in [design], or features, mtu or \
                       congestion_control in [factors].";

const COMMANDS: &str = "Commands run on the host that is named, as root: $IF is the interface of the traffic, $UNDERLAY_IF the \
                        one under a tunnel. `netassay advise --format sh` writes them as a script that notes the state before and restores it.";

const HEAD: [&str; 6] = ["traffic", "goal", "set", "on the", "change", "interval"];

// The mark of a change whose note names the level of another switch that it needs.
const CONDITIONAL: &str = " *";

/// All of the advice: the tables, then a fold for each kind of traffic.
pub fn advice(advice: &Advice) -> Vec<Block<'static>> {
    let nothing = (!advice.has_switches()).then(|| Block::Text(NOTHING.to_owned()));
    let mut blocks: Vec<Block<'static>> = nothing.into_iter().chain(advice_tables(advice)).collect();
    for study in &advice.studies {
        blocks.push(Block::Heading(study_title(study)));
        let truth = study.switches.truth.map(str::to_owned);
        let method = [phrase::judged(study), phrase::settling(study), truth];
        blocks.extend(method.into_iter().flatten().map(|line| Block::Text(format!("{line}."))));
        for workload in &study.cases {
            // A fold is found by its title alone: by a search in the page, or from one fold to the
            // next.
            let SwitchEffects { study: number, name, .. } = &study.switches;
            let boots = results::counted(workload.context.boots as usize, "boot");
            let title = format!("Study {number} ({name}): {}, {boots}", phrase::workload_context(workload));
            blocks.push(Block::Fold(title, workload_blocks(advice, study, workload)));
        }
        blocks.extend(notes(study).into_iter().map(Block::Text));
    }
    blocks
}

/// The recommendations in short: a table for each scenario, and one over all.
pub fn advice_tables(advice: &Advice) -> Vec<Block<'static>> {
    let table = |summary: &AdviceSummary| {
        let scope = match summary.scope {
            SummaryScope::Scenario(scenario) => scenario.to_string(),
            SummaryScope::All => "over all scenarios".to_owned(),
        };
        let title = format!("Recommendations, {scope}");
        Block::Table(table(&summary.rows).titled(title).noted(table_notes(&summary.rows)))
    };
    advice.summaries.iter().map(table).collect()
}

fn study_title(study: &StudyAdvice) -> String {
    let of = &study.switches;
    format!("Study {} ({}): {}", of.study, of.name, of.question)
}

fn notes(study: &StudyAdvice) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if phrase::recommendations(study).any(|one| !one.apply.is_empty()) {
        notes.push(COMMANDS.to_owned());
    }
    let absent = study.switches.absent.iter();
    notes.extend(absent.map(|gone| format!("Not switched: {}: {}.", gone.label, gone.why)));
    let SwitchEffects { study: number, others, .. } = &study.switches;
    if !others.is_empty() {
        let (others, next) = (listed(others), format!("`netassay compare {number}` compares them"));
        notes.push(format!("No switch of a host, so no advice: {others} ({next})."));
    }
    notes
}

fn workload_blocks(advice: &Advice, study: &StudyAdvice, workload: &WorkloadAdvice) -> Vec<Block<'static>> {
    let matters = advice.matters.value();
    let mut blocks = vec![Block::Text(format!("Holds for: {}.", phrase::constant_settings(workload)))];
    let mut printed: Vec<(Vec<(String, String)>, AdviceGoal)> = Vec::new();
    for GoalAdvice { goal, recommendations: all } in &workload.goals {
        blocks.push(Block::Text(format!("For {goal}:")));
        let item = |one: &Recommendation| {
            let (head, mut facts, commands) = (head(one)?, switch_facts(one, study), phrase::commands(one));
            if let Some((_, before)) = printed.iter().find(|(known, _)| *known == commands) {
                facts.push(("apply, undo".to_owned(), Cell::Text(format!("as for {before}"))));
            } else if !commands.is_empty() {
                let lines = commands.iter().cloned();
                facts.extend(lines.map(|(name, command)| (name, Cell::Command(command))));
                printed.push((commands, *goal));
            }
            Some((head, facts))
        };
        let mut items: Vec<(String, Vec<(String, Cell)>)> = all.iter().filter_map(item).collect();
        let ties: Vec<String> = all.iter().filter(|one| one.standing == Standing::Tie).map(switch).collect();
        let ties =
            (!ties.is_empty()).then(|| format!("no difference of {matters} % or more: {}", listed(&ties)));
        let sentences = open(all, study, matters).into_iter().chain(reasons(all)).chain(ties);
        items.extend(sentences.map(|sentence| (sentence, Vec::new())));
        blocks.push(Block::Items(items));
    }
    blocks.extend(workload.context.flags.iter().map(|flag| Block::Warning(vec![flag.clone()])));
    blocks
}

/// `None` if every effect is proven, or excluded.
fn open(all: &[Recommendation], study: &StudyAdvice, matters: f64) -> Option<String> {
    // One sentence for all: the study that settles the hardest settles the others too.
    let open = || all.iter().filter(|one| one.standing == Standing::NoEvidence);
    let boots = |one: &&Recommendation| one.more.as_ref().map_or(0, |more| more.boots);
    let more = phrase::more(open().max_by_key(boots)?, study);
    let more = more.map_or_else(String::new, |more| format!("; to settle it: {more}"));
    let names: Vec<String> = open().map(switch).collect();
    Some(format!(
        "no evidence for {}: a difference of {matters} % is neither proven nor excluded{more}",
        listed(&names)
    ))
}

fn switch_facts(one: &Recommendation, study: &StudyAdvice) -> Vec<(String, Cell)> {
    let words = |name: &str, words: String| (name.to_owned(), Cell::Text(words));
    let mut facts = Vec::new();
    if one.standing.is_proven() || one.standing == Standing::Depends {
        if let Some(as_left) = &one.as_left {
            let changes = match as_left.changes.as_slice() {
                [] => "not measured".to_owned(),
                changes => phrase::changes(changes),
            };
            facts.push(words(&format!("with {}", phrase::state_left(as_left)), changes));
        }
        for on in &one.depends_on {
            for (level, changes) in [(&on.left, &on.with_left), (&on.other, &on.with_other)] {
                let name = format!("where {} is {level}", phrase::switches_at([&on.factor]));
                facts.push(words(&name, phrase::changes(changes)));
            }
        }
        facts.extend(phrase::elsewhere(one).map(|changes| words("elsewhere", changes)));
    }
    facts.extend(phrase::more(one, study).map(|more| words("to settle it", more)));
    facts
}

/// Each reason once, with all its switches.
fn reasons(all: &[Recommendation]) -> Vec<String> {
    let reason = |one: &Recommendation| match &one.standing {
        Standing::Unknown { why } => Some(format!("no evidence ({why})")),
        Standing::Saturated { limit } => {
            Some(format!("saturated ({limit} set the rate, which hides any gain: look at the CPU)"))
        }
        _ => None,
    };
    let found = grouped(all.iter().filter_map(|one| Some((reason(one)?, switch(one)))));
    found.into_iter().map(|(reason, switches)| format!("{reason}: {}", listed(&switches))).collect()
}

fn switch(one: &Recommendation) -> String {
    format!("{} {}", phrase::switches(&one.factors), phrase::place(one.side))
}

/// The first sentence on a switch; `None` if one sentence covers several switches.
fn head(one: &Recommendation) -> Option<String> {
    let set = phrase::set(&one.factors, &one.to);
    let here = format!("{set} {}", phrase::place(one.side));
    let expected: Vec<String> = one.expected.iter().map(phrase::expected).collect();
    let expected = expected.join("; ");
    let needs = one.depends_on.iter().map(|on| phrase::set_at(&on.factor, &on.left));
    let needs: Vec<String> = needs.collect();
    let only = if needs.is_empty() { String::new() } else { format!(", only with {}", listed(&needs)) };
    Some(match &one.standing {
        Standing::Recommended => format!("set {here}: {expected}"),
        Standing::Conditional => format!("set {here}{only}: {expected}"),
        Standing::TradeOff { loses: metrics } => {
            let metrics: Vec<String> =
                metrics.iter().map(|metric| results::metric_words(&(*metric).into())).collect();
            format!("trade-off, set {here}{only}: {expected}; it loses in {}", listed(&metrics))
        }
        Standing::Depends => {
            let on = match one.depends_on.as_slice() {
                [] => "the other switches".to_owned(),
                on => phrase::switches_at(on.iter().map(|on| &on.factor)),
            };
            let switch = switch(one);
            format!("{switch} depends on {on}, so neither level is recommended; on average {set}: {expected}")
        }
        Standing::NoEvidence | Standing::Saturated { .. } | Standing::Unknown { .. } | Standing::Tie => {
            return None;
        }
    })
}

fn table(rows: &[AdviceRow]) -> Table {
    // Each case has its interval below the table, too.
    let mut table = Table::new(HEAD).optional(&[HEAD.len() - 1]);
    let mut before = None;
    for row in rows {
        let [mut kind, mut goal, set, on, change] = texts(row);
        // A kind of traffic and a goal stand in their first row only.
        if before.replace((row.kind, row.goal)) == Some((row.kind, row.goal)) {
            kind.clear();
            goal.clear();
        }
        let change = if row.change.is_some() { Cell::measure(change) } else { change.into() };
        let show = if row.unit == "%" { percent } else { figure };
        let interval = row.interval.map_or(Cell::EMPTY, |ends| Cell::signed_interval(Some(ends), show));
        table.row(cells![kind, goal, set, on, change, interval]);
    }
    table.compact()
}

fn texts(row: &AdviceRow) -> [String; 5] {
    let set = match &row.to {
        _ if row.factors.is_empty() => "nothing".to_owned(),
        Some(to) => phrase::set(&row.factors, to),
        None => format!("{}: depends", phrase::switches(&row.factors)),
    };
    let on = row.side.map_or("both", |side| side.word());
    let on = if row.factors.is_empty() { "" } else { on };
    // CPU time is of a unit of work.
    let unit = match row.goal {
        AdviceGoal::Cpu if row.unit != "%" => format!("{}/{}", row.unit, row.kind.unit_of_work().word),
        _ => row.unit.to_owned(),
    };
    let mut change = row.change.map_or_else(String::new, |ends| phrase::sizes(ends, &unit));
    if row.proven < row.tried && row.to.is_some() {
        change.push_str(&format!(" (in {} of {})", row.proven, row.tried));
    }
    if !row.depends_on.is_empty() {
        change.push_str(if row.to.is_some() { CONDITIONAL } else { "on others" });
    }
    if !row.loses.is_empty() {
        change.push_str(", trade-off");
    }
    change.push_str(row.why.as_deref().unwrap_or_default());
    [row.kind.to_string(), row.goal.to_string(), set, on.to_owned(), change.trim_start().to_owned()]
}

/// The level of another factor under which it is proven, the switches on which it depends, and the
/// change as the study's answer has it.
fn row_note(row: &AdviceRow) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(with) = &row.proven_with {
        parts.push(format!("proven with {with}"));
    }
    let (is_set, is_conditional) = (row.to.is_some(), !row.depends_on.is_empty());
    if is_conditional && is_set {
        let each = row.depends_on.iter().map(|one| phrase::set_at(&one.factor, &one.level));
        parts.push(format!("only with {}", listed(&each.collect::<Vec<_>>())));
    } else if is_conditional {
        let on = phrase::switches_at(row.depends_on.iter().map(|one| &one.factor));
        parts.push(format!("depends on {on}"));
    }
    if let (Some(ends), Some(base)) = (row.answered, &row.base) {
        parts.push(phrase::answered(ends, base));
    }
    if let Some(to) = &row.otherwise {
        parts.push(format!("{to} is proven in {} of {} cases", row.proven, row.tried));
    }
    let mark = if is_set && is_conditional { "* " } else { "" };
    let set = match &row.to {
        Some(to) => phrase::set(&row.factors, to),
        None => phrase::switches(&row.factors),
    };
    (!parts.is_empty()).then(|| format!("{mark}{set}: {}", parts.join(", ")))
}

/// Without full stops; empty if no row has a change or a note.
fn table_notes(rows: &[AdviceRow]) -> Vec<String> {
    // A note on several kinds of traffic and goals is there once.
    let note = |row: &AdviceRow| Some((row_note(row)?, format!("{} {}", row.kind, row.goal)));
    let found = grouped(rows.iter().filter_map(note))
        .into_iter()
        .map(|(note, of)| format!("{note}; for {}", listed(&of)));
    bases(rows).into_iter().chain(found).collect()
}

/// The bases of the percentages; `None` if no change is proven.
fn bases(rows: &[AdviceRow]) -> Option<String> {
    let proven: Vec<&AdviceRow> = rows.iter().filter(|row| row.change.is_some()).collect();
    let first = proven.first()?;
    let is_same = proven.iter().all(|row| row.base == first.base);
    let from = match first.base.as_ref().filter(|_| is_same) {
        Some(base) => format!("from {base}"),
        None => "each from its own base".to_owned(),
    };
    let share = if proven.iter().all(|row| row.is_share) { ", the switch's fair share" } else { "" };
    let is_range = proven.iter().any(|row| row.change.is_some_and(|(low, high)| low < high));
    let range = if is_range { "; of several cases from the least to the largest" } else { "" };
    Some(format!("change: {from}{share}{range}"))
}
