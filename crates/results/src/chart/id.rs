//! Names of elements.

use std::fmt;

/// The name of an element in a page, for links: small letters, digits and hyphens, a letter first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    // The longest, in bytes.
    const MOST: usize = 64;

    /// A name like the text: other characters are hyphens. Different texts may get the same one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut id = String::from("f");
        for letter in text.chars().take(Self::MOST - 1) {
            match letter.to_ascii_lowercase() {
                small if small.is_ascii_alphanumeric() => id.push(small),
                _ if !id.ends_with('-') => id.push('-'),
                _ => {}
            }
        }
        let named = id[1..].starts_with(|first: char| first.is_ascii_lowercase());
        Self(if named { id.split_off(1) } else { id })
    }

    /// The name of a part of it.
    #[must_use]
    pub fn part(&self, part: &'static str) -> Self {
        Self(format!("{}-{part}", self.0))
    }

    /// As it stands in an attribute.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
