//! ministat's input format: one value per line, one file per condition.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Number;
use crate::stored::StoredStudy;

/// One exported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatFile {
    /// Its name, made of the condition's slug: `udp4_default_nocksum.stat`. Only letters, digits,
    /// `.`, `_` and `-`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The recorded runs of one metric, warm-ups and failed runs left out, one file per condition that
/// has any.
///
/// Comment lines name study, condition, metric and unit. Column 1 is the value, for ministat;
/// column 2 is the planned boot, for programs that group the runs of a boot.
pub fn stat(study: &StoredStudy, metric: &str, unit: impl Fn(&str) -> Option<&'static str>) -> Vec<StatFile> {
    let mut taken = BTreeSet::new();
    let mut files = Vec::new();
    for condition in 0..study.plan.conditions.len() {
        let mut lines = String::new();
        for (_, boot, value) in study.values(metric).filter(|(of, ..)| *of == condition) {
            writeln!(lines, "{}\t{boot}", Number(value)).expect("writing to a string cannot fail");
        }
        if lines.is_empty() {
            continue;
        }
        let unit = unit(metric).map_or(String::new(), |unit| format!(" ({unit})"));
        let text = format!(
            "# study: {} (netassay {})\n# condition: {}\n# metric: {}{unit}\n# columns: value, boot\n{lines}",
            words::sanitised_line(&study.row.name),
            words::sanitised_line(&study.row.version),
            words::sanitised_line(&study.label(condition)),
            words::sanitised_line(metric),
        );
        files.push(StatFile { name: file_name(&study.slug(condition), &mut taken), text });
    }
    files
}

/// Slugs come from the stored plan: they must neither leave the directory nor overwrite each other.
fn file_name(slug: &str, taken: &mut BTreeSet<String>) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let mut stem = slug.replace(|letter| !is_safe(letter), "_");
    if stem.is_empty() || stem.starts_with(['.', '-']) {
        stem.insert(0, '_');
    }
    let mut name = format!("{stem}.stat");
    let mut copy = 1;
    while !taken.insert(name.clone()) {
        copy += 1;
        name = format!("{stem}_{copy}.stat");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_in_the_directory_and_apart() {
        let mut taken = BTreeSet::new();
        let mut name = |slug| file_name(slug, &mut taken);
        assert_eq!(name("udp4_default_nocksum"), "udp4_default_nocksum.stat");
        assert_eq!(name("udp4_default_nocksum"), "udp4_default_nocksum_2.stat");
        assert_eq!(name("../../etc/passwd"), "_.._.._etc_passwd.stat");
        assert_eq!(name("-n"), "_-n.stat");
        assert_eq!(name(""), "_.stat");
        assert_eq!(name("mtu 9000\n"), "mtu_9000_.stat");
    }
}
