//! What a study varies, and the values it takes.

use crate::condition::Offloads;
use crate::duration::{format_duration, parse_duration};
use crate::family::Family;
use crate::feature;
use crate::pacing::Pacing;
use crate::setting::{Parameter, Setting};
use crate::side::Side;
use crate::word::Word;

/// A factor with its levels, as the file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    name: String,
    subject: Subject,
    levels: Vec<Level>,
}

impl Factor {
    pub(crate) fn new(name: String, subject: Subject, levels: Vec<Level>) -> Self {
        Self { name, subject, levels }
    }

    /// Its name as the file has it: `family`, `tso`, `receiver.gro`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its levels as the file has them.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = String> {
        self.levels.iter().map(Level::text)
    }

    /// Whether it has more than one level.
    pub fn varies(&self) -> bool {
        self.levels.len() > 1
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(crate) fn level(&self, index: usize) -> &Level {
        &self.levels[index]
    }
}

/// What a factor is about. Two names for the same thing (`gso`, `tx-generic-segmentation`) are equal here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Workload,
    Family,
    Checksum,
    Mtu,
    Message,
    Flows,
    SocketBuffer,
    /// How the traffic is sent and taken.
    Parameter(Parameter),
    /// Nothing at all: the same condition under several labels, which shows how often a method sees differences that are not.
    Twin,
    /// All offloads, of one side or of both.
    Offloads(Option<Side>),
    /// Some features by their kernel names, of one side or of both.
    Feature(Option<Side>, Vec<&'static str>),
}

impl Subject {
    /// The factors that are about the testbed or the traffic as a whole and so have no sides.
    pub(crate) const WHOLE: &'static [(&'static str, Self)] = &[
        ("family", Self::Family),
        ("checksum", Self::Checksum),
        ("mtu", Self::Mtu),
        ("message", Self::Message),
        ("flows", Self::Flows),
        ("socket_buffer", Self::SocketBuffer),
        ("sender", Self::Parameter(Parameter::Sender)),
        ("reader", Self::Parameter(Parameter::Reader)),
        ("direction", Self::Parameter(Parameter::Direction)),
        ("in_flight", Self::Parameter(Parameter::InFlight)),
        ("rate", Self::Parameter(Parameter::Rate)),
        ("pacing", Self::Parameter(Parameter::Pacing)),
        ("busy_poll", Self::Parameter(Parameter::BusyPoll)),
        ("congestion_control", Self::Parameter(Parameter::CongestionControl)),
        ("dscp", Self::Parameter(Parameter::Dscp)),
        ("nodelay", Self::Parameter(Parameter::Nodelay)),
        ("connected", Self::Parameter(Parameter::Connected)),
        ("twin", Self::Twin),
    ];

    /// The subject that a factor's name means, after the side (if any) is taken off it.
    pub(crate) fn named(side: Option<Side>, name: &str) -> Option<Self> {
        if name == "offloads" {
            return Some(Self::Offloads(side));
        }
        if let Some(features) = feature::expand(name) {
            return Some(Self::Feature(side, features));
        }
        let whole = Self::WHOLE.iter().find(|(known, _)| *known == name);
        whole.filter(|_| side.is_none()).map(|(_, subject)| subject.clone())
    }

    /// Every name that a factor can have, but for the sides.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let whole = Self::WHOLE.iter().map(|(name, _)| *name);
        whole.chain(["offloads"]).chain(feature::names())
    }

    /// A level in the one spelling that [`Factor::levels`] has: `0.05ms` of `busy_poll` is `50us`.
    pub(crate) fn spelling(&self, level: String) -> String {
        match self {
            Self::Parameter(Parameter::Pacing) => {
                Pacing::parse(&level).map_or(level, |pacing| pacing.to_string())
            }
            Self::Parameter(Parameter::BusyPoll) => parse_duration(&level).map_or(level, format_duration),
            _ => level,
        }
    }

    /// The side it is confined to.
    pub(crate) fn side(&self) -> Option<Side> {
        match self {
            Self::Offloads(side) | Self::Feature(side, _) => *side,
            _ => None,
        }
    }

    /// The same subject, of one side or of both.
    pub(crate) fn on(&self, side: Option<Side>) -> Self {
        match self {
            Self::Offloads(_) => Self::Offloads(side),
            Self::Feature(_, features) => Self::Feature(side, features.clone()),
            whole => whole.clone(),
        }
    }
}

/// A value that a factor takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Level {
    /// The index of a workload, and its name.
    Workload(usize, String),
    Family(Family),
    Offloads(Offloads),
    /// On or off: a feature, or the checksum.
    Switch(bool),
    /// A number, or `None` for what the system does by default.
    Number(Option<u32>),
    /// A parameter of the traffic.
    Setting(Setting),
    /// A label that changes nothing.
    Label(String),
}

impl Level {
    /// What the file writes for it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Workload(_, name) | Self::Label(name) => name.clone(),
            Self::Family(family) => family.word().to_owned(),
            Self::Offloads(offloads) => offloads.word().to_owned(),
            Self::Switch(true) => "on".to_owned(),
            Self::Switch(false) => "off".to_owned(),
            Self::Number(Some(number)) => number.to_string(),
            Self::Number(None) => "default".to_owned(),
            Self::Setting(setting) => setting.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_feature_are_one_subject() {
        let named = |name| Subject::named(None, name).unwrap();
        assert_eq!(named("gso"), named("tx-generic-segmentation"));
        assert_eq!(named("tso"), named("tcp-segmentation-offload"));
        assert_ne!(named("tso"), named("tx-tcp-segmentation"));
        assert_ne!(named("tso"), named("tso").on(Some(Side::Receiver)));
    }

    #[test]
    fn only_features_and_offloads_have_sides() {
        let side = Some(Side::Transmitter);
        assert!(Subject::named(side, "offloads").is_some());
        assert!(Subject::named(side, "tso").is_some());
        for (name, subject) in Subject::WHOLE {
            assert_eq!(Subject::named(None, name).as_ref(), Some(subject));
            assert_eq!(Subject::named(side, name), None, "{name}");
        }
        assert_eq!(Subject::named(None, "verify"), None, "a precaution is no question");
        for (name, parameter) in Parameter::WORDS.iter().filter(|(name, _)| *name != "verify") {
            assert_eq!(Subject::named(None, name), Some(Subject::Parameter(*parameter)));
        }
        assert_eq!(Subject::named(None, "workload"), None, "workloads become a factor by being several");
    }
}
