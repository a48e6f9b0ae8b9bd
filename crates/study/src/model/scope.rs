//! The interfaces that a name in a study file is about.

use std::fmt;
use words::{Side, Word};

/// The word for the interfaces under a tunnel.
pub(crate) const UNDERLAY: &str = "underlay";

/// Interfaces: of one side or of both; the ones that the traffic uses, or those under its tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scope {
    pub(crate) side: Option<Side>,
    pub(crate) underlay: bool,
}

impl Scope {
    /// The scope at the beginning of a name, and the rest: `transmitter.underlay.tso`.
    pub(crate) fn split(name: &str) -> (Self, &str) {
        let (side, rest) = match name.split_once('.').map(|(side, rest)| (Side::from_word(side), rest)) {
            Some((Some(side), rest)) => (Some(side), rest),
            _ => (None, name),
        };
        match rest.split_once('.') {
            Some((UNDERLAY, rest)) => (Self { side, underlay: true }, rest),
            _ => (Self { side, underlay: false }, rest),
        }
    }

    /// The scope that a word selects inside this one: `transmitter`, and in it `underlay`.
    pub(crate) fn within(self, word: &str) -> Option<Self> {
        match Side::from_word(word) {
            Some(side) if self == Self::default() => Some(Self { side: Some(side), ..self }),
            None if word == UNDERLAY && !self.underlay => Some(Self { underlay: true, ..self }),
            _ => None,
        }
    }

    /// The scope in a file's name: `tx-ul-`.
    pub(crate) fn short(&self) -> String {
        let side = self.side.map_or(String::new(), |side| format!("{}-", side.short()));
        if self.underlay { format!("{side}ul-") } else { side }
    }

    /// Both scopes together; `None` if they exclude each other.
    pub(crate) fn then(self, inner: Self) -> Option<Self> {
        let sides = self.side.is_some() && inner.side.is_some();
        // The side comes first: `transmitter.underlay.tso`.
        let backwards = self.underlay && (inner.underlay || inner.side.is_some());
        (!sides && !backwards)
            .then_some(Self { side: self.side.or(inner.side), underlay: self.underlay || inner.underlay })
    }
}

/// Writes the scope as a prefix of a name: empty, or with the point at its end.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(side) = self.side {
            write!(f, "{side}.")?;
        }
        if self.underlay { write!(f, "{UNDERLAY}.") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_what_it_was_written_as() {
        for (name, scope, rest) in [
            ("tso", "", "tso"),
            ("transmitter.tso", "transmitter.", "tso"),
            ("underlay.mtu", "underlay.", "mtu"),
            ("receiver.underlay.tx-udp_tnl-segmentation", "receiver.underlay.", "tx-udp_tnl-segmentation"),
            ("underlay.receiver.tso", "underlay.", "receiver.tso"),
            ("sender.tso", "", "sender.tso"),
        ] {
            let (found, left) = Scope::split(name);
            assert_eq!((found.to_string().as_str(), left), (scope, rest), "{name}");
        }
    }

    #[test]
    fn a_side_holds_an_underlay_and_not_the_other_way_round() {
        let none = Scope::default();
        let side = none.within("transmitter").unwrap();
        assert_eq!(side.within("underlay").unwrap().to_string(), "transmitter.underlay.");
        assert_eq!(side.within("receiver"), None);
        assert_eq!(none.within("underlay").unwrap().within("receiver"), None);
        assert_eq!(none.within("tso"), None);
        let underlay = Scope { underlay: true, ..none };
        assert_eq!(side.then(underlay).unwrap().to_string(), "transmitter.underlay.");
        assert_eq!(underlay.then(side), None);
        assert_eq!(underlay.then(none), Some(underlay));
    }
}
