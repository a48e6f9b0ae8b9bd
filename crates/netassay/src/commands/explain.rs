//! `netassay explain`: the glossary.

use report::views;
use results::glossary::{entries, find, nearest};

use crate::cli::Formatted;
use crate::failure::{Failure, bail};
use crate::output::{print, show_list};

pub(crate) fn explain(words: &[String], markdown: bool, output: &Formatted) -> Result<(), Failure> {
    if markdown {
        return print(&views::glossary_page(&entries()));
    }
    if words.is_empty() {
        return show_list("terms", &entries(), output, views::glossary_terms);
    }
    let word = words.join(" ");
    let found = find(&word);
    if found.is_empty() {
        let near = nearest(&word).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let word = words::suggest::quoted(&word);
        bail!(Usage, "the glossary has no `{word}`; {near}`netassay explain` lists all terms");
    }
    show_list("terms", &found, output, views::glossary_definitions)
}
