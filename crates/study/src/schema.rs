//! The JSON schema of a study file, for editors and other tools: made from the reader's tables.

use serde_json::{Map, Value, json};
use words::{DEFAULT, DeviceForm, DeviceSetting, KEYS, Shape, Side, TuningKey, Vocabulary, metric};

use crate::model::switch::UNDERLAY as UNDER;
use crate::model::tables::{GUEST, KIND, MACHINE, STUDY, SWITCH, UNDERLAY};
use crate::model::{KeyPart, KeyTable, Scope, Varied, limit};

/// The JSON schema of a study file (draft 2020-12), indented. The same in every build.
pub fn schema() -> String {
    let mut parts = Parts::default();
    let mut schema = parts.table(&STUDY);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = STUDY.name.into();
    schema["$defs"] = Value::Object(parts.0);
    // Other crates of the build decide whether maps keep their insertion order.
    schema.sort_all_objects();
    format!("{}\n", serde_json::to_string_pretty(&schema).expect("a schema is plain JSON"))
}

#[derive(Default)]
struct Parts(Map<String, Value>);

const SIDE: Scope = Scope { side: Some(Side::Transmitter), underlay: false };

impl Parts {
    fn named(&mut self, name: &str, schema: Value) -> Value {
        self.0.insert(name.to_owned(), schema);
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table(&mut self, table: &KeyTable) -> Value {
        let rows = table.rows.iter();
        let properties = rows.map(|row| (row.name.to_owned(), described(self.part(&row.part), row.help)));
        let mut schema = object(table.help, properties.collect());
        let required = table.rows.iter().filter(|row| row.is_required).map(|row| row.name);
        let required: Vec<&str> = required.collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn part(&mut self, part: &KeyPart) -> Value {
        match part {
            KeyPart::Name => {
                let pattern = format!("^[A-Za-z0-9][A-Za-z0-9_.-]{{0,{}}}$", limit::NAME - 1);
                self.named("Name", text(&pattern))
            }
            KeyPart::Sentence => json!({ "type": "string" }),
            KeyPart::Fields => {
                let letters: String = words::flow_hash::letters().collect();
                self.named("Fields", text(&format!("^([{letters}]{{1,{}}}|default)$", letters.len())))
            }
            KeyPart::Metric => self.named("MetricKey", json!({ "enum": metric::keys().collect::<Vec<_>>() })),
            KeyPart::Kernel => {
                self.named("Kernel", json!({ "type": "string", "minLength": 1, "maxLength": limit::PATH }))
            }
            KeyPart::CommandLine => {
                self.named("CommandLine", json!({ "type": "string", "maxLength": limit::COMMAND_LINE }))
            }
            KeyPart::Memory => self.named("Memory", text(r"^\d+ *(MiB|GiB)$")),
            KeyPart::OrDefault(name, shape) => {
                json!({ "anyOf": [self.shaped(name, *shape), { "const": "default" }] })
            }
            KeyPart::Shaped(name, shape) => self.shaped(name, *shape),
            KeyPart::OrWord(name, shape, vocabulary) => {
                let word = self.shaped(vocabulary.name, Shape::Word(*vocabulary));
                json!({ "anyOf": [self.shaped(name, *shape), word] })
            }
            KeyPart::Words(vocabulary) => {
                one_or_several("", self.shaped(vocabulary.name, Shape::Word(*vocabulary)))
            }
            KeyPart::Table(table) => self.table_named(table),
            KeyPart::Counted(name, shape, table) => {
                json!({ "anyOf": [self.shaped(name, *shape), self.table_named(table)] })
            }
            KeyPart::Tables(table, most) => several(self.table_named(table), *most),
            KeyPart::Workloads => {
                let workload = self.workload();
                several(self.named("Workload", workload), limit::BLOCKS)
            }
            KeyPart::Factors => {
                let factors = self.factors_but_workloads("What is varied, and the levels it takes.");
                self.named("Factors", factors)
            }
            KeyPart::Exclusions => {
                let mut schema = self.choice("Combinations that are not measured.");
                schema["minProperties"] = 1.into();
                schema["properties"]["reason"] =
                    json!({ "description": "Why, for the plan.", "type": "string" });
                several(self.named("Exclude", schema), limit::EXCLUSIONS)
            }
            // `baseline` and `only`
            KeyPart::Levels => {
                let levels = self.choice("Conditions chosen by levels: by one, or by a list of them.");
                self.named("Levels", levels)
            }
            KeyPart::Offloads => {
                let features = features();
                let pattern = format!("^((transmitter|receiver)\\.)?({UNDER}\\.)?({features})$");
                self.named("DesignOffloads", one_or_several("Features of `ethtool -k`.", text(&pattern)))
            }
            KeyPart::Sysctls => {
                // A value, or a table of sysctls with a common prefix.
                let value = json!({ "type": ["integer", "string", "object"] });
                by_name(self.named("SysctlValue", value))
            }
            KeyPart::Cpus => {
                let (cpu, list) = (of_shape(limit::CPU, false), text("^[0-9]+([,-][0-9]+)*$"));
                self.named("Cpus", json!({ "anyOf": [cpu, several(cpu, limit::LEVELS), list] }))
            }
            KeyPart::Interfaces(part) => by_name(self.part(part)),
            KeyPart::Placement(table) => {
                json!({ "anyOf": [self.table_named(table), text("^irq[0-9]+-traffic[0-9]+$")] })
            }
            KeyPart::Features => by_name(by_name(self.part(&SWITCH))),
        }
    }

    fn shaped(&mut self, name: &str, shape: Shape) -> Value {
        let schema =
            if let Shape::Word(vocabulary) = shape { one_of(&vocabulary) } else { of_shape(shape, false) };
        self.named(name, schema)
    }

    fn table_named(&mut self, table: &KeyTable) -> Value {
        let schema = self.table(table);
        self.named(table.name, schema)
    }

    fn workload(&mut self) -> Value {
        let keys = KEYS.iter();
        let keys = keys.map(|key| {
            (key.name.to_owned(), described(of_shape(key.shape, key.has_default()), &key.description()))
        });
        let mut schema = object("The traffic.", keys.collect());
        let name = described(self.part(&KeyPart::Name), "What the study calls it. Default: its kind.");
        schema["properties"]["name"] = name;
        schema["properties"]["kind"] = described(self.part(&KIND), "The kind of traffic.");
        schema["required"] = json!(["kind"]);
        schema
    }

    fn choice(&mut self, description: &str) -> Value {
        let mut schema = self.factors_but_workloads(description);
        schema["properties"]["workload"] = self.of_subject(&Varied::Workload);
        schema
    }

    fn factors_but_workloads(&mut self, description: &str) -> Value {
        let mut schema = self.table_of(description, Varied::names());
        let under_side =
            self.table_of("What differs under the tunnel on this side only.", Varied::names_in(SIDE));
        let mut of_side = self.table_of("What differs on this side only.", Varied::names_in(SIDE));
        of_side["properties"][UNDER] = self.named("UnderlayOfSide", under_side);
        let of_side = self.named("OfSide", of_side);
        for side in Side::BOTH {
            schema["properties"][side.word()] = of_side.clone();
        }
        let both = Scope { side: None, underlay: true };
        let of_underlay = self.table_of("What the interfaces under the tunnel have.", Varied::names_in(both));
        schema["properties"][UNDER] = self.named("OfUnderlay", of_underlay);
        // A side's factors are under the side (`transmitter.tso`), or in a quoted key.
        let sides = Side::BOTH.map(Side::word).join("|");
        let quoted = |names: &str| format!("^((({sides})\\.)?{UNDER}|{sides})\\.({names})$");
        schema["patternProperties"] = json!({
            quoted("offloads"): self.of_subject(&Varied::Offloads(SIDE)),
            quoted(&features()): self.of_subject(&Varied::Feature(SIDE, Vec::new())),
        });
        let all_like = |one: DeviceSetting| {
            let chosen = DeviceSetting::ALL.into_iter().filter(|setting| setting.form() == one.form());
            quoted(&chosen.map(DeviceSetting::word).collect::<Vec<_>>().join("|"))
        };
        for one in [DeviceSetting::RxRing, DeviceSetting::AdaptiveRx, DeviceSetting::FlowHashUdp4] {
            let levels = self.of_subject(&Varied::Device(SIDE, one));
            schema["patternProperties"][all_like(one)] = levels;
        }
        for key in TuningKey::ALL {
            let levels = self.of_subject(&Varied::Tuning(SIDE, key));
            schema["patternProperties"][format!("^({sides})\\.{key}$")] = levels;
        }
        for key in UNDERLAY.factors() {
            let levels = self.of_subject(&Varied::Underlay(key));
            schema["patternProperties"][format!("^{UNDER}\\.{key}$")] = levels;
        }
        schema
    }

    fn table_of(&mut self, description: &str, names: impl Iterator<Item = &'static str>) -> Value {
        let levels = |name: &'static str| Some((name.to_owned(), self.of_subject(&Varied::from_name(name)?)));
        object(description, names.filter_map(levels).collect())
    }

    fn of_subject(&mut self, subject: &Varied) -> Value {
        let of_table = |table: &KeyTable, key: &str| {
            (format!("{}.{key}", table.name), table.row(key).map_or("", |row| row.help))
        };
        let named = |name: &str, help| (name.to_owned(), help);
        let (name, help) = match subject {
            Varied::Key(key) => {
                return one_or_several(key.help, of_shape(key.shape, key.has_default()));
            }
            Varied::Workload => named("Names", "The name of a workload, if there are several."),
            Varied::Scenario => named(
                "ScenarioLevels",
                "The kind of testbed; a study with this factor has no `scenario` at its top.",
            ),
            Varied::Family => named("FamilyLevels", "The version of IP."),
            Varied::Offloads(_) => {
                named("OffloadsLevels", "All offloads at once; a feature named by itself wins over it.")
            }
            Varied::Device(_, setting) => match setting.form() {
                DeviceForm::Number => named(
                    "DeviceLevels",
                    "A setting of a network device: descriptors, µs, frames or queues; `default` leaves it as it is.",
                ),
                DeviceForm::Switch => named("DeviceSwitchLevels", "A switch of a network device: on or off."),
                DeviceForm::Fields => named(
                    "DeviceFieldsLevels",
                    "The fields of a packet whose hash selects its receive queue, as letters of `ethtool -N`; `default` leaves them as they are.",
                ),
            },
            Varied::Tuning(_, key) => of_table(&MACHINE, key.word()),
            Varied::Feature(..) => named("SwitchLevels", "On or off."),
            Varied::Mtu => named("MtuLevels", "The MTU in bytes."),
            Varied::Twin => {
                named("TwinLevels", "Labels that change nothing: the same condition several times.")
            }
            Varied::Guest(key) => of_table(&GUEST, key),
            Varied::Underlay(key) => of_table(&UNDERLAY, key),
        };
        let mut one = subject.part().map(|part| self.part(part)).unwrap_or_default();
        if let Varied::Tuning(_, key) = subject {
            let other = match key {
                TuningKey::Sysctl => json!({ "type": "string" }),
                _ => json!({ "const": DEFAULT }),
            };
            one = json!({ "anyOf": [one, other] });
        }
        self.named(&name, one_or_several(help, one))
    }
}

fn object(description: &str, properties: Map<String, Value>) -> Value {
    json!({
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = description.into();
    schema
}

fn one_of(vocabulary: &Vocabulary) -> Value {
    let word = |(word, meaning): &(&str, &[&str])| json!({ "const": word, "description": Vocabulary::sentences(meaning), "type": "string" });
    let words: Vec<Value> = vocabulary.words.iter().map(word).collect();
    json!({ "description": Vocabulary::sentences(vocabulary.about), "oneOf": words })
}

fn several(one: Value, most: usize) -> Value {
    json!({ "type": "array", "items": one, "minItems": 1, "maxItems": most })
}

fn by_name(value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn of_shape(shape: Shape, has_default: bool) -> Value {
    let default = if has_default { "|^default$" } else { "" };
    match shape {
        Shape::Number(least, most) => {
            let number = json!({ "type": "integer", "minimum": least, "maximum": most });
            if has_default { json!({ "anyOf": [number, { "const": "default" }] }) } else { number }
        }
        Shape::Switch if has_default => json!({ "enum": ["on", "off", "default", true, false] }),
        Shape::Switch => json!({ "enum": ["on", "off", true, false] }),
        Shape::Pace => text(&format!(r"^\s*\d+(\.\d+)?\s*([kKmMgGtT]?[bB][iI][tT])\s*${default}")),
        Shape::Share => text(&format!(r"^\s*\d+(\.\d+)?\s*%\s*${default}")),
        Shape::Time(..) => text(&format!(r"^\s*(\d+(\.\d+)?(h|m|s|ms|us|ns)\s*)+${default}")),
        Shape::Word(words) => json!({ "enum": words.spellings() }),
        Shape::Name(most) => text(&format!("^[A-Za-z0-9_-]{{1,{most}}}$")),
    }
}

fn one_or_several(description: &str, one: Value) -> Value {
    let several = json!({ "type": "array", "items": one, "minItems": 1, "uniqueItems": true });
    json!({ "anyOf": [one, several], "description": description })
}

fn features() -> String {
    words::feature::names().collect::<Vec<_>>().join("|")
}
