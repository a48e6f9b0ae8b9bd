//! Guests: virtual machines of our own, booted from any kernel's image with our own initramfs.
//!
//! [`Kernel::find`] finds an image and its modules, [`fetch`] fetches a distribution's,
//! [`RunningGuest::start`] boots it in QEMU, and [`RunningGuest::port`] has each agent's pipe.

mod apt;
#[cfg(test)]
mod damage;
mod deb;
mod fetch;
#[cfg(feature = "fuzz")]
#[path = "../../fuzz/guest.rs"]
pub mod fuzz;
mod hang;
mod image;
mod initramfs;
mod kernel;
mod modules;
mod order;
mod qemu;
mod running_guest;
mod sandbox;
mod spawn;
mod tar;
mod tools;

pub use fetch::{Fetched, fetch, fetched};
pub use image::loaded_part;
pub use initramfs::Archive;
pub(crate) use initramfs::{pack, read_image};
pub use kernel::Kernel;
pub use order::GuestOrder;
pub use running_guest::{RunningGuest, serve_remote_guest};
pub(crate) use spawn::in_memory;
pub use tools::Tools;
