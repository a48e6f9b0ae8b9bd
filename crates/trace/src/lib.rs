//! The kernel's own path of a packet: the places that it passes, which of them this kernel offers,
//! and what tracing it allows.

mod btf;
mod bundled;
mod capabilities;
mod offered;
mod path;
mod resolve;

pub use btf::{Btf, BtfError};
pub use bundled::{Bundled, PATHS};
pub use capabilities::{Capabilities, Capability, Verdict};
pub use offered::{Offered, functions};
pub use path::{At, Lane, MOST_BYTES, Path, PathError, Stage};
pub use resolve::{Found, Kind, Point, Resolved, resolve};
