//! The functions that take the CPU for a message, below the stages that its packets pass.

use host::perf::{FunctionCost, Profile};
use results::document::Block;
use results::{Table, TitledTable, beyond_rounding, counted, figure};

/// So many are shown, and the rest together.
const SHOWN: usize = 15;

/// What was sampled with one size of the message.
pub(super) struct Sampled<'d> {
    /// The message, in bytes.
    pub(super) message: u32,
    pub(super) profile: &'d Profile,
    /// Its costs.
    pub(super) costs: &'d [FunctionCost],
}

/// The table of functions, and its sentences.
pub(super) fn blocks(sampled: &[Sampled<'_>], unit: &str, whose: &str) -> [Block<'static>; 2] {
    let title = "functions".to_owned();
    let table = TitledTable { title, table: table(sampled, unit), notes: Vec::new() };
    [Block::Table(table), Block::List(sentences(sampled, unit, whose))]
}

fn table(sampled: &[Sampled<'_>], unit: &str) -> Table {
    let unit = if unit == "instructions" { "instr." } else { unit };
    // Of several sizes the shares have no room.
    let columns = if sampled.len() == 1 { 3 } else { 2 };
    let mut heads = vec!["function".to_owned()];
    for one in sampled {
        let of = if sampled.len() == 1 { String::new() } else { format!("{} B, ", one.message) };
        heads.extend([unit, "±", "%"][..columns].iter().map(|what| format!("{of}{what}")));
    }
    let mut table = Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>()).uncut(&[0, 1]);
    let names = dearest(sampled);
    let (shown, rest) = names.split_at(names.len().min(SHOWN));
    for name in shown {
        let mut cells = vec![(*name).to_owned()];
        for one in sampled {
            let cost = one.costs.iter().find(|cost| cost.name == **name);
            let [own, error, share] =
                cost.map_or([0.0; 3], |cost| [cost.cost, cost.error, 100.0 * cost.share]);
            cells.extend([own, error, share][..columns].iter().map(|number| figure(*number)));
        }
        table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let mut cells = vec![format!("{} more", rest.len())];
    for one in sampled {
        let costs = one.costs.iter().filter(|cost| shown.contains(&cost.name.as_str()));
        let rest = (one.profile.message - costs.map(|cost| cost.cost).sum::<f64>()).max(0.0);
        let rest = beyond_rounding(rest, one.profile.message);
        let share = figure(100.0 * rest / one.profile.message.max(1e-9));
        cells.extend([figure(rest), String::new(), share].into_iter().take(columns));
    }
    if !rest.is_empty() {
        table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    table
}

/// The functions, those first that cost most with any size.
fn dearest<'d>(sampled: &[Sampled<'d>]) -> Vec<&'d str> {
    let mut costs: Vec<&FunctionCost> = sampled.iter().flat_map(|one| one.costs).collect();
    costs.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    let mut names: Vec<&str> = Vec::new();
    for cost in costs {
        if !names.contains(&cost.name.as_str()) {
            names.push(&cost.name);
        }
    }
    names
}

fn sentences(sampled: &[Sampled<'_>], unit: &str, whose: &str) -> Vec<String> {
    let mut said = vec![format!(
        "{unit} of CPU for a message {whose}, without probes, in the function itself and what the compiler copied into it; \
         ±: standard error, by how far the parts of the profile differ; [return to user]: the kernel's way out of system \
         calls, which interrupts meet behind it"
    )];
    for one in sampled {
        let of = if sampled.len() == 1 {
            String::new()
        } else {
            format!("{}: ", counted(one.message as usize, "byte"))
        };
        let profile = one.profile;
        let samples = counted(profile.samples as usize, "sample");
        let mut sentence = format!(
            "{of}a message takes {} {unit} of CPU; {samples} of {}, one each {} {unit}",
            figure(profile.message),
            profile.means,
            figure(profile.period as f64)
        );
        for (count, what) in [
            (profile.elsewhere, "of other threads and of idle CPUs left out"),
            (profile.lost, "lost: the kernel had no room for them"),
        ] {
            if count > 0 {
                sentence.push_str(&format!("; {count} {what}"));
            }
        }
        said.push(sentence);
    }
    said
}
