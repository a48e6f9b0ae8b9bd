//! The closed vocabularies of a study file: each value has exactly one spelling.

/// A type whose values are written as one of a few words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// What such a word is called in messages, with its article: "a scenario".
    const WHAT: &'static str;

    /// Every word with its value, in the order in which they are offered to the user.
    const WORDS: &'static [(&'static str, Self)];

    /// Words of the vocabulary that this version knows of but cannot do yet.
    const NOT_BUILT_YET: &'static [&'static str] = &[];

    /// The spelling of a value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("?", |(word, _)| word)
    }

    /// The value of a spelling.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }
}

/// Displays a [`Word`] as its spelling, so that messages and files say the same.
macro_rules! display_as_word {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::word::Word::word(*self))
            }
        }
    };
}
pub(crate) use display_as_word;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Family, Offloads, Order, Reader, Scenario, Sender, Side, WorkloadKind};

    /// Each value has a word, reads back from it, and serde spells it the same way.
    fn agrees<T>(all: &[T])
    where
        T: Word + std::fmt::Display + std::fmt::Debug + serde::Serialize,
    {
        assert_eq!(all.len(), T::WORDS.len());
        for &value in all {
            assert_eq!(T::from_word(value.word()), Some(value));
            assert_eq!(serde_json::to_value(value).unwrap(), value.to_string());
        }
    }

    #[test]
    fn display_serde_and_the_file_spell_alike() {
        fn all<T: Word>() -> Vec<T> {
            T::WORDS.iter().map(|(_, value)| *value).collect()
        }
        agrees(&all::<Sender>());
        agrees(&all::<Reader>());
        agrees(&all::<Direction>());
        agrees(&all::<Scenario>());
        agrees(&[Family::Ipv4, Family::Ipv6]);
        agrees(&all::<WorkloadKind>());
        agrees(&[Offloads::Default, Offloads::None]);
        agrees(&[Order::Interleaved, Order::Sequential]);
        agrees(&[Side::Transmitter, Side::Receiver]);
    }
}
