//! Factors: the things that a study varies, and the levels that they take.

use words::{DeviceForm, DeviceSetting, KEYS, Key, Scenario, TuningKey, Value, Word, feature};

use crate::model::tables::{AMOUNT, FAMILY, GUEST, MACHINE, MTU, OFFLOADS, SCENARIO, SWITCH, UNDERLAY};
use crate::model::{KeyPart, Scope};

/// A factor with its levels, as the file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Its name as the file has it: `family`, `tso`, `receiver.gro`.
    pub name: String,
    pub(crate) subject: Varied,
    pub(crate) values: Vec<Value>,
}

impl Factor {
    /// Its levels as the file has them.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = String> {
        self.values.iter().map(Value::to_string)
    }

    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        self.levels().filter_map(|level| Scenario::from_word(&level)).collect()
    }

    /// Whether it has more than one level.
    pub fn varies(&self) -> bool {
        self.values.len() > 1
    }

    /// A level in a label: a kernel by its release, unless two of its levels have the same release.
    pub(crate) fn short(&self, level: &Value) -> String {
        let short = self.subject.short(level);
        let shared = self.values.iter().any(|other| other != level && self.subject.short(other) == short);
        if shared { level.to_string() } else { short }
    }
}

/// The thing that a factor changes; equal for `gso` and `tx-generic-segmentation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Varied {
    Workload,
    Scenario,
    Family,
    Mtu,
    Key(&'static Key),
    /// No change: several labels of one condition show a method's false positives.
    Twin,
    Guest(&'static str),
    Underlay(&'static str),
    Offloads(Scope),
    Device(Scope, DeviceSetting),
    Tuning(Scope, TuningKey),
    Feature(Scope, Vec<&'static str>),
}

impl Varied {
    const WHOLE: [(&'static str, Self); 4] =
        [("scenario", Self::Scenario), ("family", Self::Family), ("mtu", Self::Mtu), ("twin", Self::Twin)];

    pub(crate) fn named(scope: Scope, name: &str) -> Option<Self> {
        if name == "offloads" {
            return Some(Self::Offloads(scope));
        }
        if let Some(setting) = DeviceSetting::from_word(name) {
            return Some(Self::Device(scope, setting));
        }
        if let Some(key) = TuningKey::from_word(name) {
            return (!scope.underlay).then_some(Self::Tuning(scope, key));
        }
        if let Some(features) = feature::expand(name) {
            return Some(Self::Feature(scope, features));
        }
        match scope {
            Scope { side: Some(_), .. } => None,
            Scope { underlay: true, .. } => UNDERLAY.factor(name).map(Self::Underlay),
            _ => {
                let whole = Self::WHOLE.into_iter().find(|(known, _)| *known == name);
                let key = || Key::find(name).filter(|key| key.is_factor).map(Self::Key);
                let of_guest = || GUEST.factor(name).map(Self::Guest);
                whole.map(|(_, subject)| subject).or_else(of_guest).or_else(key)
            }
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let (scope, name) = Scope::split(name);
        Self::named(scope, name)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let of_device = DeviceSetting::ALL.into_iter().map(DeviceSetting::word);
        Self::whole_names()
            .chain(["offloads"])
            .chain(of_device)
            .chain(MACHINE.factors())
            .chain(feature::names())
    }

    pub(crate) fn whole_names() -> impl Iterator<Item = &'static str> {
        let of_traffic = KEYS.iter().filter(|key| key.is_factor).map(|key| key.name);
        Self::WHOLE.into_iter().map(|(name, _)| name).chain(GUEST.factors()).chain(of_traffic)
    }

    pub(crate) fn names_in(scope: Scope) -> impl Iterator<Item = &'static str> {
        Self::names().filter(move |name| Self::named(scope, name).is_some())
    }

    /// The values that a level may have; `None` for a key of the traffic, which declares its own.
    pub(crate) fn part(&self) -> Option<&'static KeyPart> {
        match self {
            Self::Key(_) => None,
            Self::Workload | Self::Twin => Some(&KeyPart::Name),
            Self::Scenario => Some(&SCENARIO),
            Self::Family => Some(&FAMILY),
            Self::Mtu => Some(&MTU),
            Self::Guest(key) => GUEST.row(key).map(|row| &row.part),
            Self::Underlay(key) => UNDERLAY.row(key).map(|row| &row.part),
            Self::Offloads(_) => Some(&OFFLOADS),
            Self::Device(_, setting) => Some(match setting.form() {
                DeviceForm::Number => &AMOUNT,
                DeviceForm::Switch => &SWITCH,
                DeviceForm::Fields => &KeyPart::Fields,
            }),
            Self::Tuning(_, key) => MACHINE.row(key.word()).map(|row| match &row.part {
                KeyPart::Interfaces(part) => *part,
                part => part,
            }),
            Self::Feature(..) => Some(&SWITCH),
        }
    }

    fn short(&self, level: &Value) -> String {
        let text = level.to_string();
        match self {
            Self::Guest("kernel") => release(&text).to_owned(),
            Self::Guest("command_line") if text.contains(' ') => format!("\"{text}\""),
            _ => text,
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::Offloads(scope)
            | Self::Feature(scope, _)
            | Self::Device(scope, _)
            | Self::Tuning(scope, _) => *scope,
            Self::Underlay(_) => Scope { side: None, underlay: true },
            _ => Scope::default(),
        }
    }

    pub(crate) fn key(&self) -> Option<&'static Key> {
        if let Self::Key(key) = self { Some(key) } else { None }
    }
}

/// Its release, if the path or package has it, as distributions' do.
pub(crate) fn release(kernel: &str) -> &str {
    let last = kernel.trim_end_matches('/').rsplit('/').next().unwrap_or(kernel);
    let prefixes = ["vmlinuz-", "vmlinux-", "bzImage-", "linux-image-"];
    let release = prefixes.into_iter().find_map(|prefix| last.strip_prefix(prefix)).unwrap_or(last);
    match release {
        // Every kernel's image may have this name.
        "" | "vmlinuz" | "vmlinux" | "bzImage" | "kernel" => kernel,
        release => release,
    }
}

#[cfg(test)]
mod tests;
