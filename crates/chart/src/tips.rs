//! What a mark tells, shown where the keyboard's focus is.

use crate::fixed;
use crate::markup::Fixed;

/// The script of a page with figures. A browser shows what a mark tells where a pointer is on it;
/// this shows the same beside the mark that has the keyboard's focus, until Escape. It uses no
/// network, and writes text only.
pub const SCRIPT: Fixed = fixed!(file "tips.js");
