//! The boots and runs that a study needs to show a difference.

use results::{Nearness, PilotSpread, Sizing, counted, duration_of, percent};
use stats::planning::SampleSize;

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The sizes of a study, with the lines of the cheapest to paste into its file.
pub fn sizing(found: &Sizing) -> Vec<Block<'static>> {
    let Sizing { study, detect, metric, baseline, spread, states, .. } = found;
    let conditions = counted(found.conditions - 1, "condition");
    let mut head = vec![
        format!(
            "{study}: to prove a difference of {detect} in {metric} ({conditions} against {baseline}) with {:.0} % power",
            100.0 * found.power
        ),
        format!("spread, in % of the mean: {}; from {}", spread_words(spread, *states), spread.source),
    ];
    head.extend(spread.near.and_then(Nearness::remark).map(|remark| format!("Note: {remark}.")));
    let mut texts = Vec::from_iter(assurance(found));
    texts.extend(
        found
            .as_written_detects
            .map(|detects| format!("As the file has it, the study detects {} %.", percent(detects))),
    );
    texts.extend(found.expected_boots.map(|(none, there)| {
        format!(
            "It may stop early: expect at most {none:.1} of {} boots if nothing differs, {there:.1} if {detect} does.",
            found.as_written.boots
        )
    }));
    texts
        .extend(found.turns_dropped.as_ref().map(|why| format!("Conditions have runs of their own: {why}.")));
    if found.in_turns {
        texts.push("Conditions take turns, which pays where runs of one condition differ from flow to flow: `netassay run STUDY --aa --set apart=true` measures both ways, and tells which takes less time here.".to_owned());
    }
    let end = match &found.cheapest {
        Some(SampleSize { boots, runs, .. }) => {
            Block::Verbatim(format!("[protocol]\nboots = {boots}\nruns = {runs}\n"))
        }
        None => Block::Text(format!(
            "No size within {0} boots of {0} runs is enough: state a larger difference, or lengthen the window, which narrows the spread between runs.",
            Sizing::MOST
        )),
    };
    let text = |texts: Vec<String>| texts.into_iter().map(Block::Text);
    text(head).chain([Block::Table(sizes(found))]).chain(text(texts)).chain([end]).collect()
}

fn sizes(found: &Sizing) -> Table {
    let others = found.alternatives.iter().filter(|size| Some(**size) != found.cheapest);
    let named = found.cheapest.iter().map(|size| ("cheapest", size));
    let named = named.chain(others.map(|size| ("or", size)));
    let named = named.chain(found.assured.iter().map(|size| ("assured", size)));
    let rows = named.chain([("as the file has it", &found.as_written)]).map(|(name, size)| {
        let (time, power) = (Cell::measure(duration_of(size.seconds)), Cell::fixed(100.0 * size.power, 1));
        cells![name, size.boots, size.runs, time, power]
    });
    let states =
        (found.states > 1).then(|| format!("boots are of each of {} states of the testbed", found.states));
    Table::with_rows(["size", "boots", "runs", "time", "power %"], rows)
        .titled("Sizes of the study")
        .noted(states)
}

/// The allowance for the limits of a pilot's knowledge.
fn assurance(found: &Sizing) -> Option<String> {
    found.spread.interaction_at_most?;
    let sure = format!("{:.0} %", 100.0 * PilotSpread::ASSURANCE);
    Some(match &found.assured {
        Some(_) => format!(
            "The assured size has its power with {sure} confidence; the others have theirs if boots differ as the estimate says."
        ),
        None => format!(
            "No size within {0} boots of {0} runs is assured of its power: measure a longer pilot.",
            Sizing::MOST
        ),
    })
}

fn spread_words(spread: &PilotSpread, states: usize) -> String {
    let boots = if states > 1 { "between boots" } else { "condition x boot" };
    let at_most = spread.interaction_at_most.map_or(String::new(), |most| {
        format!(" (with {:.0} % confidence at most {})", 100.0 * PilotSpread::ASSURANCE, percent(most))
    });
    let one = if spread.in_turns { "flow" } else { "run" };
    let runs = match spread.runs {
        None => format!(", that of the one {one} of each boot included"),
        Some(runs) if spread.in_turns => format!(", condition x flow {}", percent(runs)),
        Some(runs) => format!(", between runs {}", percent(runs)),
    };
    format!("{boots} {}{at_most}{runs}", percent(spread.interaction))
}
