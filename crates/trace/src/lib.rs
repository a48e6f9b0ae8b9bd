//! The kernel's own path of a packet: the places that it passes, which of them this kernel offers,
//! and what tracing it allows.

mod account;
mod btf;
mod bundled;
mod chosen;
mod facts;
mod ladder;
mod layer;
mod loaded;
mod object;
mod offered;
mod path;
mod phase;
mod probe_counts;
mod resolve;
mod sampled;
mod survey;
mod time_between;
mod tracer;

pub use account::{Round, StageTime, TraceAccount};
pub use btf::{Arguments, Btf, BtfError, Packet};
pub use bundled::{BundledPath, PATHS};
pub use chosen::{Candidates, ChosenStage, ProbeCost, StagePoint, needed, unseen};
pub use ladder::{Availability, LadderStep, ProbeLadder, Rung};
pub use layer::Layer;
pub use object::{KernelPrograms, ObjectError};
pub use offered::{OfferedProbes, functions};
pub use path::{At, MOST_BYTES, PathError, Stage, TracePath};
pub use phase::JourneyPhase;
pub use probe_counts::{BUCKETS, Journeys, POINTS, ProbeCounts, Segment, Way};
pub use resolve::{PointKind, ProbePoint, ProbePoints, ResolvedStage, resolve};
pub use sampled::{MOST_SAMPLES, SampledPackets, Stamp, StampInterval, StampedPacket};
pub use survey::Survey;
pub use time_between::TimeBetween;
pub use tracer::{Attachment, Attachments, Probe, TraceError, Tracer};
