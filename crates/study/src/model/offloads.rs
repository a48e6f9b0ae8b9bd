//! The state of all offloads of an interface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use words::{Word, display_as_word};

/// The shorthand for all offloads of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Offloads {
    /// As the machine sets them when the interface comes up.
    #[default]
    Default,
    /// All of them off.
    None,
}

impl Word for Offloads {
    const WHAT: &'static str = "a state of the offloads";
    const WORDS: &'static [(&'static str, Self)] = &[("default", Self::Default), ("none", Self::None)];
}
display_as_word!(Offloads);
