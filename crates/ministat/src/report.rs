//! ministat's output.

use std::io::{self, Write};

use crate::error::MinistatError;
use crate::format::g;
use crate::level::Level;
use crate::plot::Plot;
use crate::request::Request;
use crate::set::Set;
use crate::symbols::{MAX_SETS, OVERLAP, label};

/// The line above the table's rows, with its newline.
pub const HEADER: &str = "    N           Min           Max        Median           Avg        Stddev\n";

/// The output of `ministat -A`: names, table, and the verdict of each set against the first.
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
    Ok(text(|out| write_names(out, sets.iter().map(|set| set.name.as_bytes()))))
}

/// The header, and a row for each set; with `verdicts`, a verdict after each row but the first.
///
/// # Errors
/// [`MinistatError::TooManySets`] for more than [`MAX_SETS`].
pub fn table(sets: &[Set], verdicts: Option<Level>) -> Result<String, MinistatError> {
    require_symbols(sets)?;
    Ok(HEADER.to_owned() + &text(|out| write_rows(out, sets, verdicts)))
}

/// Writes the requested output about these sets. Names are not converted; `plot` is `None` if all
/// values are the same.
///
/// # Errors
/// The errors of `out`.
pub fn write_all(
    out: &mut impl Write,
    request: &Request,
    sets: &[Set],
    names: &[&[u8]],
    plot: Option<&Plot>,
) -> io::Result<()> {
    if !request.quiet {
        write_names(out, names.iter().copied())?;
        if request.modern && plot.is_some_and(Plot::has_overlaps) {
            writeln!(out, "{OVERLAP} several of them")?;
        }
    }
    match plot {
        Some(plot) => plot.write(out)?,
        None if request.plot => out.write_all(b"[no plot, span is zero width]\n")?,
        None => {}
    }
    if !request.quiet {
        out.write_all(HEADER.as_bytes())?;
    }
    write_rows(out, sets, request.verdicts.then_some(request.level))
}

fn write_names<'a>(out: &mut impl Write, names: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    for (place, name) in names.enumerate() {
        write!(out, "{} ", label(place))?;
        out.write_all(name)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_rows(out: &mut impl Write, sets: &[Set], verdicts: Option<Level>) -> io::Result<()> {
    for (place, set) in sets.iter().enumerate() {
        write!(out, "{} {:>3}", label(place), set.n)?;
        for value in [set.min, set.max, set.median, set.mean, set.sd()] {
            write!(out, " {:>13}", g(value, 8))?;
        }
        writeln!(out)?;
        if let (Some(level), true) = (verdicts, place > 0) {
            write!(out, "{}", set.against(&sets[0], level))?;
        }
    }
    Ok(())
}

fn text(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("symbols, names, numbers and words are text")
}

fn require_symbols(sets: &[Set]) -> Result<(), MinistatError> {
    let count = sets.len();
    if count > MAX_SETS { Err(MinistatError::TooManySets { count, limit: MAX_SETS }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_set_has_no_symbol() {
        let set = |name: usize| Set::new(name.to_string(), vec![1.0, 2.0, 3.0]).unwrap();
        let sets: Vec<Set> = (0..8).map(set).collect();
        let expected = Err(MinistatError::TooManySets { count: 8, limit: 7 });
        assert_eq!(report(&sets, Level::default()), expected);
        assert_eq!(names(&sets), expected);
        assert_eq!(table(&sets, None), expected);
        assert!(report(&sets[..7], Level::default()).unwrap().contains("\nO 6\n"));
    }
}
