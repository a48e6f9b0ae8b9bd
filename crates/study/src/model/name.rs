//! Names of conditions.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A condition's name for people, word by word, and as text: `ipv4 offloads=none`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<NameWord>", into = "Vec<NameWord>")]
pub struct Name {
    words: Vec<NameWord>,
    text: String,
}

/// A level in a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameWord {
    /// Its factor; `None` where the level alone says enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// The level as people write it, or the name of a design's combination.
    pub level: String,
}

impl Name {
    /// The name as people read it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its words, in their order.
    pub fn words(&self) -> &[NameWord] {
        &self.words
    }
}

impl NameWord {
    pub(crate) fn alone(level: String) -> Self {
        Self { factor: None, level }
    }
}

impl From<Vec<NameWord>> for Name {
    fn from(words: Vec<NameWord>) -> Self {
        Self { text: words.iter().map(NameWord::to_string).collect::<Vec<_>>().join(" "), words }
    }
}

impl From<Name> for Vec<NameWord> {
    fn from(name: Name) -> Self {
        name.words
    }
}

impl From<&str> for Name {
    /// A name that somebody gave, of no levels.
    fn from(text: &str) -> Self {
        vec![NameWord::alone(text.to_owned())].into()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl fmt::Display for NameWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.factor {
            Some(factor) => write!(f, "{factor}={}", self.level),
            None => f.write_str(&self.level),
        }
    }
}
