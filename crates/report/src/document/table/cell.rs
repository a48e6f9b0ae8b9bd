//! The cells of a table.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

// The mark of a cut in the middle of a cell.
const CUT: &str = "…";

/// Cuts a cell to this number of columns: beginning and end stay.
pub(super) fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let room = width.saturating_sub(CUT.width());
    let taken = |letters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        letters
            .take_while(|letter| {
                used += letter.width().unwrap_or(0);
                used <= room
            })
            .collect()
    };
    let start: String = taken(&mut cell.chars(), room - room / 2).into_iter().collect();
    let end: String = taken(&mut cell.chars().rev(), room / 2).into_iter().rev().collect();
    format!("{start}{CUT}{end}")
}

/// A cell is one line as wide as it looks, whatever name it holds.
pub(super) fn owned(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| words::sanitised_line(cell).into_owned()).collect()
}

/// Numbers, several of them in a cell too, and the dash that stands for one.
pub(super) fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.split(" / ").all(|part| part == "-" || part.parse::<f64>().is_ok())
}

/// A number with its unit, an interval, a date.
pub(super) fn begins_with_number(cell: &str) -> bool {
    cell.trim_start_matches(['+', '-']).starts_with(|letter: char| letter.is_ascii_digit())
}
