//! The values of a study file, with their limits.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use words::{KEYS, Key, Kind, Shape, Word, metric};

use crate::model::limit;
use crate::read::{Inside as Place, LadderOrder as Order};

/// The words of a vocabulary.
fn words<W: Word>() -> Schema {
    let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
    json_schema!({ "enum": words })
}

/// Types that exist only as a named part of the schema.
macro_rules! parts {
    ($($(#[$meta:meta])* $name:ident: $schema:expr;)*) => {$(
        $(#[$meta])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let schema: fn(&mut SchemaGenerator) -> Schema = $schema;
                schema(generator)
            }
        }
    )*};
}
pub(super) use parts;

macro_rules! number {
    ($limit:ident) => {
        |_| json_schema!({ "type": "integer", "minimum": limit::$limit.start(), "maximum": limit::$limit.end() })
    };
}

parts! {
    /// A name of a study or of a workload.
    Name: |_| {
        let pattern = format!("^[A-Za-z0-9][A-Za-z0-9_.-]{{0,{}}}$", limit::NAME - 1);
        json_schema!({ "type": "string", "pattern": pattern })
    };

    /// A share in percent.
    Share: |_| json_schema!({ "type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*%\s*$" });

    /// A key of a metric, in full or the bare one of a side.
    MetricKey: |_| {
        let keys: Vec<&str> = metric::keys().collect();
        json_schema!({ "enum": keys })
    };

    /// On or off.
    Switch: |_| json_schema!({ "enum": ["on", "off", true, false] });
    /// An MTU.
    Mtu: number!(MTU);
    /// Where a whole testbed can stand.
    Inside: |_| words::<Place>();
    /// In which order the offloads of a ladder go off.
    LadderOrder: |_| words::<Order>();
    /// A kernel.
    Kernel: |_| json_schema!({ "type": "string", "minLength": 1, "maxLength": limit::PATH });
    /// Parameters of a kernel.
    CommandLine: |_| json_schema!({ "type": "string", "maxLength": limit::COMMAND_LINE });
    /// A number of CPUs.
    Vcpus: number!(VCPUS);
    /// An amount of memory.
    Memory: |_| json_schema!({ "type": "string", "pattern": r"^\d+ *(MiB|GiB)$" });
    /// A number of combinations.
    Most: number!(MOST);
    /// A number of boots.
    Boots: number!(BOOTS);
    /// A number of warm-up runs.
    Warmup: number!(WARMUP);
    /// A number of recorded runs.
    Runs: number!(RECORDED);
    /// A number of looks.
    Looks: number!(LOOKS);
    /// A seed.
    Seed: number!(SEED);
}

/// A table `[[workload]]`.
pub(super) struct WorkloadTable;

impl JsonSchema for WorkloadTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Name>().to_value();
        let kind = generator.subschema_for::<Kind>().to_value();
        let mut properties = Map::new();
        properties.insert("name".to_owned(), described(name, "What the study calls it. Default: its kind."));
        properties.insert("kind".to_owned(), described(kind, "The kind of traffic."));
        for key in KEYS {
            properties.insert(key.name.to_owned(), described(of_key(key), &key.description()));
        }
        json_schema!({
            "description": "The traffic.",
            "type": "object",
            "properties": properties,
            "required": ["kind"],
            "additionalProperties": false,
        })
    }
}

fn described(mut schema: Value, description: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), description.into());
    }
    schema
}

/// What a key of the traffic may be.
pub(super) fn of_key(key: &Key) -> Value {
    let default = if key.has_default() { "|^default$" } else { "" };
    match key.shape {
        Shape::Number(least, most) => {
            let number = json!({ "type": "integer", "minimum": least, "maximum": most });
            if key.has_default() { json!({ "anyOf": [number, { "const": "default" }] }) } else { number }
        }
        Shape::Switch if key.has_default() => json!({ "enum": ["on", "off", "default", true, false] }),
        Shape::Switch => json!({ "enum": ["on", "off", true, false] }),
        Shape::Pace => {
            let pattern = format!(r"^\s*\d+(\.\d+)?\s*([kKmMgGtT]?[bB][iI][tT])\s*${default}");
            json!({ "type": "string", "pattern": pattern })
        }
        Shape::Time(..) => {
            let pattern = format!(r"^\s*(\d+(\.\d+)?(h|m|s|ms|us|ns)\s*)+${default}");
            json!({ "type": "string", "pattern": pattern })
        }
        Shape::Word(words) => json!({ "enum": (words.all)() }),
        Shape::Name(most) => {
            json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{most}}}$") })
        }
    }
}
