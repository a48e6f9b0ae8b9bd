//! What ministat prints, but for its plot.

use std::fmt::Write;

use super::error::MinistatError;
use super::format::g;
use super::level::Level;
use super::set::Set;

/// How many sets ministat compares: it has a symbol for each of so many.
pub const MAX_SETS: usize = SYMBOLS.len();

/// The line above the table's rows, with its newline.
pub const HEADER: &str = "    N           Min           Max        Median           Avg        Stddev\n";

const SYMBOLS: [char; 7] = ['x', '+', '*', '%', '#', '@', 'O'];

/// Everything that `ministat -A` prints: names, table, and the verdict of each set against the first.
///
/// # Errors
/// [`MinistatError::TooManySets`] for more than [`MAX_SETS`].
pub fn report(sets: &[Set], level: Level) -> Result<String, MinistatError> {
    Ok(names(sets)? + &table(sets, Some(level))?)
}

/// One line per set with its symbol and name.
///
/// # Errors
/// [`MinistatError::TooManySets`] for more than [`MAX_SETS`].
pub fn names(sets: &[Set]) -> Result<String, MinistatError> {
    require_symbols(sets)?;
    Ok(SYMBOLS.iter().zip(sets).fold(String::new(), |mut text, (symbol, set)| {
        writeln!(text, "{symbol} {}", set.name()).expect("writing to a string cannot fail");
        text
    }))
}

/// The header, a row per set, and, if `verdicts` gives a level, after each row but the first its verdict.
///
/// # Errors
/// [`MinistatError::TooManySets`] for more than [`MAX_SETS`].
pub fn table(sets: &[Set], verdicts: Option<Level>) -> Result<String, MinistatError> {
    require_symbols(sets)?;
    let mut text = HEADER.to_owned();
    for (place, (symbol, set)) in SYMBOLS.iter().zip(sets).enumerate() {
        write!(text, "{symbol} {:>3}", set.n()).expect("writing to a string cannot fail");
        for value in [set.min(), set.max(), set.median(), set.mean(), set.sd()] {
            write!(text, " {:>13}", g(value, 8)).expect("writing to a string cannot fail");
        }
        text.push('\n');
        if let (Some(level), true) = (verdicts, place > 0) {
            text.push_str(&set.against(&sets[0], level).to_string());
        }
    }
    Ok(text)
}

fn require_symbols(sets: &[Set]) -> Result<(), MinistatError> {
    let count = sets.len();
    if count > MAX_SETS { Err(MinistatError::TooManySets { count }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_set_has_no_symbol() {
        let set = |name: usize| Set::new(name.to_string(), vec![1.0, 2.0, 3.0]).unwrap();
        let sets: Vec<Set> = (0..8).map(set).collect();
        let expected = Err(MinistatError::TooManySets { count: 8 });
        assert_eq!(report(&sets, Level::default()), expected);
        assert_eq!(names(&sets), expected);
        assert_eq!(table(&sets, None), expected);
        assert!(report(&sets[..7], Level::default()).unwrap().contains("\nO 6\n"));
    }
}
