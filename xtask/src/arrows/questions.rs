//! The questions at the end of `ARCHITECTURE.md`: the file that answers each must be there, and
//! have what it is said to have.

use std::fs;
use std::path::Path;

const HEAD: &str = "| question | file | look for |";

/// Answers that are not true.
pub(super) fn offences(text: &str, root: &Path) -> Vec<String> {
    let rows: Vec<(&str, &str, &str)> = rows(text).collect();
    let wrong = rows.iter().filter_map(|(question, file, word)| match fs::read_to_string(root.join(file)) {
        Err(error) => Some(format!("\"{question}\": cannot read {file}: {error}")),
        Ok(code) if word.is_empty() || !code.contains(word) => {
            Some(format!("\"{question}\": {file} has no `{word}`"))
        }
        Ok(_) => None,
    });
    let few = (rows.len() < 10).then(|| format!("{} questions have a file, of at least 10", rows.len()));
    wrong.chain(few).collect()
}

/// Question, file, and what is in it.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let rows = text.lines().skip_while(|line| *line != HEAD).skip(2);
    rows.take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`'));
        let mut next = || cells.next().unwrap_or("");
        (next(), next(), next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_file_with_the_word_in_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let row = |file: &str, word: &str| format!("| where? | `{file}` | `{word}` |\n");
        let ten = row("src/main.rs", "fn main").repeat(10);
        let text = |last: &str| format!("x\n{HEAD}\n|---|---|---|\n{ten}{last}y\n");
        let found = |row: &str| offences(&text(row), root).len();
        assert_eq!(found(&row("src/main.rs", "fn main")), 0);
        assert_eq!(found(&row("src/main.rs", concat!("fn no", "where"))), 1);
        assert_eq!(found(&row("src/nowhere.rs", "fn main")), 1);
        assert_eq!(found("| where? | `src/main.rs` |\n"), 1);
        assert_eq!(offences("", root).len(), 1);
    }
}
