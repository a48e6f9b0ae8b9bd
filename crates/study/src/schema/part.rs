//! The values of a study file, with their limits.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::metric;
use crate::read::{Inside as Place, LadderOrder as Order, limit};
use crate::word::Word;

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

    /// A duration.
    Span: |_| json_schema!({ "type": "string", "pattern": r"^\s*(\d+(\.\d+)?(h|m|s|ms|us|ns)\s*)+$" });

    /// A share in percent.
    Share: |_| json_schema!({ "type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*%\s*$" });

    /// A key of a metric, in full or the bare one of a side.
    MetricKey: |_| {
        let keys: Vec<&str> = metric::keys().collect();
        json_schema!({ "enum": keys })
    };

    /// The size of a message or a response.
    Bytes: number!(MESSAGE);
    /// A number of flows.
    Flows: number!(FLOWS);
    /// A number of threads.
    Threads: |_| json_schema!({ "anyOf": [
        { "type": "integer", "minimum": limit::THREADS.start(), "maximum": limit::THREADS.end() },
        { "const": "default" },
    ] });
    /// The size of a socket's buffer.
    SocketBuffer: number!(SOCKET_BUFFER);
    /// A number of transactions in flight.
    InFlight: number!(IN_FLIGHT);
    /// Requests per second.
    Rate: |_| json_schema!({ "anyOf": [
        { "type": "integer", "minimum": limit::RATE.start(), "maximum": limit::RATE.end() },
        { "const": "default" },
    ] });
    /// A pace.
    Pace: |_| {
        let pattern = r"^\s*\d+(\.\d+)?\s*([kKmMgGtT]?[bB][iI][tT])\s*$|^default$";
        json_schema!({ "type": "string", "pattern": pattern })
    };
    /// A time to poll for.
    Poll: |_| {
        let pattern = r"^\s*(\d+(\.\d+)?(h|m|s|ms|us|ns)\s*)+$|^default$";
        json_schema!({ "type": "string", "pattern": pattern })
    };
    /// The name of a congestion control.
    CongestionControl: |_| {
        let pattern = format!("^[A-Za-z0-9_-]{{1,{}}}$", limit::CONGESTION_CONTROL);
        json_schema!({ "type": "string", "pattern": pattern })
    };
    /// A differentiated services code point.
    Dscp: |_| json_schema!({ "anyOf": [
        { "type": "integer", "minimum": limit::DSCP.start(), "maximum": limit::DSCP.end() },
        { "const": "default" },
    ] });
    /// On or off.
    Switch: |_| json_schema!({ "enum": ["on", "off", true, false] });
    /// On, off, or what the kind of traffic has by default.
    SwitchOrDefault: |_| json_schema!({ "enum": ["on", "off", "default", true, false] });
    /// A port.
    Port: number!(PORT);
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
