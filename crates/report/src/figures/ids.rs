//! Names of figures in a page.

use std::collections::BTreeSet;

use results::chart::Id;

// Parts of a figure have names that begin with the figure's.
const PARTS: [&str; 2] = ["title", "about"];
// The longest name, in characters, without the number that tells it from others.
const MOST: usize = 52;

/// The names that a page has given away. The same figures in the same order get the same names, so
/// links into a page stay valid when it is rendered again.
#[derive(Default)]
pub(super) struct Ids(BTreeSet<String>);

impl Ids {
    /// A name like `words` that no other figure has.
    pub(super) fn unique(&mut self, words: &str) -> Id {
        let words: String = words.chars().take(MOST).collect();
        let mut id = Id::new(&words);
        let mut number = 1_u32;
        while !self.is_free(&id) {
            number += 1;
            id = Id::new(&format!("{words} {number}"));
        }
        for part in PARTS {
            self.0.insert(id.part(part).as_str().to_owned());
        }
        self.0.insert(id.as_str().to_owned());
        id
    }

    fn is_free(&self, id: &Id) -> bool {
        !self.0.contains(id.as_str()) && PARTS.iter().all(|part| !self.0.contains(id.part(part).as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_same_each_time() {
        let given = || -> Vec<String> {
            let mut ids = Ids::default();
            let words = ["runs tcp", "runs-tcp", "runs", "runs about", "文", "字"];
            let long = "x".repeat(300);
            words.iter().copied().chain([long.as_str(); 12]).map(|one| ids.unique(one).to_string()).collect()
        };
        let names = given();
        assert_eq!(names[..6], ["runs-tcp", "runs-tcp-2", "runs", "runs-about-2", "f-", "f-2"]);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert_eq!(names, given());
    }
}
