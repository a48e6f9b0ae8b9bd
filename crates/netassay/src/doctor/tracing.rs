//! What this kernel allows to trace.

use trace::{Capabilities, Capability, Verdict};

use super::finding::Finding;

const AREA: &str = "tracing";

pub(super) fn findings() -> Vec<Finding> {
    let can = Capabilities::probe();
    let finding = |name: &str, capability: &Capability| {
        let what = format!("{}: {}", capability.verdict, capability.reason);
        if capability.verdict == Verdict::No {
            // Nothing needs tracing yet, so a missing part is only a warning.
            return Finding::warn(AREA, name, what, "needed only for tracing; measurements do not need it");
        }
        Finding::ok(AREA, name, what)
    };
    vec![
        finding("type information", &can.types),
        finding("raw tracepoints", &can.raw_tracepoints),
        finding("kernel probes", &can.kernel_probes),
        finding("trace files", &can.trace_files),
        finding("functions", &can.functions),
    ]
}
