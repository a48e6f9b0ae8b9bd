//! The JSON schema of a study file, for editors and other tools: made from the reader's tables.

mod levels;
mod part;

use serde_json::{Map, Value, json};

use crate::model::tables::{STUDY, Table};

/// The JSON schema of a study file (draft 2020-12), indented, with a final newline. The same in
/// every build.
pub fn schema() -> String {
    let mut parts = Parts::default();
    let mut schema = parts.table(&STUDY);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = STUDY.name.into();
    schema["$defs"] = Value::Object(parts.0);
    // Other crates of the build decide whether maps keep their insertion order; the text must not
    // depend on that.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema);
    format!("{}\n", text.expect("a schema is plain JSON"))
}

/// The parts of the schema that have a name.
#[derive(Default)]
struct Parts(Map<String, Value>);

impl Parts {
    fn named(&mut self, name: &str, schema: Value) -> Value {
        self.0.insert(name.to_owned(), schema);
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn table(&mut self, table: &Table) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;
    use crate::model::tables::{
        BOOTS, COMPARISON, DESIGN, GUEST, MACHINE, MACHINE_OF_SIDE, PLACEMENT, PROTOCOL, STOP, UNDERLAY,
    };

    #[test]
    fn the_reader_knows_every_key_of_the_tables_and_no_other() {
        let tables = [
            ("", &STUDY),
            ("[guest]", &GUEST),
            ("[underlay]", &UNDERLAY),
            ("[design]", &DESIGN),
            ("[protocol]", &PROTOCOL),
            ("[protocol.boots]", &BOOTS),
            ("[protocol.stop]", &STOP),
            ("[[comparison]]", &COMPARISON),
            ("[machine]", &MACHINE),
            ("[machine.transmitter]", &MACHINE_OF_SIDE),
            ("[machine.placement]", &PLACEMENT),
        ];
        for (header, table) in tables {
            for key in table.keys().into_iter().chain(["wombat"]) {
                // No key has a date as its value, so each key reports it.
                let text = format!("{header}\n{key} = 1979-05-27\n");
                let problems = Study::parse("x.toml", &text).unwrap_err().to_string();
                assert_eq!(problems.contains("unknown key"), key == "wombat", "{text}{problems}");
            }
        }
    }

    #[test]
    fn what_must_be_there_is_required_and_a_default_may_be_written() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        assert_eq!(schema["required"], json!(["name", "question", "workload"]));
        for (table, required) in [
            ("Workload", json!(["kind"])),
            ("Design", json!(["kind", "offloads"])),
            ("Stop", json!(["detect"])),
            ("Protocol", Value::Null),
        ] {
            assert_eq!(schema["$defs"][table]["required"], required, "{table}");
        }
        let mtu = &schema["$defs"]["Underlay"]["properties"]["mtu"];
        assert_eq!(mtu["anyOf"][1]["const"], "default", "{mtu}");
    }
}
