//! The kernel's own path of a packet: the places that it passes, which of them this kernel offers,
//! and what tracing it allows.

mod account;
mod between;
mod btf;
mod bundled;
mod chosen;
mod estimate;
mod facts;
mod ladder;
mod lane;
mod loaded;
mod object;
mod offered;
mod path;
mod phase;
mod reading;
mod resolve;
mod sampled;
mod survey;
mod tracer;

pub use account::{Account, Round, Row};
pub use between::Between;
pub use btf::{Arguments, Btf, BtfError, Packet};
pub use bundled::{Bundled, PATHS};
pub use chosen::{Candidates, Chosen, Cost, Seen, needed, unseen};
pub use estimate::{Estimate, Place};
pub use ladder::{Ladder, Rung, Step, Verdict};
pub use lane::Lane;
pub use object::ObjectError;
pub use offered::{Offered, functions};
pub use path::{At, MOST_BYTES, Path, PathError, Stage};
pub use phase::Phase;
pub use reading::{BUCKETS, Journeys, POINTS, Reading, Segment, Way};
pub use resolve::{Found, Kind, Point, Resolved, resolve};
pub use sampled::{MOST_SAMPLES, Sampled, Slice, Stamp, Stamped};
pub use survey::Survey;
pub use tracer::{Kernel, Mean, Means, Probe, TraceError, Tracer};
