//! A child process that does not outlive its value.

use std::process::Child;

/// Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
