//! The JSON schema of a study file, for editors and other tools.
//!
//! The types here only describe the file; `read` reads it. Words, keys and limits are the reader's own, and tests hold
//! the two together.

mod levels;
mod machine;
mod part;

use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;
use words::{Family, Scenario};

use self::levels::{Exclude, Factors, Levels, Offloads};
use self::machine::MachineTable;
use self::part::{
    Boots, CommandLine, Inside, Kernel, LadderOrder, Looks, Memory, MetricKey, Most, Mtu, Name, Runs, Seed,
    Share, Switch, Vcpus, Warmup, WorkloadTable,
};
use crate::model::design::DesignKind;
use crate::model::guest::{Acceleration, Copies, Nic};
use crate::model::protocol::Order;
use crate::model::stop::Bounds;

/// The JSON schema of a study file (draft 2020-12), indented, with a line end.
pub fn schema() -> String {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<File>();
    without_null(&mut schema);
    let mut schema = schema.to_value();
    // Whether maps keep their order of insertion is up to other crates in the build; the text must not be.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema);
    format!("{}\n", text.expect("a schema is plain JSON"))
}

/// Takes `null` out of what may be left out: TOML cannot write it.
fn without_null(schema: &mut Schema) {
    transform_subschemas(&mut without_null, schema);
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(one)] = choices.as_slice() {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
}

/// A netassay study: a question, a testbed, traffic, what is varied, how often it is measured, and what is
/// compared.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(title = "netassay study")]
struct File {
    /// The name, of letters, digits, `-`, `_` and `.`.
    name: Name,
    /// The question the study asks, in one line.
    question: String,
    /// The kind of testbed.
    scenario: Scenario,
    /// `guest`: the whole testbed stands inside one virtual machine.
    inside: Option<Inside>,
    /// Whether instructions are counted instead of time: one emulated virtual machine, the same figures everywhere. Default: off.
    exact: Option<Switch>,
    /// The virtual machines.
    guest: Option<GuestTable>,
    /// What carries the tunnel.
    underlay: Option<UnderlayTable>,
    /// The traffic. Several become the factor `workload`.
    #[schemars(length(min = 1, max = 32))]
    workload: Vec<WorkloadTable>,
    /// What is varied, and the levels it takes. The last factor varies fastest.
    factors: Option<Factors>,
    /// Offloads that go on and off, and in which combinations.
    design: Option<DesignTable>,
    /// Combinations that are left out.
    #[schemars(length(min = 1, max = 1000))]
    exclude: Option<Vec<Exclude>>,
    /// How often and in which order the conditions are measured.
    protocol: Option<ProtocolTable>,
    /// What is compared. Left out: every condition with the first, in the workload's main metric.
    #[schemars(length(min = 1, max = 32))]
    comparison: Option<Vec<Comparison>>,
    /// What is changed of the machine itself.
    machine: Option<MachineTable>,
}

/// The virtual machines; all are alike.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Guest")]
struct GuestTable {
    /// A path to an image, a directory with `boot/` and `lib/modules/`, the name of a package of `netassay kernel fetch`, or
    /// `running`. Default: running.
    kernel: Option<Kernel>,
    /// What is added to the kernel's command line. Default: nothing.
    command_line: Option<CommandLine>,
    /// Its CPUs. Default: 1.
    vcpus: Option<Vcpus>,
    /// Its memory: `"512MiB"`, `"2GiB"`. Default: 512MiB.
    memory: Option<Memory>,
    /// Its network interface. Default: virtio-net.
    nic: Option<Nic>,
    /// Who executes its instructions. Default: auto.
    acceleration: Option<Acceleration>,
    /// Whether its CPUs stay on the CPUs of its side. Default: on.
    pin: Option<Switch>,
    /// Exact mode: whether its kernel copies and clears by eight bytes, or by string instructions of which every byte counts as an
    /// instruction. Default: words.
    copies: Option<Copies>,
}

/// The interfaces under the tunnel.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Underlay")]
struct UnderlayTable {
    /// The version of IP that carries the tunnel. Default: ipv4.
    family: Option<Family>,
    /// Their MTU in bytes. Default: as the scenario makes them.
    mtu: Option<Mtu>,
}

/// Offloads that go on and off, and in which combinations.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Design")]
struct DesignTable {
    /// Which combinations.
    kind: DesignKind,
    /// The features, with `transmitter.`, `receiver.` and `underlay.` before them as in `[factors]`; for a ladder in the order in
    /// which they go off.
    offloads: Offloads,
    /// (ladder) `dependencies`: what needs another goes off before it, by the kernel's rules. Default: given.
    order: Option<LadderOrder>,
    /// (fractional) the most combinations. Default: 32.
    most: Option<Most>,
}

/// How often and in which order the conditions are measured.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Protocol")]
struct ProtocolTable {
    /// Fresh starts of every host: the unit of replication. Default: 3.
    boots: Option<Boots>,
    /// Warm-up runs of each condition in each boot. Default: 1.
    warmup: Option<Warmup>,
    /// Recorded runs of each condition in each boot. Default: 10.
    runs: Option<Runs>,
    /// The order of the runs inside a boot. Default: interleaved.
    order: Option<Order>,
    /// What the order is drawn from. Default: 1.
    seed: Option<Seed>,
    /// When it may stop before the last boot. Default: never.
    stop: Option<StopTable>,
}

/// Looks at the data while they come in; the study stops when every comparison is decided.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Stop")]
struct StopTable {
    /// The smallest difference of interest, in % of the baseline.
    detect: Share,
    /// How many looks, the one after the last boot included. Default: 5.
    looks: Option<Looks>,
    /// How the error rate is spent over the looks. Default: obrien-fleming.
    bounds: Option<Bounds>,
}

/// What is compared.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
struct Comparison {
    /// The condition compared with: the level of every factor that varies. Default: the first condition.
    baseline: Option<Levels>,
    /// The metric. Default: the workload's main one. A bare metric of a side (`cpu`) is the transmitter's.
    metric: Option<MetricKey>,
    /// The conditions that take part. Default: all.
    only: Option<Levels>,
    /// Differences up to this share of the baseline do not matter: the verdict may be `equivalent`.
    equivalent: Option<Share>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{
        COMPARISON_KEYS, DESIGN_KEYS, GUEST_KEYS, MACHINE_KEYS, PROTOCOL_KEYS, STOP_KEYS, STUDY_KEYS,
        UNDERLAY_KEYS, workload_keys,
    };

    const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/study.schema.json");

    /// `UPDATE=1 cargo test -p netassay-study` writes it anew.
    #[test]
    fn the_schema_in_docs_is_up_to_date() {
        let schema = schema();
        if std::env::var_os("UPDATE").is_some_and(|update| update == "1") {
            std::fs::write(CHECKED_IN, &schema).unwrap();
        }
        let checked_in = std::fs::read_to_string(CHECKED_IN).unwrap_or_default();
        assert!(checked_in == schema, "docs/study.schema.json is out of date: run with UPDATE=1");
    }

    fn keys(schema: &Value, path: &str) -> Vec<String> {
        let object = schema.pointer(path).and_then(Value::as_object).unwrap_or_else(|| panic!("no {path}"));
        object.keys().cloned().collect()
    }

    fn sorted(keys: &[&str]) -> Vec<String> {
        let mut keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let workload_keys: Vec<&str> = workload_keys().collect();
        for (path, known) in [
            ("/properties", STUDY_KEYS),
            ("/$defs/Workload/properties", &workload_keys),
            ("/$defs/Protocol/properties", PROTOCOL_KEYS),
            ("/$defs/Comparison/properties", COMPARISON_KEYS),
            ("/$defs/Stop/properties", STOP_KEYS),
            ("/$defs/Guest/properties", GUEST_KEYS),
            ("/$defs/Underlay/properties", UNDERLAY_KEYS),
            ("/$defs/Design/properties", DESIGN_KEYS),
            ("/$defs/Machine/properties", MACHINE_KEYS),
        ] {
            assert_eq!(keys(&schema, path), sorted(known), "{path}");
        }
        assert_eq!(schema["required"], serde_json::json!(["name", "question", "scenario", "workload"]));
        assert_eq!(schema["$defs"]["Workload"]["required"], serde_json::json!(["kind"]));
        assert_eq!(schema["$defs"]["Design"]["required"], serde_json::json!(["kind", "offloads"]));
        assert_eq!(schema["$defs"]["Protocol"]["required"], Value::Null);
        assert_eq!(schema["$defs"]["Comparison"]["required"], Value::Null);
    }
}
