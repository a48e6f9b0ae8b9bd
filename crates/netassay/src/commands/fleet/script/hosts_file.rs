//! A file of hosts as the tasks of a script read it.

use std::path::Path;

use serde_json::Value;
use study::Side;
use testbed::reach::HostSpec;

use crate::commands::hosts::LARGEST;
use crate::commands::study_files::read_text;
use crate::failure::Failure;

pub(super) struct HostsFileText(Value);

/// The keys that stand first in a table, in their order.
const FIRST: [&str; 3] = ["name", "transmitter", "receiver"];

impl HostsFileText {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path, LARGEST, "a file of hosts")?;
        let wrong = |error: toml::de::Error| Failure::Usage(format!("{}: {error}", path.display()));
        toml::from_str(&text).map(Self).map_err(wrong)
    }

    /// Lets a host of a pair, by its place in the file, be reached by this command.
    pub(super) fn launch_by(&mut self, pair: usize, side: Side, host: &HostSpec, command: &[String]) {
        let entry = self.0.pointer_mut(&format!("/pair/{pair}/{side}")).and_then(Value::as_object_mut);
        let Some(entry) = entry else { return };
        entry.remove("ssh");
        entry.insert("launch".to_owned(), command.into());
        if let Some(interface) = &host.interface {
            entry.insert("interface".to_owned(), interface.as_str().into());
        }
    }

    pub(super) fn text(&self) -> String {
        let lines = |table: &Value| -> String {
            let fields = table.as_object().into_iter().flatten().filter(|(key, _)| key.as_str() != "pair");
            let mut fields: Vec<(&String, &Value)> = fields.collect();
            fields.sort_by_key(|(key, _)| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()));
            let line = |(key, value): (&String, &Value)| format!("{} = {}\n", toml_key(key), inline(value));
            fields.into_iter().map(line).collect()
        };
        let pairs = self.0["pair"].as_array().into_iter().flatten();
        let pairs = pairs.map(|pair| format!("[[pair]]\n{}", lines(pair)));
        let tables = [lines(&self.0)].into_iter().filter(|top| !top.is_empty()).chain(pairs);
        tables.collect::<Vec<_>>().join("\n")
    }
}

/// A value on one line: the strings of JSON are strings of TOML.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| format!("{} = {}", toml_key(key), inline(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => words::escaped_json(&other.to_string()).into_owned(),
    }
}

fn toml_key(key: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let quoted = || words::escaped_json(&Value::from(key).to_string()).into_owned();
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { quoted() }
}
