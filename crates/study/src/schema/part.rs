use serde_json::{Map, Value, json};
use words::{KEYS, Key, Shape, Vocabulary, metric};

use super::{Parts, described, object};
use crate::model::limit;
use crate::model::tables::{KIND, Part, Table};

impl Parts {
    pub(super) fn part(&mut self, part: &Part) -> Value {
        match part {
            Part::Name => {
                let pattern = format!("^[A-Za-z0-9][A-Za-z0-9_.-]{{0,{}}}$", limit::NAME - 1);
                self.named("Name", json!({ "type": "string", "pattern": pattern }))
            }
            Part::Sentence => json!({ "type": "string" }),
            Part::Switch => self.named("Switch", switch()),
            Part::Fields => {
                let letters: String = words::flow_hash::letters().collect();
                let most = letters.len();
                let pattern = format!("^([{letters}]{{1,{most}}}|default)$");
                self.named("Fields", json!({ "type": "string", "pattern": pattern }))
            }
            Part::Share => self.named("Share", share("")),
            Part::Metric => self.named("MetricKey", json!({ "enum": metric::keys().collect::<Vec<_>>() })),
            Part::Kernel => {
                self.named("Kernel", json!({ "type": "string", "minLength": 1, "maxLength": limit::PATH }))
            }
            Part::CommandLine => {
                self.named("CommandLine", json!({ "type": "string", "maxLength": limit::COMMAND_LINE }))
            }
            Part::Memory => self.named("Memory", json!({ "type": "string", "pattern": r"^\d+ *(MiB|GiB)$" })),
            Part::OrDefault(name, range) => {
                let number = self.named(name, number(*range.start(), *range.end()));
                json!({ "anyOf": [number, { "const": "default" }] })
            }
            Part::Number(name, range) => self.named(name, number(*range.start(), *range.end())),
            Part::Shaped(name, shape) => self.named(name, of_shape(*shape, false)),
            Part::OrWord(name, shape, vocabulary) => {
                let value = self.named(name, of_shape(*shape, false));
                let word = self.named(vocabulary.name, one_of(vocabulary));
                json!({ "anyOf": [value, word] })
            }
            Part::Word(vocabulary) => self.named(vocabulary.name, one_of(vocabulary)),
            Part::Words(vocabulary) => {
                let word = self.named(vocabulary.name, one_of(vocabulary));
                let several = json!({ "type": "array", "items": word, "minItems": 1, "uniqueItems": true });
                json!({ "anyOf": [word, several] })
            }
            Part::Table(table) => self.table_named(table),
            Part::Counted(name, range, table) => {
                let number = self.named(name, number(*range.start(), *range.end()));
                json!({ "anyOf": [number, self.table_named(table)] })
            }
            Part::Tables(table, most) => {
                let table = self.table_named(table);
                several(table, *most)
            }
            Part::Workloads => {
                let workload = self.workload();
                several(self.named("Workload", workload), limit::BLOCKS)
            }
            Part::Factors => self.factors(),
            Part::Exclusions => several(self.exclusion(), limit::EXCLUSIONS),
            Part::Levels => self.levels(),
            Part::Offloads => self.offloads(),
            Part::Sysctls => {
                // A value, or a table of sysctls with a common prefix.
                let value = json!({ "type": ["integer", "string", "object"] });
                by_name(self.named("SysctlValue", value))
            }
            Part::Cpus => {
                let cpu = number(*limit::CPU.start(), *limit::CPU.end());
                let list = json!({ "type": "string", "pattern": "^[0-9]+([,-][0-9]+)*$" });
                self.named("Cpus", json!({ "anyOf": [cpu, several(cpu, limit::LEVELS), list] }))
            }
            Part::Interfaces(part) => by_name(self.part(part)),
            Part::Placement(table) => {
                let word = json!({ "type": "string", "pattern": "^irq[0-9]+-traffic[0-9]+$" });
                let table = self.table_named(table);
                json!({ "anyOf": [table, word] })
            }
            Part::Features => by_name(by_name(self.part(&Part::Switch))),
        }
    }

    fn table_named(&mut self, table: &Table) -> Value {
        let schema = self.table(table);
        self.named(table.name, schema)
    }

    fn workload(&mut self) -> Value {
        let (name, kind) = (self.part(&Part::Name), self.part(&KIND));
        let mut properties = Map::new();
        properties.insert("name".to_owned(), described(name, "What the study calls it. Default: its kind."));
        properties.insert("kind".to_owned(), described(kind, "The kind of traffic."));
        for key in KEYS {
            properties.insert(key.name.to_owned(), described(of_key(key), &key.description()));
        }
        let mut schema = object("The traffic.", properties);
        schema["required"] = json!(["kind"]);
        schema
    }
}

fn one_of(vocabulary: &Vocabulary) -> Value {
    let word = |(word, meaning): &(&str, &[&str])| json!({ "const": word, "description": Vocabulary::sentences(meaning), "type": "string" });
    let words: Vec<Value> = vocabulary.words.iter().map(word).collect();
    json!({ "description": Vocabulary::sentences(vocabulary.about), "oneOf": words })
}

fn switch() -> Value {
    json!({ "enum": ["on", "off", true, false] })
}

fn number(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

/// An array of 1 to `most` items.
fn several(one: Value, most: usize) -> Value {
    json!({ "type": "array", "items": one, "minItems": 1, "maxItems": most })
}

/// A table of any keys.
fn by_name(value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

/// A share in percent, or another text.
fn share(or: &str) -> Value {
    json!({ "type": "string", "pattern": format!(r"^\s*\d+(\.\d+)?\s*%\s*${or}") })
}

/// The schema of a key of the traffic.
pub(super) fn of_key(key: &Key) -> Value {
    of_shape(key.shape, key.has_default())
}

fn of_shape(shape: Shape, has_default: bool) -> Value {
    let default = if has_default { "|^default$" } else { "" };
    match shape {
        Shape::Number(least, most) if has_default => {
            json!({ "anyOf": [number(least, most), { "const": "default" }] })
        }
        Shape::Number(least, most) => number(least, most),
        Shape::Switch if has_default => json!({ "enum": ["on", "off", "default", true, false] }),
        Shape::Switch => switch(),
        Shape::Pace => {
            let pattern = format!(r"^\s*\d+(\.\d+)?\s*([kKmMgGtT]?[bB][iI][tT])\s*${default}");
            json!({ "type": "string", "pattern": pattern })
        }
        Shape::Share => share(default),
        Shape::Time(..) => {
            let pattern = format!(r"^\s*(\d+(\.\d+)?(h|m|s|ms|us|ns)\s*)+${default}");
            json!({ "type": "string", "pattern": pattern })
        }
        Shape::Word(words) => json!({ "enum": words.vocabulary.spellings() }),
        Shape::Name(most) => {
            json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{most}}}$") })
        }
    }
}
