//! The tables of a study file whose keys are factors.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use words::{Family, Side};

use super::part::{self, CommandLine, Kernel, Mtu, Name, Vcpus, parts};
use crate::model::factor::Subject;
use crate::model::guest::{Copies, Nic};
use crate::model::offloads;
use crate::model::scope::{Scope, UNDERLAY};

parts! {
    /// `[factors]`.
    Factors: |generator| factors("What is varied, and the levels it takes.", generator);

    /// `baseline` and `only`.
    Levels: |generator| {
        let mut schema = factors("Conditions chosen by levels: by one, or by a list of them.", generator);
        let names = generator.subschema_for::<Names>().to_value();
        add(&mut schema, "workload", names);
        schema
    };

    /// `[[exclude]]`.
    Exclude: |generator| {
        let mut schema = Levels::json_schema(generator);
        schema.insert("description".to_owned(), "Combinations that are left out.".into());
        schema.insert("minProperties".to_owned(), 1.into());
        add(&mut schema, "reason", json!({ "description": "Why, for the plan.", "type": "string" }));
        schema
    };

    /// What can be varied on one side only.
    OfSide: |generator| {
        let mut schema = table("What differs on this side only.", &of(SIDE), generator);
        let underlay = generator.subschema_for::<UnderlayOfSide>().to_value();
        add(&mut schema, UNDERLAY, underlay);
        schema
    };

    /// What can be varied on one side's underlay only.
    UnderlayOfSide: |generator| table("What differs under the tunnel on this side only.", &of(SIDE), generator);

    /// What can be varied under the tunnel.
    OfUnderlay: |generator| table("What the interfaces under the tunnel have.", &of(UNDERLAYS), generator);

    /// Names of features, with the scope before them.
    Offloads: |_| {
        let features = of(SIDE).into_iter().filter(|name| *name != "offloads").collect::<Vec<_>>().join("|");
        let pattern = format!("^((transmitter|receiver)\\.)?({UNDERLAY}\\.)?({features})$");
        one_or_list("Features of `ethtool -k`.", json!({ "type": "string", "pattern": pattern }))
    };

    /// Levels of `kernel`.
    KernelLevels: |generator| {
        one_or_list("The kernel of the virtual machines.", generator.subschema_for::<Kernel>().to_value())
    };

    /// Levels of `command_line`.
    CommandLineLevels: |generator| {
        let added = generator.subschema_for::<CommandLine>().to_value();
        one_or_list("What is added to the kernel's command line; `default` is nothing.", added)
    };

    /// Levels of `vcpus`.
    VcpusLevels: |generator| {
        one_or_list("The CPUs of a virtual machine.", generator.subschema_for::<Vcpus>().to_value())
    };

    /// Levels of `nic`.
    NicLevels: |generator| {
        one_or_list("The network interface of a virtual machine.", generator.subschema_for::<Nic>().to_value())
    };

    /// Levels of `copies`.
    CopiesLevels: |generator| {
        one_or_list("How a virtual machine copies (exact mode).", generator.subschema_for::<Copies>().to_value())
    };

    /// Workloads by name.
    Names: |generator| {
        one_or_list("The name of a workload, if there are several.", generator.subschema_for::<Name>().to_value())
    };

    /// Levels of `family`.
    FamilyLevels: |generator| {
        let family = generator.subschema_for::<Family>().to_value();
        one_or_list("The version of IP.", family)
    };

    /// Levels of `offloads`.
    OffloadsLevels: |generator| {
        let offloads = generator.subschema_for::<offloads::Offloads>().to_value();
        one_or_list("All offloads at once; a feature named by itself wins over it.", offloads)
    };

    /// Levels of a feature, and of `checksum`.
    SwitchLevels: |_| one_or_list("On or off.", json!({ "enum": ["on", "off", true, false] }));

    /// Levels of `mtu`.
    MtuLevels: |generator| {
        let bytes = generator.subschema_for::<Mtu>().to_value();
        one_or_list("The MTU in bytes.", json!({ "anyOf": [bytes, { "const": "default" }] }))
    };

    /// Levels of `twin`.
    TwinLevels: |generator| {
        let label = generator.subschema_for::<Name>().to_value();
        one_or_list("Labels that change nothing: the same condition several times.", label)
    };
}

fn one_or_list(description: &str, one: Value) -> Schema {
    json_schema!({
        "description": description,
        "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "uniqueItems": true }],
    })
}

/// The factors that interfaces of a scope can have of their own.
fn of(scope: Scope) -> Vec<&'static str> {
    Subject::names_in(scope).collect()
}

/// The underlay of both sides.
const UNDERLAYS: Scope = Scope { side: None, underlay: true };

/// A side; the other one has the same factors.
const SIDE: Scope = Scope { side: Some(Side::Transmitter), underlay: false };

/// A table of these factors.
fn table(description: &str, names: &[&str], generator: &mut SchemaGenerator) -> Schema {
    let properties: Map<String, Value> = names
        .iter()
        .filter_map(|name| {
            let levels = match Subject::of(name)? {
                Subject::Workload => generator.subschema_for::<Names>(),
                Subject::Family | Subject::UnderlayFamily => generator.subschema_for::<FamilyLevels>(),
                Subject::Offloads(_) => generator.subschema_for::<OffloadsLevels>(),
                Subject::Key(key) => one_or_list(key.help, part::of_key(key)),
                Subject::Feature(..) => generator.subschema_for::<SwitchLevels>(),
                Subject::Mtu | Subject::UnderlayMtu => generator.subschema_for::<MtuLevels>(),
                Subject::Twin => generator.subschema_for::<TwinLevels>(),
                Subject::Kernel => generator.subschema_for::<KernelLevels>(),
                Subject::CommandLine => generator.subschema_for::<CommandLineLevels>(),
                Subject::Vcpus => generator.subschema_for::<VcpusLevels>(),
                Subject::Nic => generator.subschema_for::<NicLevels>(),
                Subject::Copies => generator.subschema_for::<CopiesLevels>(),
            };
            Some(((*name).to_owned(), levels.to_value()))
        })
        .collect();
    json_schema!({
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A table of all factors, with those of a side under the side (`transmitter.tso`) or as a quoted key.
fn factors(description: &str, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = table(description, &Subject::names().collect::<Vec<_>>(), generator);
    let sides = Side::BOTH.map(|side| side.to_string());
    for side in &sides {
        let of_side = generator.subschema_for::<OfSide>().to_value();
        add(&mut schema, side, of_side);
    }
    let of_underlay = generator.subschema_for::<OfUnderlay>().to_value();
    add(&mut schema, UNDERLAY, of_underlay);
    let features: Vec<&str> = of(SIDE).into_iter().filter(|name| *name != "offloads").collect();
    let sides = sides.join("|");
    let scope = format!("(({sides})\\.)?{UNDERLAY}|{sides}");
    let quoted = |names: &[&str]| format!("^({scope})\\.({})$", names.join("|"));
    let patterns = json!({
        quoted(&["offloads"]): generator.subschema_for::<OffloadsLevels>().to_value(),
        quoted(&features): generator.subschema_for::<SwitchLevels>().to_value(),
        format!("^{UNDERLAY}\\.family$"): generator.subschema_for::<FamilyLevels>().to_value(),
        format!("^{UNDERLAY}\\.mtu$"): generator.subschema_for::<MtuLevels>().to_value(),
    });
    schema.insert("patternProperties".to_owned(), patterns);
    schema
}

fn add(schema: &mut Schema, key: &str, value: Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(key.to_owned(), value);
    }
}
