//! The drawing of the crates and their modules in `ARCHITECTURE.md`.

use std::collections::BTreeMap;

use super::crates::Crate;
use super::graph::{Arrows, floors};
use super::house::House;

const START: &str = "<!-- drawn by `cargo xtask draw`: ";
const END: &str = "<!-- end of the drawing -->\n";

/// `text` with the drawing in place of the one that is there; none if there is no place for it.
pub(super) fn placed(text: &str, drawing: &str) -> Option<String> {
    let start = text.find(START)?;
    let start = start + text[start..].find('\n')? + 1;
    let end = start + text[start..].find(END)?;
    Some(format!("{}{drawing}{}", &text[..start], &text[end..]))
}

/// The crates by floor, and the rooms of each crate by floor.
pub(super) fn drawing(crates: &[Crate], houses: &[House]) -> String {
    let number = |name: &String| crates.iter().position(|one| one.name == *name);
    let arrows: Arrows = crates.iter().map(|one| one.knows.iter().filter_map(number).collect()).collect();
    let names: Vec<String> = crates.iter().map(|one| one.name.clone()).collect();
    let mut text = format!("```\n{}```\n", by_floor("crates", &names, &arrows));
    text.push_str("\n```\n");
    for (one, house) in crates.iter().zip(houses) {
        let rooms = house.rooms();
        text.push_str(&by_floor(&one.name, &rooms.files, &rooms.bare()));
    }
    text.push_str("```\n");
    text
}

/// One line for each floor, the highest first.
fn by_floor(title: &str, names: &[String], arrows: &Arrows) -> String {
    let mut lines: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, floor) in names.iter().zip(floors(arrows)) {
        lines.entry(floor).or_default().push(name);
    }
    let width = 10;
    let mut text = String::new();
    for (number, (floor, names)) in lines.iter().rev().enumerate() {
        let title = if number == 0 { title } else { "" };
        text.push_str(&format!("{title:<width$} {floor:>2}  {}\n", names.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_its_place() {
        let text = format!("a\n{START}x -->\nold\n{END}b\n");
        assert_eq!(placed(&text, "new\n"), Some(format!("a\n{START}x -->\nnew\n{END}b\n")));
        assert_eq!(placed("a\n", "new\n"), None);
    }

    #[test]
    fn the_highest_floor_comes_first() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let arrows: Arrows = [&[1_usize][..], &[], &[1]].map(|to| to.iter().copied().collect()).into();
        assert_eq!(by_floor("x", &names, &arrows), "x           1  a, c\n            0  b\n");
    }
}
