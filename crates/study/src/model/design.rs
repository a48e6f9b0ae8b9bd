//! Which combinations of offloads a study measures.

use serde::{Deserialize, Serialize};
use words::grouped;

use crate::model::{NameWord, Scope};

/// On and off states of offloads; every condition reads back as its level of [`Design::factors`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Which combinations.
    pub kind: DesignKind,
    /// The names of its factors; those of a ladder in the order in which they go off.
    pub factors: Vec<String>,
    /// Pairs of factors whose joint effects a fraction cannot tell apart, in groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Vec<[String; 2]>>,
    /// Combinations that read back as others; more than once if conditions differ elsewhere too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<Unreachable>,
    /// Factors that left the design, because no interface here can switch them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
}

/// A combination that cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    /// The requested state of each of [`Design::factors`]; `true` is on.
    pub asked: Vec<bool>,
    /// The state that the factors read back.
    pub reads: Vec<bool>,
}

words::vocabulary! {
    /// Which combinations of offloads.
    pub enum DesignKind: "a design" {
        /// All on, then one after the other goes off and stays off.
        Ladder = "ladder";
        /// Every combination that can be reached.
        Factorial = "factorial";
        /// A fraction of them that still tells the main effects apart.
        Fractional = "fractional";
    }
}

impl Design {
    /// A combination in words, for labels: `all on`, `without transmitter.tso,tx receiver.gro`.
    pub fn words(&self, on: &[bool]) -> String {
        self.word(on).to_string()
    }

    pub(crate) fn word(&self, on: &[bool]) -> NameWord {
        NameWord::alone(match self.named(on) {
            Named::One(factor, level) => {
                return NameWord { factor: Some(factor.to_owned()), level: level.to_owned() };
            }
            Named::All(level) => format!("all {level}"),
            Named::Without(off) => format!("without {}", joined(&off, Scope::to_string, ",", " ")),
        })
    }

    /// The effects that a fraction confounds: `gso x receiver.gro = receiver.rx x tso`.
    pub fn aliases(&self) -> impl Iterator<Item = String> {
        let joined = |group: &Vec<[String; 2]>| group.iter().map(|pair| pair.join(" x ")).collect::<Vec<_>>();
        self.aliases.iter().map(move |group| joined(group).join(" = "))
    }

    /// The combination as a part of a slug: `all-on`, `no-tx-tso.tx_rx-gro`.
    pub(crate) fn slug(&self, on: &[bool]) -> String {
        match self.named(on) {
            Named::One(factor, level) => {
                let (scope, name) = Scope::split(factor);
                format!("{}{name}-{level}", scope.short())
            }
            Named::All(level) => format!("all-{level}"),
            Named::Without(off) => format!("no-{}", joined(&off, Scope::short, ".", "_")),
        }
    }

    fn named(&self, on: &[bool]) -> Named<'_> {
        match (self.factors.as_slice(), on) {
            ([factor], [on]) => Named::One(factor, if *on { ON } else { OFF }),
            (_, on) if on.iter().all(|on| *on) => Named::All(ON),
            (_, on) if !on.iter().any(|on| *on) => Named::All(OFF),
            _ => {
                let off = self.factors.iter().zip(on).filter(|(_, on)| !**on);
                Named::Without(grouped(off.map(|(factor, _)| Scope::split(factor))))
            }
        }
    }
}

pub(crate) const ON: &str = "on";
pub(crate) const OFF: &str = "off";

enum Named<'d> {
    One(&'d str, &'static str),
    All(&'static str),
    Without(Vec<(Scope, Vec<&'d str>)>),
}

fn joined(
    groups: &[(Scope, Vec<&str>)],
    prefix: impl Fn(&Scope) -> String,
    inside: &str,
    between: &str,
) -> String {
    let groups: Vec<String> =
        groups.iter().map(|(scope, names)| format!("{}{}", prefix(scope), names.join(inside))).collect();
    groups.join(between)
}

/// A combination of levels that is not measured, or a comparison that is not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Its label.
    pub label: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DesignKind;

    fn design(kind: DesignKind, factors: &[&str]) -> Design {
        let factors = factors.iter().map(ToString::to_string).collect();
        Design { kind, factors, aliases: Vec::new(), unreachable: Vec::new(), dropped: Vec::new() }
    }

    #[test]
    fn combinations_are_named_by_what_is_off() {
        let design = design(
            DesignKind::Factorial,
            &["transmitter.tso", "transmitter.tx", "receiver.underlay.gro", "sg"],
        );
        for (on, words, slug) in [
            ([true; 4], "all on", "all-on"),
            ([false; 4], "all off", "all-off"),
            ([false, false, true, true], "without transmitter.tso,tx", "no-tx-tso.tx"),
            (
                [true, false, false, false],
                "without transmitter.tx receiver.underlay.gro sg",
                "no-tx-tx_rx-ul-gro_sg",
            ),
        ] {
            assert_eq!((design.words(&on).as_str(), design.slug(&on).as_str()), (words, slug));
        }
    }

    #[test]
    fn a_single_one_is_on_or_off() {
        let design = design(DesignKind::Ladder, &["receiver.gro"]);
        assert_eq!(
            (design.words(&[true]).as_str(), design.slug(&[false]).as_str()),
            ("receiver.gro=on", "rx-gro-off")
        );
    }
}
