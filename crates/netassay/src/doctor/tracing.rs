//! What this kernel lets a tracer do.

use trace::{Capabilities, Capability, Verdict};

use super::finding::{Finding, Status};

const AREA: &str = "tracing";

pub(super) fn findings() -> Vec<Finding> {
    let can = Capabilities::probe();
    let finding = |name: &str, capability: &Capability| {
        // Nothing here needs tracing yet, so what is missing is no failure.
        let status = if capability.verdict == Verdict::No { Status::Warn } else { Status::Ok };
        let finding =
            Finding::new(AREA, name, status, format!("{}: {}", capability.verdict, capability.reason));
        if status == Status::Warn {
            finding.fix("needed only for tracing; measurements do not need it")
        } else {
            finding
        }
    };
    vec![
        finding("type information", &can.types),
        finding("raw tracepoints", &can.raw_tracepoints),
        finding("kernel probes", &can.kernel_probes),
        finding("trace files", &can.trace_files),
        finding("functions", &can.functions),
    ]
}
