//! `[guest]`, and levels of the factors that are about virtual machines.

use std::ops::Range;

use toml::de::DeValue;
use words::{DEFAULT, suggest::quoted};

use crate::model::factor::RUNNING;
use crate::model::guest::Guest;
use crate::model::limit;
use crate::model::tables::GUEST;
use crate::read::diagnostic::Problem;
use crate::read::problems::Problems;
use crate::read::table::Table;
use crate::read::value::Value;

/// Parameters of a kernel that say what is run first, which is netassay.
const OURS: &[&str] = &["init", "rdinit", "initrd"];

/// What the file says of its virtual machines, and where.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) guest: Guest,
    /// The keys that are written, with the places of their values.
    pub(crate) written: Vec<(&'static str, Range<usize>)>,
}

impl Read {
    /// Where a key is written, if it is.
    pub(crate) fn place_of(&self, key: &str) -> Option<Range<usize>> {
        self.written.iter().find(|(known, _)| *known == key).map(|(_, place)| place.clone())
    }
}

/// The table, with defaults for what is not written.
pub(crate) fn read(mut table: Table<'_>, problems: &mut Problems) -> Read {
    let mut read = Read::default();
    for key in GUEST.keys() {
        let Some(entry) = table.take(key) else { continue };
        read.written.push((key, entry.span()));
        let value = Value::of(&entry);
        let guest = &mut read.guest;
        match key {
            "kernel" => guest.kernel = kernel(value, problems).flatten(),
            "command_line" => {
                guest.command_line = command_line(value, problems).flatten().unwrap_or_default()
            }
            "vcpus" => guest.vcpus = value.small(limit::VCPUS, problems).unwrap_or(guest.vcpus),
            "memory" => guest.memory_mib = memory(value, problems).unwrap_or(guest.memory_mib),
            "nic" => guest.nic = value.word(problems).unwrap_or(guest.nic),
            "copies" => guest.copies = value.word(problems).unwrap_or(guest.copies),
            "acceleration" => guest.acceleration = value.word(problems).unwrap_or(guest.acceleration),
            "pin" => guest.pin = value.switch(problems).unwrap_or(guest.pin),
            key => unreachable!("`{key}` is in the table of keys and is not read"),
        }
    }
    table.finish(&GUEST.keys(), problems);
    read
}

/// A kernel; `Some(None)` is the one that runs here. Whether it is there shows when it is booted.
pub(crate) fn kernel(value: Value<'_>, problems: &mut Problems) -> Option<Option<String>> {
    let text = value.text(problems)?;
    if text == RUNNING {
        return Some(None);
    }
    if text.trim() == text && !text.is_empty() && text.len() <= limit::PATH && text::is_plain(text) {
        return Some(Some(text.to_owned()));
    }
    let message = format!("`{}` cannot be a kernel", quoted(text));
    let help = format!(
        "write a path such as \"/boot/vmlinuz-6.1.0\", a directory with boot/ and lib/modules/, the name of a package of \
         `netassay kernel fetch`, or \"{RUNNING}\""
    );
    problems.push(Problem::new(value.span(), message).help(help));
    None
}

/// What is added to a kernel's command line; `Some(None)` is nothing.
pub(crate) fn command_line(value: Value<'_>, problems: &mut Problems) -> Option<Option<String>> {
    let text = value.text(problems)?;
    if text == DEFAULT || text.is_empty() {
        return Some(None);
    }
    let parameters: Vec<&str> = text.split(' ').collect();
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
    let problem = if text.len() > limit::COMMAND_LINE
        || parameters.iter().any(|one| one.is_empty() || !one.bytes().all(plain))
    {
        let message = format!("`{}` cannot be added to a command line", quoted(text));
        let help = format!(
            "write parameters of the kernel with one space between, such as \"mitigations=off nosmt\", at most {} bytes",
            limit::COMMAND_LINE
        );
        Problem::new(value.span(), message).help(help)
    } else if let Some(ours) =
        parameters.iter().find(|one| **one == "--" || OURS.contains(&one.split('=').next().unwrap_or(one)))
    {
        Problem::new(
            value.span(),
            format!("`{}` sets the first program of a guest, which must be netassay", quoted(ours)),
        )
        .help("remove it: boot another system with tools of its own")
    } else {
        return Some(Some(text.to_owned()));
    };
    problems.push(problem);
    None
}

/// An amount of memory in MiB.
fn memory(value: Value<'_>, problems: &mut Problems) -> Option<u32> {
    const EXAMPLES: &str = "write it as \"512MiB\" or \"2GiB\"";
    let DeValue::String(text) = value.value.get_ref() else {
        return value.wrong_type("an amount of memory such as \"512MiB\"", problems);
    };
    let units = [("MiB", 1), ("GiB", 1024)];
    let found = units.iter().find_map(|(unit, mib)| Some((text.strip_suffix(unit)?.trim_end(), *mib)));
    let digits =
        found.filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let Some((number, unit)) = digits else {
        let message = format!("`{}` is not an amount of memory", quoted(text));
        problems.push(Problem::new(value.span(), message).help(EXAMPLES));
        return None;
    };
    let mib = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let mib = mib.filter(|mib| limit::MEMORY_MIB.contains(mib)).and_then(|mib| u32::try_from(mib).ok());
    if mib.is_none() {
        let (least, most) = (limit::MEMORY_MIB.start(), limit::MEMORY_MIB.end());
        let message = format!("`{}` must be {least}MiB to {most}MiB", value.name);
        problems.push(Problem::new(value.span(), message).label("out of range"));
    }
    mib
}
