//! What stands for a set in a plot and a table.

/// ministat's symbols.
const CLASSIC: &str = "x+*%#@O";

/// More of them, each told from the others and from what bars and frames are made of: `A`, `M`,
/// `_`, `|`.
const MORE: &str = "BCDEFGHIJKLNPQRSTUVWYZabcdefghijkmnpqrstuvwyz23456789\
                    αβγδεζηθλμξπρσφψωΓΔΘΛΞΠΣΦΨΩ\
                    БГДЖЗИЙЛЦЧШЩЪЫЬЭЮЯбвгджзийлцчшщъыьэюя";

/// Where several sets meet in a plot that is not ministat's own.
pub(crate) const OVERLAP: char = '&';

/// How many sets ministat compares: it has a symbol for each of so many.
pub const MAX_SETS: usize = CLASSIC.len();

/// How many sets can be told apart in a plot.
pub(crate) fn count() -> usize {
    CLASSIC.chars().count() + MORE.chars().count()
}

/// The symbol of the set in this place, from 0. There may be none.
pub(crate) fn symbol(place: usize) -> Option<char> {
    CLASSIC.chars().chain(MORE.chars()).nth(place)
}

/// What names the set in this place in a table: its symbol or, without one, its number from 1.
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
