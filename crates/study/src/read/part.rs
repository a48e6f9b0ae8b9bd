//! Reads a value by its [`KeyPart`] in the table of its key.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeValue;
use words::suggest::quoted;
use words::{DEFAULT, Shape, Value as Read, flow_hash};

use crate::model::{KeyPart, limit, tables};
use crate::read::{Problem, Problems, Section, TomlEntry, machine};

/// Kernel parameters that set the first program, which must be netassay.
const OURS: &[&str] = &["init", "rdinit", "initrd"];

/// The places of keys that are written.
pub(crate) type Places = BTreeMap<&'static str, Range<usize>>;

/// Reports unknown keys, and returns the places of the known ones.
pub(crate) fn fill(
    mut table: Section<'_>,
    rows: &tables::KeyTable,
    problems: &mut Problems,
    mut set: impl FnMut(&'static str, &Read),
) -> Places {
    let mut places = Places::new();
    for row in rows.rows {
        let Some(entry) = table.take(row.name) else { continue };
        places.insert(row.name, entry.span());
        if let Some(value) = read(&entry, &row.part, problems) {
            set(row.name, &value);
        }
    }
    table.finish(&rows.keys(), problems);
    places
}

/// A single value; structured values are read by their own table.
pub(crate) fn read(value: &TomlEntry<'_>, part: &KeyPart, problems: &mut Problems) -> Option<Read> {
    match part {
        KeyPart::Name => value.identifier(problems).map(Read::Text),
        KeyPart::Sentence => value.sentence(problems).map(Read::Text),
        KeyPart::Shaped(_, shape) => value.of_shape(*shape, false, problems),
        KeyPart::OrDefault(_, shape) => value.of_shape(*shape, true, problems),
        KeyPart::OrWord(_, shape, vocabulary) => match value.value.get_ref() {
            DeValue::String(text) if text.starts_with(char::is_alphabetic) => {
                value.of_shape(Shape::Word(*vocabulary), false, problems)
            }
            _ => value.of_shape(*shape, false, problems),
        },
        KeyPart::Kernel => kernel(value, problems),
        KeyPart::CommandLine => command_line(value, problems),
        KeyPart::Memory => memory(value, problems),
        KeyPart::Fields => fields(value, problems),
        KeyPart::Cpus => machine::cpus(value, problems).map(|cpus| Read::Text(words::format_cpu_list(&cpus))),
        KeyPart::Sysctls => machine::sysctl_level(value, problems).map(Read::Text),
        KeyPart::Placement(_) => machine::placement(value, problems).map(|both| Read::Text(both.to_string())),
        _ => None,
    }
}

/// Fields of a packet, each once.
fn fields(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Read> {
    let text = value.text(problems)?;
    if text == DEFAULT {
        return Some(Read::Default);
    }
    let letters: String = flow_hash::letters().collect();
    if text.chars().all(|one| letters.contains(one)) && flow_hash::mask(text).is_some() {
        // Their order has no meaning: equal sets become equal levels.
        return Some(Read::Text(letters.chars().filter(|letter| text.contains(*letter)).collect()));
    }
    let message = format!("`{}` does not name fields of a packet", quoted(text));
    let help = format!(
        "write letters of `{letters}`, each once, as `ethtool -N` has them: `sd` for the addresses, `sdfn` for the ports too"
    );
    Problem::new(value.span(), message).help(help).reject(problems)
}

fn kernel(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Read> {
    const HELP: &str = "write a path such as \"/boot/vmlinuz-6.1.0\", a directory with boot/ and lib/modules/, the name of a package of \
         `netassay kernel fetch`, or \"running\"";
    let text = value.text(problems)?;
    if text.trim() == text && !text.is_empty() && text.len() <= limit::PATH && words::is_plain(text) {
        return Some(Read::Text(text.to_owned()));
    }
    let message = format!("`{}` cannot be a kernel", quoted(text));
    Problem::new(value.span(), message).help(HELP).reject(problems)
}

fn command_line(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Read> {
    let text = value.text(problems)?;
    if text == DEFAULT || text.is_empty() {
        return Some(Read::Default);
    }
    let parameters: Vec<&str> = text.split(' ').collect();
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
    if text.len() > limit::COMMAND_LINE
        || parameters.iter().any(|one| one.is_empty() || !one.bytes().all(plain))
    {
        let message = format!("`{}` cannot be added to a command line", quoted(text));
        let help = format!(
            "write parameters of the kernel with one space between, such as \"mitigations=off nosmt\", at most {} bytes",
            limit::COMMAND_LINE
        );
        return Problem::new(value.span(), message).help(help).reject(problems);
    }
    let is_ours = |one: &&&str| **one == "--" || OURS.contains(&one.split('=').next().unwrap_or(one));
    let Some(ours) = parameters.iter().find(is_ours) else { return Some(Read::Text(text.to_owned())) };
    let message = format!("`{}` sets the first program of a guest, which must be netassay", quoted(ours));
    let help = "remove it: boot another system with tools of its own";
    Problem::new(value.span(), message).help(help).reject(problems)
}

fn memory(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Read> {
    let DeValue::String(text) = value.value.get_ref() else {
        return value.wrong_type("an amount of memory such as \"512MiB\"", problems);
    };
    let units = [("MiB", 1), ("GiB", 1024)];
    let found = units.iter().find_map(|(unit, mib)| Some((text.strip_suffix(unit)?.trim_end(), *mib)));
    let digits = found.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let mib = digits.and_then(|(number, unit)| number.parse::<u64>().ok()?.checked_mul(unit));
    if let Some(mib) = mib.filter(|mib| limit::MEMORY_MIB.contains(mib)) {
        return Some(Read::Number(mib));
    }
    let (least, most) = (limit::MEMORY_MIB.start(), limit::MEMORY_MIB.end());
    Problem::new(value.span(), format!("`{}` is not an amount of memory", quoted(text)))
        .help(format!("write it as \"512MiB\" or \"2GiB\", {least}MiB to {most}MiB"))
        .reject(problems)
}
