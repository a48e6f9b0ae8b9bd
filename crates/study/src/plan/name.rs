//! The names of conditions: labels for people, slugs for files.

use std::collections::HashSet;

use words::Value;

use crate::model::factor::{Factor, Subject};
use crate::model::grid::Cell;
use crate::model::name::{Name, NameWord};
use crate::model::offloads::Offloads;
use crate::model::scope::Scope;
use crate::model::study::Study;
use crate::plan::condition::Condition;

/// The longest part of a slug for one level: file systems allow names of 255 bytes.
const LONGEST_PART: usize = 48;

/// The label: the levels of the varied factors, in file order, and the design's name for the
/// offloads. Families, scenarios and workloads need no factor's name to be understood. If nothing
/// varies, the workload and the family.
pub(crate) fn label(study: &Study, cell: &Cell, condition: &Condition) -> Name {
    let words: Vec<NameWord> = study
        .levels(cell)
        .filter(|(factor, _)| factor.varies())
        .map(|(factor, level)| match factor.subject() {
            Subject::Workload | Subject::Scenario | Subject::Family => NameWord::alone(level.to_string()),
            _ => NameWord { factor: Some(factor.name().to_owned()), level: factor.short(level) },
        })
        .chain(study.designed(cell).map(|(design, on)| design.word(&on)))
        .collect();
    if words.is_empty() {
        let Condition { workload, family, .. } = condition;
        return [workload.name.clone(), family.to_string()].map(NameWord::alone).to_vec().into();
    }
    words.into()
}

/// The slug, as in the reference study R1 (`udp4_default_nocksum`): traffic and family, then
/// offloads, then `nocksum`, then everything else that varies.
pub(crate) fn slug(study: &Study, cell: &Cell, condition: &Condition) -> String {
    let kind = condition.workload.traffic.kind;
    let mut parts = vec![format!("{}{}", kind.slug(), condition.family.digit())];
    let levels = || study.levels(cell);
    if levels().any(|(factor, _)| *factor.subject() == Subject::Workload)
        && condition.workload.name != kind.word()
    {
        parts.push(condition.workload.name.to_lowercase());
    }
    for (factor, level) in levels() {
        if let Subject::Offloads(Scope { side: None, underlay: false }) = factor.subject() {
            parts.push(offloads_slug(level).to_owned());
        }
    }
    if !condition.workload.traffic.checksum {
        parts.push("nocksum".to_owned());
    }
    parts.extend(
        levels().filter(|(factor, _)| factor.varies()).filter_map(|(factor, level)| other(factor, level)),
    );
    parts.extend(study.designed(cell).map(|(design, on)| design.slug(&on)));
    parts.join("_")
}

/// Makes slugs unique, in order, by numbers.
pub(crate) fn make_unique(conditions: &mut [Condition]) {
    let mut taken = HashSet::new();
    for condition in conditions {
        let wanted = condition.slug.clone();
        let numbered = (2_u32..).map(|number| format!("{wanted}-{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|slug| !taken.contains(slug));
        condition.slug = free.unwrap_or(wanted);
        taken.insert(condition.slug.clone());
    }
}

/// R1's word for a state of the offloads.
fn offloads_slug(offloads: &Value) -> &'static str {
    if offloads.to_string() == Offloads::None.word() { "nooffload" } else { "default" }
}

/// The part of a factor that has no place of its own at the front.
fn other(factor: &Factor, level: &Value) -> Option<String> {
    let scope = factor.subject().scope().short();
    let name = factor.name().rsplit('.').next().unwrap_or_default();
    Some(match factor.subject() {
        Subject::Workload | Subject::Family | Subject::Offloads(Scope { side: None, underlay: false }) => {
            return None;
        }
        Subject::Key(key) if key.name == "checksum" => return None,
        Subject::Key(key) => {
            format!("{}{}", key.slug, level.to_string().to_lowercase().replace(['_', '+'], "-"))
        }
        Subject::Offloads(_) => format!("{scope}{}", offloads_slug(level)),
        Subject::Feature(..) => format!("{scope}{name}-{level}"),
        Subject::Device(..) => format!("{scope}{}-{level}", name.replace('_', "-")),
        Subject::Tuning(..) => format!("{scope}{}-{}", name.replace('_', "-"), plain(&level.to_string())),
        Subject::Twin => format!("twin-{}", level.to_string().to_lowercase()),
        Subject::Scenario => level.to_string(),
        Subject::Underlay("family") => format!("{scope}{level}"),
        Subject::Guest("kernel") => format!("kernel-{}", plain(&factor.short(level))),
        Subject::Guest("command_line") if *level == Value::Default => "command-line-default".to_owned(),
        Subject::Guest("command_line") => plain(&level.to_string()),
        _ => format!("{scope}{}{level}", name.replace('_', "-")),
    })
}

/// A text of characters that a slug may contain.
fn plain(text: &str) -> String {
    let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
    let text: String =
        text.to_lowercase().chars().map(|c| if fit(c) { c } else { '-' }).take(LONGEST_PART).collect();
    text.trim_matches('-').to_owned()
}
