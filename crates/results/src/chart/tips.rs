//! The script that shows a mark's text at the keyboard's focus.

use crate::chart::markup::Fixed;
use crate::fixed;

/// The script of a page with figures. A browser shows what a mark tells where a pointer is on it;
/// this leads the keyboard's focus to the marks, and shows the same beside the one that has it.
/// Each drawing is one stop of the Tab key, and arrow keys, Home and End lead from mark to mark in
/// it. Escape closes what is shown, and again leaves the drawing. Without the script no mark takes
/// the focus; the table of the figure has what they tell. It uses no network, and writes text only.
pub const SCRIPT: Fixed = fixed!(file "tips.js");
