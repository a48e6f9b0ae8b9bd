//! Closed vocabularies: each value has exactly one spelling.

/// A type whose values are words, as [`vocabulary`](crate::vocabulary) declares them.
pub trait Word: Copy + PartialEq + 'static {
    /// Every word with its value, in display order.
    const WORDS: &'static [(&'static str, Self)];

    /// The words with their meanings.
    const VOCABULARY: Vocabulary;

    /// The value of a spelling.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }

    /// Why a text is not one of the words.
    fn unknown(word: &str) -> UnknownWord {
        let Vocabulary { what, .. } = Self::VOCABULARY;
        let known = Self::VOCABULARY.spellings().join(", ");
        UnknownWord { word: crate::suggest::quoted(word), what, known }
    }
}

/// A text that is none of the words of a vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not {what}: use one of {known}")]
pub struct UnknownWord {
    word: String,
    what: &'static str,
    known: String,
}

/// The words of a vocabulary with their meanings: the lines of their documentation.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// The name of the type.
    pub name: &'static str,
    /// The noun for messages, with its article: "a scenario".
    pub what: &'static str,
    /// Its meaning.
    pub about: &'static [&'static str],
    /// Each word with its meaning.
    pub words: &'static [(&'static str, &'static [&'static str])],
}

impl Vocabulary {
    /// The spelling of each word.
    pub fn spellings(&self) -> Vec<&'static str> {
        self.words.iter().map(|(word, _)| *word).collect()
    }

    /// Joins lines of documentation.
    pub fn sentences(lines: &[&str]) -> String {
        lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// Declares a [`Word`]: each value with its meaning and its one spelling for messages, files,
/// options, serde and the JSON schema, in display order. Values that are `retired` have only serde
/// and the spelling, so that stored plans are read and shown. The crate that uses it needs `serde`.
#[macro_export]
macro_rules! vocabulary {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        $visible:vis enum $type:ident: $what:literal {
            $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal $(, $default:ident)?;)+
            $(retired { $($old:ident = $old_word:literal;)+ })?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize $($(, $derive)+)?)]
        $visible enum $type {
            $($(#[doc = $meaning])+ $(#[$default])? #[serde(rename = $word)] $variant,)+
            $($(
                /// Of earlier builds: stored plans have it, and nothing else may.
                #[serde(rename = $old_word)] $old,
            )+)?
        }

        impl $crate::Word for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
            const VOCABULARY: $crate::Vocabulary = $crate::Vocabulary {
                name: stringify!($type),
                what: $what,
                about: &[$($about),+],
                words: &[$(($word, &[$($meaning),+])),+],
            };
        }

        impl $type {
            /// Every value, in display order.
            pub const ALL: [Self; <$type as $crate::Word>::WORDS.len()] = [$(Self::$variant),+];

            /// Its spelling in files, options and messages.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                    $($(Self::$old => $old_word,)+)?
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                <Self as $crate::Word>::from_word(text).ok_or_else(|| <Self as $crate::Word>::unknown(text))
            }
        }
    };
}

/// Stores a type as its text in serde: as it is displayed, and read by a function.
macro_rules! as_text {
    ($type:ty, $read:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                $read(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use as_text;

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use crate::{Direction, Family, Kind, Label, Reader, Scenario, Sender, Side, UnknownWord, Word};

    /// Each value is displayed, parsed and serialised as its word.
    fn agrees<W: Word + Display + Debug + FromStr<Err = UnknownWord> + serde::Serialize>() {
        for (word, value) in W::WORDS {
            assert_eq!(value.to_string(), *word);
            assert_eq!(word.parse(), Ok(*value));
            assert_eq!(serde_json::to_value(value).unwrap(), *word);
        }
    }

    #[test]
    fn display_serde_and_the_file_spell_alike() {
        agrees::<Sender>();
        agrees::<Reader>();
        agrees::<Direction>();
        agrees::<Scenario>();
        agrees::<Family>();
        agrees::<Kind>();
        agrees::<Label>();
        agrees::<Side>();
        assert_eq!(
            "sideways".parse::<Direction>().unwrap_err().to_string(),
            "`sideways` is not a direction: use one of forward, reverse, both"
        );
    }
}
