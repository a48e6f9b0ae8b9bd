//! The congestion control of TCP.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::DEFAULT;

/// The word for each host's own.
const SYSTEM: &str = "system";

/// The longest name of a congestion control, without its final zero (`TCP_CA_NAME_MAX` of
/// linux/tcp.h).
pub(crate) const LONGEST_NAME: usize = 15;

/// TCP's congestion control.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CongestionControl {
    /// The first of [`CongestionControl::UNPACED`] that the hosts allow: it does not pace by a
    /// timer. It is chosen once, when a plan is tried, and the plan then has its name.
    #[default]
    Unpaced,
    /// Each host's own (sysctl `net.ipv4.tcp_congestion_control`).
    System,
    /// The congestion control with this kernel name.
    Named(String),
}

impl CongestionControl {
    /// The congestion controls without pacing, whose rate only the window limits, by their kernel
    /// names, the most common first. Every kernel has `reno`.
    pub const UNPACED: [&str; 2] = ["cubic", "reno"];

    /// The kernel's name to ask for; `None`: the host's own. A tried plan leaves none open where
    /// traffic has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Unpaced | Self::System => None,
            Self::Named(name) => Some(name),
        }
    }

    /// This congestion control, or `chosen` if it was left open.
    #[must_use]
    pub fn or_chosen(&self, chosen: &str) -> Self {
        if *self == Self::Unpaced { Self::Named(chosen.to_owned()) } else { self.clone() }
    }
}

impl fmt::Display for CongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unpaced => DEFAULT,
            Self::System => SYSTEM,
            Self::Named(name) => name,
        })
    }
}

impl FromStr for CongestionControl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            DEFAULT => Self::Unpaced,
            SYSTEM => Self::System,
            name => Self::Named(name.to_owned()),
        })
    }
}

impl Serialize for CongestionControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CongestionControl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().unwrap_or_else(|never| match never {}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_being_stored() {
        for (one, json) in [
            (CongestionControl::Unpaced, "\"default\""),
            (CongestionControl::System, "\"system\""),
            (CongestionControl::Named("bbr".into()), "\"bbr\""),
        ] {
            assert_eq!(serde_json::to_string(&one).unwrap(), json);
            assert_eq!(serde_json::from_str::<CongestionControl>(json).unwrap(), one);
        }
    }

    #[test]
    fn only_what_was_left_open_is_chosen() {
        let named = CongestionControl::Named("bbr".into());
        assert_eq!(CongestionControl::Unpaced.or_chosen("reno"), CongestionControl::Named("reno".into()));
        assert_eq!(CongestionControl::System.or_chosen("reno"), CongestionControl::System);
        assert_eq!(named.or_chosen("reno"), named);
    }
}
