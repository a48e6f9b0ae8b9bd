//! `[machine]`, for the schema.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::part::{Name, Switch, parts};
use crate::model::limit;

/// What is changed of the machine itself, if the command line says `--change-machine`, and undone at the end.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes the file to schemars; nothing is ever made of it")]
#[schemars(rename = "Machine")]
pub(super) struct MachineTable {
    /// Sysctls by name: `"net.core.rmem_max" = 8388608`. Dotted names may also be written without quotes.
    sysctl: Option<BTreeMap<String, SysctlValue>>,
    /// The frequency governor of every CPU: `"performance"`.
    governor: Option<Name>,
    /// The CPUs that take all interrupts of an interface: `"eth0" = [0]`.
    irq_affinity: Option<BTreeMap<String, Cpus>>,
    /// Features of an interface: `"eth0" = { tso = false }`.
    features: Option<BTreeMap<String, BTreeMap<String, Switch>>>,
}

parts! {
    /// The value of a sysctl, or a table of sysctls whose names begin alike.
    SysctlValue: |_| json_schema!({ "type": ["integer", "string", "object"] });

    /// A list of CPUs.
    Cpus: |_| json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": limit::LEVELS,
        "items": { "type": "integer", "minimum": limit::CPU.start(), "maximum": limit::CPU.end() },
    });
}
