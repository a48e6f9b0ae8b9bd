//! `netassay study`: study files before a run.

use std::io::{ErrorKind, IsTerminal};
use std::path::Path;

use host::Privileges;
use host::machine::{Machine, Target};
use report::document::Block;
use results::distinct;
use serde_json::json;
use study::{Assignment, Side, Study, bundled};
use testbed::guest::{Kernel, Tools};

use crate::cli::{Formatted, StudyCommand};
use crate::commands::plan::plan;
use crate::failure::{Failure, bail, say};
use crate::output::{MayReplace, named, print, show_list, write};

pub(crate) fn study_files(command: &StudyCommand) -> Result<(), Failure> {
    match command {
        StudyCommand::New { name } => new(name),
        StudyCommand::Check { file, set } => check(file, set),
        StudyCommand::Plan(flags) => plan(flags),
        StudyCommand::List(output) => list(output),
        StudyCommand::Print { name } => match bundled::find(name) {
            Some(bundled) => print(bundled.text),
            None => bail!(Usage, "{name:?} is no bundled study (bundled: {})", bundled_names()),
        },
        StudyCommand::Schema => print(&study::schema()),
    }
}

pub(crate) fn find(name: &str, set: &[Assignment]) -> Result<Study, Failure> {
    if let Some(bundled) = bundled::find(name) {
        return parse(&format!("{name} (bundled)"), bundled.text, set);
    }
    let path = Path::new(name);
    if !name.contains(['/', '.']) && !path.exists() {
        bail!(Usage, "{name:?} is neither a bundled study nor a file (bundled: {})", bundled_names());
    }
    parse(name, &read(path)?, set)
}

fn bundled_names() -> String {
    bundled::list().iter().map(|study| study.name).collect::<Vec<_>>().join(", ")
}

fn list(output: &Formatted) -> Result<(), Failure> {
    let (mut rows, mut items) = (Vec::new(), Vec::new());
    for bundled in bundled::list() {
        let study = parse(bundled.name, bundled.text, &[])?;
        let expected = study::expected_duration(&study.plan(), &study.protocol);
        rows.push(json!({"name": bundled.name, "question": &study.question, "scenarios": study.scenarios(),
                         "expected_s": expected.as_secs_f64()}));
        let time = results::duration(expected);
        items.push(format!("{} ({}, {time}): {}", bundled.name, study.scenario_names(), study.question));
    }
    show_list("studies", &rows, output, |_| vec![Block::List(items)])
}

fn new(name: &str) -> Result<(), Failure> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)) {
        bail!(Usage, "{name:?} is not a name for a study: use letters, digits, - and _");
    }
    let file = format!("{name}.toml");
    write(Path::new(&file), &study::starter(name), MayReplace::Nothing)?;
    say(&format!("wrote {file}; next: `netassay run {file} --dry-run`"));
    Ok(())
}

fn check(path: &Path, set: &[Assignment]) -> Result<(), Failure> {
    let file = named(path);
    let study = parse(&file, &read(path)?, set)?;
    let plan = study.plan();
    let (conditions, excluded) = (plan.conditions.len(), plan.excluded.len());
    let conditions = results::counted(conditions, "condition");
    say(&format!("{file}: no problem found ({conditions}, {excluded} excluded)"));
    let refused = refusals(&study).into_iter().map(|why| format!("`netassay run` refuses it here: {why}"));
    crowding(&study).into_iter().chain(refused).for_each(|note| say(&format!("note: {note}")));
    Ok(())
}

/// One warning for each number of virtual CPUs that this machine lacks.
pub(crate) fn crowding(study: &Study) -> Vec<String> {
    let cpus = testbed::split_cpus(&host::affinity::usable());
    let states = study.plan().states();
    // Counts of exact mode do not depend on waits.
    let states = states.iter().filter(|_| !study.exact);
    let notes = states.filter_map(|state| testbed::oversubscription(state, study.inside_guest, &cpus));
    distinct(notes.map(|note| note.to_string()))
}

pub(crate) fn refusals(study: &Study) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let plan = study.plan();
    let in_namespaces = plan.conditions.iter().filter(|one| one.boot.scenario.is_of_namespaces());
    let sides = in_namespaces.flat_map(|one| Side::BOTH.map(|side| one.side(side)));
    let sysctls = sides.flat_map(|side| side.tuning.sysctl.keys().cloned()).collect();
    found.extend(Machine::shared_sysctls(&sysctls));
    let (mut is_here, mut has_guests) = (false, false);
    for state in plan.states() {
        is_here |= !state.scenario.has_machines();
        let Some(guest) = &state.guest else { continue };
        has_guests = true;
        found.extend(Kernel::find(guest.kernel.as_deref()).err().map(|error| error.to_string()));
    }
    if has_guests && let Err(error) = Tools::of_this_machine().qemu() {
        found.push(error.to_string());
    }
    for name in study.machine.both.sysctl.keys().filter(|_| is_here) {
        let sysctl = Target::Sysctl { name: name.clone() };
        Machine::system().check_writable(&sysctl).unwrap_or_else(|error| found.push(error.to_string()));
    }
    let privileges = Privileges::read();
    if is_here && !privileges.privileged() {
        let obstacle = privileges.obstacle();
        found.extend(obstacle.map(|why| format!("the namespaces of the hosts cannot be made: {why}")));
        if !study.machine.is_empty() {
            let why = "the settings of `[machine]` need root: run netassay as root, or remove them";
            found.push(why.to_owned());
        }
    }
    distinct(found)
}

fn parse(name: &str, text: &str, changes: &[Assignment]) -> Result<Study, Failure> {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    Study::parse_with(name, text, changes).map_err(|diagnostics| Failure::Study(diagnostics.render(colour)))
}

fn read(path: &Path) -> Result<String, Failure> {
    read_text(path, study::MAX_TEXT as u64, "a study file")
}

/// The text of a file that the user wrote. `what`: the kind of file, of at most `most` bytes.
pub(crate) fn read_text(path: &Path, most: u64, what: &str) -> Result<String, Failure> {
    let bytes = host::user_file::read(path, most).map_err(|source| match source.kind() {
        ErrorKind::FileTooLarge => Failure::Usage(format!("{}: {source}, the limit of {what}", named(path))),
        _ => Failure::Read { path: path.to_owned(), source },
    })?;
    String::from_utf8(bytes)
        .map_err(|error| Failure::Usage(format!("{} is not UTF-8 text ({error})", named(path))))
}
