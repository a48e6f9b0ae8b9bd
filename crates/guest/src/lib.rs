//! Guests: virtual machines of our own, booted from any kernel's image with our own initramfs.
//!
//! [`Kernel::find`] finds an image and its modules, [`fetch`] fetches a distribution's,
//! [`Guest::start`] packs netassay and the modules of the guest's devices into an initramfs and
//! boots it in QEMU, and [`Guest::port`] returns the two ends of each agent's pipe. Total functions
//! read foreign data (module files, kernel images, apt's output).

mod accelerator;
mod apt;
mod asked;
mod console;
mod cpio;
#[cfg(test)]
mod damage;
mod data;
mod deb;
mod elf;
mod error;
mod fetch;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod guest;
pub mod identity;
mod image;
mod initramfs;
mod kernel;
mod life;
mod lodge;
mod memory;
mod modinfo;
mod modules;
mod monitor;
mod order;
mod patience;
mod payload;
mod place;
mod qemu;
mod sandbox;
mod sources;
mod tap;
mod tar;
mod threads;
mod tools;
mod unpack;

pub use accelerator::{Trial, Verdict};
pub use apt::{Candidate, candidate};
pub use cpio::Archive;
pub use elf::loaded_part;
pub use error::Error;
pub use fetch::{Fetched, fetch, fetched};
pub use guest::Guest;
pub use image::release_of;
pub use initramfs::{Initramfs, image, pack};
pub use kernel::Kernel;
pub use lodge::{LodgeError, lodge};
pub use memory::{Memory, Recalled, date};
pub use modinfo::{ModuleInfo, module_info};
pub use order::Order;
pub use patience::Hang;
pub use place::in_memory;
pub use threads::Threads;
pub use tools::Tools;
pub use words::{Accelerated, Acceleration, Copies, Nic};
