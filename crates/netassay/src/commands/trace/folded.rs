//! A trace as folded stacks, which programs for flame graphs read: a line for each way from stage
//! to stage, with the functions that the packet is in there, and what it costs.

use trace::At;

use super::document::{Document, OfSize};

/// The stacks; empty where no packet was followed.
pub(super) fn of(document: &Document) -> String {
    document.traces.iter().map(|traced| of_size(&document.path, traced)).collect()
}

fn of_size(path: &str, traced: &OfSize) -> String {
    let mut text = String::new();
    // Behind a wait another task goes on, the reader.
    for piece in traced.rows.split(|row| row.waits) {
        let passed = piece.iter().map(|row| row.from).chain(piece.last().map(|row| row.to));
        let stages = passed.filter_map(|index| traced.account.stages.get(index));
        let passed: Vec<(&str, At)> = stages.map(|stage| (stage.label.as_str(), stage.at)).collect();
        for (row, open) in piece.iter().zip(open_behind_each(&passed)) {
            let cost = row.corrected.round().max(0.0);
            let size = traced.size();
            let frames: Vec<String> =
                [path, &size].into_iter().chain(open).map(|frame| frame.replace(';', ",")).collect();
            if cost > 0.0 {
                text += &format!("{} {cost}\n", frames.join(";"));
            }
        }
    }
    text
}

/// The functions that are open behind each stage, the outermost first. One whose return is no stage
/// is open until one around it returns.
fn open_behind_each<'s>(passed: &[(&'s str, At)]) -> Vec<Vec<&'s str>> {
    // What returns without having been entered was open before, the later the further out.
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
