//! Files that are generated and checked in: written by `cargo xtask generate`, compared by `cargo
//! xtask test`.

use crate::Result;
use crate::program::output;
use crate::session::{Session, write};
use crate::test::build;
use crate::{bpf, deny};

/// A checked-in file, or the part of one between `<!-- PART, generated: begin -->` and `<!-- end
/// -->`; the program of the development build that prints it, and its arguments.
type Generated = (&'static str, Option<&'static str>, &'static str, &'static [&'static str]);

/// The one place for such files.
const GENERATED: &[Generated] = &[
    ("docs/study.schema.json", None, "netassay", &["study", "schema"]),
    ("docs/glossary.md", None, "netassay", &["help", "--markdown"]),
    ("docs/studies.md", Some("the keys of traffic"), TABLES, &["keys"]),
    ("docs/studies.md", Some("the metrics of a run"), TABLES, &["metrics"]),
    ("docs/studies.md", Some("the metrics of a side"), TABLES, &["metrics-of-sides"]),
    ("docs/studies.md", Some("the metrics of exact mode"), TABLES, &["metrics-of-exact-mode"]),
];
const TABLES: &str = "examples/tables";

/// `cargo xtask generate`
pub(crate) fn run(session: &mut Session, _: &[String]) -> Result {
    build(session)?;
    for generated in GENERATED {
        let (file, ..) = generated;
        write(&session.root.join(file), &text(session, generated)?)?;
        println!("{file}");
    }
    Ok(())
}

/// Every generated file says what the program says now.
pub(crate) fn check(session: &mut Session) -> Result {
    bpf::check(session)?;
    deny::check(session)?;
    build(session)?;
    for generated in GENERATED {
        let (file, ..) = generated;
        if session.read(file)? != text(session, generated)? {
            return Err(format!("{file} is out of date; run `cargo xtask generate`, look, commit"));
        }
    }
    Ok(())
}

/// The file as it should be.
fn text(session: &Session, (file, part, program, arguments): &Generated) -> Result<String> {
    let mut command = session.command(session.built.join("debug").join(program));
    let text = output(command.args(*arguments))?;
    let Some(part) = part else { return Ok(text) };
    placed(&session.read(file)?, part, &text).ok_or_else(|| format!("{file} has no place for {part}"))
}

/// The file with this text between the marks of a part.
fn placed(file: &str, part: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {part}, generated: begin -->\n");
    let (before, rest) = file.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->\n")?;
    Some([before, &begin, text, "<!-- end -->\n", after].concat())
}
