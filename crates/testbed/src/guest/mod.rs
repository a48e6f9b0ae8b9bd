//! Guests: virtual machines of our own, booted from any kernel's image with our own initramfs.
//!
//! [`Kernel::find`] finds an image and its modules, [`fetch`] fetches a distribution's,
//! [`Guest::start`] packs netassay and the modules of the guest's devices into an initramfs and
//! boots it in QEMU, and [`Guest::port`] returns the two ends of each agent's pipe. Total functions
//! read foreign data (module files, kernel images, apt's output).

mod accelerator;
mod apt;
mod cpio;
#[cfg(test)]
mod damage;
mod deb;
mod elf;
mod fetch;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hang;
mod image;
mod initramfs;
mod kernel;
mod modinfo;
mod modules;
mod order;
mod payload;
mod qemu;
mod remote_guest;
mod requested_package;
mod running_guest;
mod sandbox;
mod sources;
mod spawn;
mod tap;
mod tar;
mod tools;
mod unpack;

pub use accelerator::TrialOutcome;
pub use cpio::Archive;
pub use elf::loaded_part;
pub use fetch::{Fetched, fetch, fetched};
pub(crate) use initramfs::{Initramfs, pack, read_image};
pub use kernel::Kernel;
pub use order::GuestOrder;
pub use remote_guest::serve_remote_guest;
pub use running_guest::Guest;
pub(crate) use spawn::in_memory;
pub use hang::Threads;
pub use tools::Tools;
