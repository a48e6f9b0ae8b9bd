//! The kernel's own path of a packet: the places that it passes, which of them this kernel offers,
//! and what tracing it allows.

mod account;
mod btf;
mod chosen;
mod facts;
mod ladder;
mod object;
mod path;
mod probe_counts;
mod resolve;
mod sampled;
mod tracer;

pub use account::{Round, StageTime, TraceAccount};
pub use btf::{Arguments, Btf, BtfError, Packet};
pub use chosen::{ChosenStage, ProbeCost, StagePoint, candidates, choose, needed, unseen};
pub use ladder::{Availability, LadderStep, ProbeLadder, Rung};
pub use object::KernelPrograms;
pub use path::{At, JourneyPhase, Layer, MOST_BYTES, Stage, TracePath, bundled_text};
pub use probe_counts::{BUCKETS, Journeys, POINTS, ProbeCounts, Segment, Way};
pub use resolve::{
    OfferedProbes, PointKind, ProbePoint, ProbePoints, ResolvedStage, Survey, functions, resolve,
};
pub use sampled::{MOST_SAMPLES, SampledPackets, Stamp, StampInterval, StampedPacket, TimeBetween};
pub use tracer::{Attachment, Attachments, Probe, TraceError, Tracer};
pub use words::FileError as PathError;
