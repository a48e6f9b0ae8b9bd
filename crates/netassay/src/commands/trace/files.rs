//! The files that a trace writes beside its text.

use trace::At;

use super::chart::flow_chart;
use super::flame::{FileForm, Flames, folded};
use super::packets::trace_events;
use super::path_trace::{PathTrace, SizedTrace};
use crate::cli::Trace;
use crate::failure::{Failure, say};
use crate::output::{self, MayReplace, named};

/// Refuses names of files before anything is measured.
pub(super) fn check(flags: &Trace) -> Result<(), Failure> {
    flags.chart.iter().try_for_each(|path| FileForm::of_chart(path).map(drop))?;
    flags.flame.iter().try_for_each(|path| FileForm::of_flame_graph(path).map(drop))
}

pub(super) fn has_packets(flags: &Trace) -> bool {
    flags.chart.iter().any(|path| matches!(FileForm::of_chart(path), Ok(FileForm::Packets)))
}

pub(super) fn write(found: &PathTrace, flags: &Trace) -> Result<(), Failure> {
    for path in &flags.chart {
        let (text, content) = match FileForm::of_chart(path)? {
            FileForm::Figure(draw) => {
                let drawn = flow_chart(found).ok_or_else(|| {
                    Failure::Nothing("no packet was followed: there is no chart".to_owned())
                })?;
                (draw(&drawn), "the chart".to_owned())
            }
            FileForm::Folded => {
                let stacks = found.traces.iter().flat_map(|traced| stage_stacks(&found.path, traced));
                (folded(stacks), "the stacks".to_owned())
            }
            FileForm::Packets => trace_events(found, flags.every)?,
        };
        output::write(path, &text, MayReplace::OwnFile)?;
        say(&format!("wrote {content} to {}", named(path)));
    }
    flags.flame.iter().try_for_each(|path| Flames::of_path(found).write(path))
}

/// The ways from stage to stage as stacks: the functions that the packet is in there, and what it
/// costs.
fn stage_stacks(path: &str, traced: &SizedTrace) -> Vec<(Vec<String>, Vec<f64>)> {
    let mut stacks = Vec::new();
    // Behind a wait another task goes on, the reader.
    for piece in traced.rows.split(|row| row.waits) {
        let passed = piece.iter().map(|row| row.from).chain(piece.last().map(|row| row.to));
        let stages = passed.filter_map(|index| traced.account.stages.get(index));
        let passed: Vec<(&str, At)> = stages.map(|stage| (stage.label.as_str(), stage.at)).collect();
        for (row, open) in piece.iter().zip(open_behind_each(&passed)) {
            let size = traced.size();
            let frames = [path, &size].into_iter().chain(open).map(str::to_owned).collect();
            stacks.push((frames, vec![row.corrected]));
        }
    }
    stacks
}

/// The functions that are open behind each stage, the outermost first. One whose return is no stage
/// is open until one around it returns.
fn open_behind_each<'s>(passed: &[(&'s str, At)]) -> Vec<Vec<&'s str>> {
    // A function that returns without an entry was open before, the later the further out.
    let mut before: Vec<&str> = Vec::new();
    let mut entered: Vec<&str> = Vec::new();
    for (name, at) in passed {
        match (at, entered.iter().rposition(|open| open == name)) {
            (At::Entry, _) => entered.push(name),
            (At::Return, Some(place)) => entered.truncate(place),
            (At::Return, None) => before.insert(0, name),
        }
    }
    let mut open = before;
    let step = |(name, at): &(&'s str, At)| {
        match (at, open.iter().rposition(|one| one == name)) {
            (At::Entry, _) => open.push(name),
            (At::Return, place) => open.truncate(place.unwrap_or(open.len())),
        }
        open.clone()
    };
    passed.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(passed: &[(&str, At)]) -> Vec<String> {
        open_behind_each(passed).iter().map(|open| open.join(">")).collect()
    }

    #[test]
    fn functions_are_open_from_their_entry_to_their_return() {
        let way = [
            ("send", At::Entry),
            ("copy", At::Entry),
            ("copy", At::Return),
            ("output", At::Entry),
            ("driver", At::Entry),
            ("output", At::Return),
            ("send", At::Return),
        ];
        assert_eq!(
            shown(&way),
            ["send", "send>copy", "send", "send>output", "send>output>driver", "send", ""]
        );
    }

    #[test]
    fn a_reader_that_was_woken_is_in_the_functions_that_it_returns_from() {
        let way = [("wait", At::Return), ("free", At::Entry), ("udp", At::Return), ("recv", At::Return)];
        assert_eq!(shown(&way), ["recv>udp", "recv>udp>free", "recv", ""]);
    }

    #[test]
    fn nothing_has_no_stacks() {
        assert!(shown(&[]).is_empty());
    }
}
