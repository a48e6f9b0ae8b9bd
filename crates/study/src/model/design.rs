//! Which combinations of offloads a study measures.

use serde::{Deserialize, Serialize};
use words::grouped;

use crate::model::{NameWord, Scope};

/// On and off states of offloads; every condition reads back as its level of
/// [`OffloadDesign::factors`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffloadDesign {
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
    /// The requested state of each of [`OffloadDesign::factors`]; `true` is on.
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

impl OffloadDesign {
    /// A combination in words, for labels: `all on`, `without transmitter.tso,tx receiver.gro`.
    pub fn state_name(&self, on: &[bool]) -> String {
        self.word(on).to_string()
    }

    pub(crate) fn word(&self, on: &[bool]) -> NameWord {
        if let ([factor], [on]) = (self.factors.as_slice(), on) {
            return NameWord { factor: Some(factor.clone()), level: state(*on).to_owned() };
        }
        NameWord::alone(match common_state(on) {
            Some(state) => format!("all {state}"),
            None => format!("without {}", self.off(on, Scope::to_string, ",", " ")),
        })
    }

    /// The effects that a fraction confounds: `gso x receiver.gro = receiver.rx x tso`.
    pub fn aliases(&self) -> impl Iterator<Item = String> {
        let joined = |group: &Vec<[String; 2]>| group.iter().map(|pair| pair.join(" x ")).collect::<Vec<_>>();
        self.aliases.iter().map(move |group| joined(group).join(" = "))
    }

    /// The combination as a part of a slug: `all-on`, `no-tx-tso.tx_rx-gro`.
    pub(crate) fn slug(&self, on: &[bool]) -> String {
        if let ([factor], [on]) = (self.factors.as_slice(), on) {
            let (scope, name) = Scope::split(factor);
            return format!("{}{name}-{}", scope.short(), state(*on));
        }
        match common_state(on) {
            Some(state) => format!("all-{state}"),
            None => format!("no-{}", self.off(on, Scope::short, ".", "_")),
        }
    }

    /// The factors that are off, by their scopes.
    fn off(&self, on: &[bool], prefix: impl Fn(&Scope) -> String, inside: &str, between: &str) -> String {
        let off = self.factors.iter().zip(on).filter(|(_, on)| !**on);
        let groups = grouped(off.map(|(factor, _)| Scope::split(factor))).into_iter();
        let groups = groups.map(|(scope, names)| prefix(&scope) + &names.join(inside));
        groups.collect::<Vec<String>>().join(between)
    }
}

pub(crate) const ON: &str = "on";

pub(crate) fn state(on: bool) -> &'static str {
    if on { ON } else { "off" }
}

/// The state that all of them have.
fn common_state(on: &[bool]) -> Option<&'static str> {
    let first = on.first().is_none_or(|on| *on);
    on.iter().all(|on| *on == first).then(|| state(first))
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

    fn design(kind: DesignKind, factors: &[&str]) -> OffloadDesign {
        let factors = factors.iter().map(ToString::to_string).collect();
        OffloadDesign { kind, factors, aliases: Vec::new(), unreachable: Vec::new(), dropped: Vec::new() }
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
            assert_eq!((design.state_name(&on).as_str(), design.slug(&on).as_str()), (words, slug));
        }
    }

    #[test]
    fn a_single_one_is_on_or_off() {
        let design = design(DesignKind::Ladder, &["receiver.gro"]);
        assert_eq!(
            (design.state_name(&[true]).as_str(), design.slug(&[false]).as_str()),
            ("receiver.gro=on", "rx-gro-off")
        );
    }
}
