//! The symbols of sets in a plot and a table.

/// ministat's symbols.
const CLASSIC: &str = "x+*%#@O";

/// More symbols, distinct from the others and from those of bars and frames: `A`, `M`, `_`, `|`.
const MORE: &str = "BCDEFGHIJKLNPQRSTUVWYZabcdefghijkmnpqrstuvwyz23456789\
                    αβγδεζηθλμξπρσφψωΓΔΘΛΞΠΣΦΨΩ\
                    БГДЖЗИЙЛЦЧШЩЪЫЬЭЮЯбвгджзийлцчшщъыьэюя";

/// The symbol of several sets at one place of a `--modern` plot.
pub(crate) const OVERLAP: char = '&';

/// The most sets that ministat compares: it has a symbol for each.
pub const MAX_SETS: usize = CLASSIC.len();

pub(crate) fn count() -> usize {
    CLASSIC.chars().count() + MORE.chars().count()
}

pub(crate) fn symbol(place: usize) -> Option<char> {
    CLASSIC.chars().chain(MORE.chars()).nth(place)
}

/// The label of a set in a table: its symbol or, without one, its number from 1.
pub(crate) fn label(place: usize) -> String {
    symbol(place).map_or_else(|| (place + 1).to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_are_alike() {
        let all: BTreeSet<char> = (0..count()).filter_map(symbol).collect();
        assert_eq!(all.len(), count());
        assert!(all.iter().all(|symbol| !['A', 'M', '_', '|', ' ', OVERLAP].contains(symbol)));
        assert_eq!((MAX_SETS, label(6), label(7), label(count())), (7, "O".into(), "B".into(), "125".into()));
    }
}
