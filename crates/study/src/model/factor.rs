//! What a study varies, and the values it takes.

use words::{Copies, DEFAULT, Family, KEYS, Key, Nic, Scenario, Side, Value, feature};

use crate::model::offloads::Offloads;
use crate::model::scope::Scope;

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

    /// The kinds of testbed among its levels.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let scenario = |level: &Level| match level {
            Level::Scenario(scenario) => Some(*scenario),
            _ => None,
        };
        self.levels.iter().filter_map(scenario).collect()
    }

    /// Whether it has more than one level.
    pub fn varies(&self) -> bool {
        self.levels.len() > 1
    }

    /// A level as labels have it: a kernel by its release, unless two of its levels share that.
    pub(crate) fn short(&self, level: &Level) -> String {
        let short = level.short();
        let shared = self.levels.iter().any(|other| other != level && other.short() == short);
        if shared { level.text() } else { short }
    }

    /// The level that labels have this for.
    pub(crate) fn called(&self, short: &str) -> Option<usize> {
        self.levels.iter().position(|level| self.short(level) == short)
    }

    /// The place of a level.
    pub(crate) fn position(&self, level: &Level) -> Option<usize> {
        self.levels.iter().position(|known| known == level)
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    pub(crate) fn level(&self, index: usize) -> &Level {
        &self.levels[index]
    }
}

/// What a factor is about. Two names for the same thing (`gso`, `tx-generic-segmentation`) are
/// equal here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Workload,
    /// The kind of testbed.
    Scenario,
    Family,
    Mtu,
    /// A key of the traffic.
    Key(&'static Key),
    /// Nothing at all: the same condition under several labels, which shows how often a method sees
    /// differences that are not.
    Twin,
    /// The kernel of the virtual machines.
    Kernel,
    /// What is added to its command line.
    CommandLine,
    /// The CPUs of a virtual machine.
    Vcpus,
    /// The interface of a virtual machine.
    Nic,
    /// How a virtual machine copies.
    Copies,
    /// The version of IP that carries the tunnel.
    UnderlayFamily,
    /// The MTU of the interfaces under the tunnel.
    UnderlayMtu,
    /// All offloads of some interfaces.
    Offloads(Scope),
    /// Some features of some interfaces by their kernel names.
    Feature(Scope, Vec<&'static str>),
}

impl Subject {
    /// The factors that are about the testbed as a whole and so have no sides.
    pub(crate) const WHOLE: &'static [(&'static str, Self)] = &[
        ("scenario", Self::Scenario),
        ("family", Self::Family),
        ("mtu", Self::Mtu),
        ("twin", Self::Twin),
        ("kernel", Self::Kernel),
        ("command_line", Self::CommandLine),
        ("vcpus", Self::Vcpus),
        ("nic", Self::Nic),
        ("copies", Self::Copies),
    ];

    /// The factors that are about the tunnel's underlay as a whole: `underlay.mtu`.
    pub(crate) const OF_UNDERLAY: &'static [(&'static str, Self)] =
        &[("family", Self::UnderlayFamily), ("mtu", Self::UnderlayMtu)];

    /// The subject that a factor's name means, after the scope (if any) is taken off it.
    pub(crate) fn named(scope: Scope, name: &str) -> Option<Self> {
        if name == "offloads" {
            return Some(Self::Offloads(scope));
        }
        if let Some(features) = feature::expand(name) {
            return Some(Self::Feature(scope, features));
        }
        let whole = if scope.underlay { Self::OF_UNDERLAY } else { Self::WHOLE };
        let whole = whole.iter().find(|(known, _)| *known == name).map(|(_, subject)| subject.clone());
        let key = || Key::find(name).filter(|key| key.is_factor && !scope.underlay).map(Self::Key);
        whole.or_else(key).filter(|_| scope.side.is_none())
    }

    /// The subject of a factor by its whole name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (scope, name) = Scope::split(name);
        Self::named(scope, name)
    }

    /// Every name that a factor can have, but for the sides.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::whole_names().chain(["offloads"]).chain(feature::names())
    }

    /// The names of factors that have no sides.
    pub(crate) fn whole_names() -> impl Iterator<Item = &'static str> {
        let of_traffic = KEYS.iter().filter(|key| key.is_factor).map(|key| key.name);
        Self::WHOLE.iter().map(|(name, _)| *name).chain(of_traffic)
    }

    /// Every name that a factor of a scope can have behind it.
    pub(crate) fn names_in(scope: Scope) -> impl Iterator<Item = &'static str> {
        Self::names().filter(move |name| Self::named(scope, name).is_some())
    }

    /// A level in the one spelling that [`Factor::levels`] has: `0.05ms` of `busy_poll` is `50us`.
    pub(crate) fn spelling(&self, level: String) -> String {
        match self {
            Self::Key(key) => key.parse(&level).map_or(level, |value| value.to_string()),
            _ => level,
        }
    }

    /// The interfaces it is confined to.
    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::Offloads(scope) | Self::Feature(scope, _) => *scope,
            Self::UnderlayFamily | Self::UnderlayMtu => Scope { side: None, underlay: true },
            _ => Scope::default(),
        }
    }

    /// The key of the traffic that it is.
    pub(crate) fn key(&self) -> Option<&'static Key> {
        match self {
            Self::Key(key) => Some(key),
            _ => None,
        }
    }

    /// Whether it is about virtual machines.
    pub(crate) fn is_of_guest(&self) -> bool {
        matches!(self, Self::Kernel | Self::CommandLine | Self::Vcpus | Self::Nic | Self::Copies)
    }

    /// The same subject, of one side or of both.
    pub(crate) fn on(&self, side: Option<Side>) -> Self {
        match self {
            Self::Offloads(scope) => Self::Offloads(Scope { side, ..*scope }),
            Self::Feature(scope, features) => Self::Feature(Scope { side, ..*scope }, features.clone()),
            whole => whole.clone(),
        }
    }
}

/// A value that a factor takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Level {
    /// The index of a workload, and its name.
    Workload(usize, String),
    Scenario(Scenario),
    Family(Family),
    Offloads(Offloads),
    /// On or off.
    Switch(bool),
    /// A number, or `None` for what the system does by default.
    Number(Option<u32>),
    /// The value of a key of the traffic.
    Value(Value),
    /// A label that changes nothing.
    Label(String),
    /// A kernel; `None`: the one that runs here.
    Kernel(Option<String>),
    /// An addition to a command line; `None`: nothing.
    CommandLine(Option<String>),
    /// The interface of a virtual machine.
    Nic(Nic),
    /// How a virtual machine copies.
    Copies(Copies),
}

/// The word for the kernel that runs here.
pub(crate) const RUNNING: &str = "running";

impl Level {
    /// What the file writes for it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Workload(_, name) | Self::Label(name) => name.clone(),
            Self::Scenario(scenario) => scenario.word().to_owned(),
            Self::Family(family) => family.word().to_owned(),
            Self::Offloads(offloads) => offloads.word().to_owned(),
            Self::Switch(true) => "on".to_owned(),
            Self::Switch(false) => "off".to_owned(),
            Self::Number(Some(number)) => number.to_string(),
            Self::Number(None) => DEFAULT.to_owned(),
            Self::Value(value) => value.to_string(),
            Self::Kernel(kernel) => kernel.clone().unwrap_or_else(|| RUNNING.to_owned()),
            Self::CommandLine(added) => added.clone().unwrap_or_else(|| DEFAULT.to_owned()),
            Self::Nic(nic) => nic.to_string(),
            Self::Copies(copies) => copies.to_string(),
        }
    }

    /// What labels have for it.
    fn short(&self) -> String {
        match self {
            Self::Kernel(Some(kernel)) => release(kernel).to_owned(),
            Self::CommandLine(Some(added)) if added.contains(' ') => format!("\"{added}\""),
            level => level.text(),
        }
    }
}

/// The part of a kernel's path or package that says which it is: its release where it is named
/// after that, as distributions do.
fn release(kernel: &str) -> &str {
    let last = kernel.trim_end_matches('/').rsplit('/').next().unwrap_or(kernel);
    let release = ["vmlinuz-", "vmlinux-", "bzImage-", "linux-image-"]
        .into_iter()
        .find_map(|prefix| last.strip_prefix(prefix))
        .unwrap_or(last);
    match release {
        // Every kernel's image may be called so.
        "" | "vmlinuz" | "vmlinux" | "bzImage" | "kernel" => kernel,
        release => release,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_feature_are_one_subject() {
        let named = |name| Subject::of(name).unwrap();
        assert_eq!(named("gso"), named("tx-generic-segmentation"));
        assert_eq!(named("tso"), named("tcp-segmentation-offload"));
        assert_ne!(named("tso"), named("tx-tcp-segmentation"));
        assert_ne!(named("tso"), named("tso").on(Some(Side::Receiver)));
    }

    #[test]
    fn a_kernel_goes_by_its_release() {
        for (kernel, short) in [
            ("/boot/vmlinuz-6.1.0-56-cloud-amd64", "6.1.0-56-cloud-amd64"),
            ("linux-image-6.12.9-amd64", "6.12.9-amd64"),
            ("kernels/6.18/", "6.18"),
            ("/src/linux/arch/x86/boot/bzImage", "/src/linux/arch/x86/boot/bzImage"),
            ("/", "/"),
        ] {
            assert_eq!(release(kernel), short);
        }
        let level = |kernel: &str| Level::Kernel(Some(kernel.to_owned()));
        let levels =
            vec![level("a/vmlinuz-6.1"), level("b/vmlinuz-6.1"), level("b/vmlinuz-6.6"), Level::Kernel(None)];
        let factor = Factor::new("kernel".into(), Subject::Kernel, levels);
        let short: Vec<String> = factor.levels.iter().map(|level| factor.short(level)).collect();
        assert_eq!(short, ["a/vmlinuz-6.1", "b/vmlinuz-6.1", "6.6", "running"]);
    }

    #[test]
    fn only_features_and_offloads_have_sides() {
        for scope in ["transmitter.", "underlay.", "receiver.underlay."] {
            assert!(Subject::of(&format!("{scope}offloads")).is_some());
            assert_eq!(Subject::of(&format!("{scope}tso")).unwrap().scope().to_string(), scope);
        }
        for (name, subject) in Subject::WHOLE {
            assert_eq!(Subject::of(name).as_ref(), Some(subject));
            assert_eq!(Subject::of(&format!("transmitter.{name}")), None, "{name}");
        }
        for (name, subject) in Subject::OF_UNDERLAY {
            assert_eq!(Subject::of(&format!("underlay.{name}")).as_ref(), Some(subject));
            assert_eq!(Subject::of(&format!("transmitter.underlay.{name}")), None, "{name}");
        }
        assert_eq!(Subject::of("underlay.kernel"), None);
        assert_eq!(Subject::of("verify"), None, "a precaution is no question");
        for key in KEYS.iter().filter(|key| key.is_factor) {
            assert_eq!(Subject::of(key.name), Some(Subject::Key(key)));
            assert_eq!(Subject::of(&format!("transmitter.{}", key.name)), None);
        }
        assert_eq!(Subject::of("workload"), None, "workloads become a factor by being several");
    }
}
