//! Names as small numbers.

use std::collections::HashMap;

/// Distinct names, numbered in order of appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    /// The last one asked for: files repeat the name of a boot.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if let Some((last, number)) = &self.last
            && last == name
        {
            return *number;
        }
        let next = u32::try_from(self.numbers.len()).expect("files are limited to far fewer names");
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                self.numbers.insert(name.to_owned(), next);
                next
            }
        };
        self.last = Some((name.to_owned(), number));
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn into_names(self) -> Vec<Vec<u8>> {
        let mut names: Vec<(u32, Vec<u8>)> =
            self.numbers.into_iter().map(|(name, number)| (number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_come() {
        let mut names = Names::default();
        let numbers: Vec<u32> = [b"b", b"a", b"a", b"b", b"c"].map(|name| names.number(name)).to_vec();
        assert_eq!((numbers, names.len()), (vec![0, 1, 1, 0, 2], 3));
        assert_eq!(names.into_names(), [b"b", b"a", b"c"]);
    }
}
