//! Guests: virtual machines of our own, booted from any kernel's image with our own initramfs.
//!
//! [`Kernel::find`] finds an image and its modules, [`fetch`] fetches a distribution's,
//! [`Guest::start`] packs netassay and the modules of the guest's devices into an initramfs and
//! boots it in QEMU, and [`Guest::port`] returns the two ends of each agent's pipe. Total functions
//! read foreign data (module files, kernel images, apt's output).

mod accelerator;
mod apt;
mod boot_sign;
mod console;
mod cpio;
#[cfg(test)]
mod damage;
mod deb;
mod directories;
mod elf;
mod error;
mod fetch;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hang;
pub mod identity;
mod image;
mod initramfs;
mod kernel;
mod modinfo;
mod modules;
mod monitor;
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
mod threads;
mod tools;
mod trial_cache;
mod unpack;

pub use accelerator::KvmTrial;
pub use cpio::Archive;
pub use elf::loaded_part;
pub use error::Error;
pub use fetch::{Fetched, fetch, fetched};
pub use hang::Hang;
pub(crate) use initramfs::{Initramfs, pack, read_image};
pub use kernel::Kernel;
pub use order::GuestOrder;
pub use remote_guest::{RemoteGuestError, serve_remote_guest};
pub use running_guest::Guest;
pub(crate) use spawn::in_memory;
pub use threads::Threads;
pub use tools::Tools;
pub use trial_cache::{CachedTrial, TrialCache, date};
