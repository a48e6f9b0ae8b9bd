//! ministat's output.

use std::io::{self, Write};

use crate::ministat::number::g;
use crate::ministat::plot::{MinistatPlot, SYMBOLS};
use crate::ministat::request::MinistatRequest;
use crate::ministat::set::Set;
use crate::ministat::student::ConfidenceLevel;

/// The output of `ministat -A` for at most [`MAX_SETS`](crate::ministat::MAX_SETS) sets: names,
/// table, and the verdict of each set against the first.
pub fn report(sets: &[Set], level: ConfidenceLevel) -> String {
    let mut bytes = Vec::new();
    write_names(&mut bytes, sets.iter().map(|set| set.name.as_bytes()))
        .and_then(|()| write_table(&mut bytes, sets, Some(level)))
        .expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("symbols, names, numbers and words are text")
}

/// Writes the output as it was requested. `plot` is `None` if all values are the same.
///
/// # Errors
/// The errors of `out`.
pub fn write_all(
    out: &mut impl Write,
    request: &MinistatRequest,
    sets: &[Set],
    names: &[&[u8]],
    plot: Option<&MinistatPlot>,
) -> io::Result<()> {
    write_names(out, names.iter().copied())?;
    match plot {
        Some(plot) => plot.write(out)?,
        None if request.plot => out.write_all(b"[no plot, span is zero width]\n")?,
        None => {}
    }
    write_table(out, sets, request.verdicts.then_some(request.level))
}

fn write_names<'a>(out: &mut impl Write, names: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    for (symbol, name) in SYMBOLS.iter().zip(names) {
        out.write_all(&[&[*symbol, b' '], name, b"\n"].concat())?;
    }
    Ok(())
}

/// With `verdicts`, a verdict follows each row but the first.
fn write_table(out: &mut impl Write, sets: &[Set], verdicts: Option<ConfidenceLevel>) -> io::Result<()> {
    writeln!(out, "    N           Min           Max        Median           Avg        Stddev")?;
    for (place, (symbol, set)) in SYMBOLS.iter().zip(sets).enumerate() {
        write!(out, "{} {:>3}", char::from(*symbol), set.n)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_sets_have_symbols() {
        let set = |name: usize| Set::new(name.to_string(), &[1.0, 2.0, 3.0]).unwrap();
        let sets: Vec<Set> = (0..7).map(set).collect();
        assert!(report(&sets, ConfidenceLevel::default()).contains("\nO 6\n"));
    }
}
