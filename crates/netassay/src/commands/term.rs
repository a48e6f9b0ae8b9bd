//! `netassay help TERM`: the glossary.

use report::views;
use results::glossary::{entries, find, nearest};
use words::suggest;

use crate::cli::{self, Formatted};
use crate::failure::{Failure, bail};
use crate::output::{print, show_list};

/// `lists`: all terms, where no word is given.
pub(crate) fn define(
    words: &[String],
    lists: bool,
    markdown: bool,
    output: &Formatted,
) -> Result<(), Failure> {
    if markdown {
        return print(&views::glossary_page(&entries()));
    }
    if lists && words.is_empty() {
        return show_list("terms", &entries(), output, views::glossary_terms);
    }
    let word = words.join(" ");
    let found = find(&word);
    if found.is_empty() {
        let near = suggest::nearest(&word, cli::commands()).map(str::to_owned).or_else(|| nearest(&word));
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let word = suggest::quoted(&word);
        bail!(
            Usage,
            "no command and no term is called `{word}`; {near}`netassay help` lists all commands, `netassay help --terms` all terms"
        );
    }
    show_list("terms", &found, output, views::glossary_definitions)
}
