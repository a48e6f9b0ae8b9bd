//! Comparisons of the conditions of a study, or of values of other programs.

use results::{ClassicTest, ComparisonGroup, Comparisons, capital};

use super::answer::{lead, warning};
use super::comparison_table::compared;
use super::credit::credit;
use super::method::method;
use crate::document::Block;

// The reason why the classic test does not decide.
const CAUTION: &str = "The classic test treats the runs of a boot as independent. They are not, and it reports differences where none exist; its averages are of runs, so a boot with fewer runs weighs less in them than elsewhere.";

/// The answer, the table and the notes of each comparison; then the credit of a design.
pub fn compare(comparisons: &Comparisons, is_whole: bool) -> Vec<Block<'static>> {
    let title = match comparisons.study {
        Some(study) => format!("study {study} ({})", comparisons.name),
        None => comparisons.name.clone(),
    };
    let mut blocks = vec![Block::Heading(title)];
    let credits = comparisons.credit.as_ref();
    let disturbed = comparisons.disturbed.iter().map(|note| format!("{}.", capital(note)));
    blocks.extend(warning(&comparisons.groups, credits, comparisons.missing.as_ref(), disturbed));
    for group in &comparisons.groups {
        blocks.extend(comparison(group, is_whole));
    }
    if is_whole {
        blocks.extend(method(&comparisons.groups));
    }
    blocks.extend(credits.into_iter().flat_map(|credits| credit(credits, is_whole)));
    blocks
}

fn comparison(group: &ComparisonGroup, is_whole: bool) -> Vec<Block<'static>> {
    let is_all_pairs = group.baseline.is_none();
    let mut blocks = Vec::new();
    if !is_all_pairs {
        blocks.extend(lead(capital(&group.answer()), group));
    }
    blocks.push(Block::Table(compared(&[group], is_whole)));
    let mut sentences = Vec::new();
    // Of pairs there is no answer, which has these notes otherwise.
    for row in group.rows.iter().filter(|_| is_all_pairs) {
        let pair = row.pair();
        sentences.extend(row.comparison.gap.map(|gap| format!("{pair}: {}.", gap.as_str())));
        sentences.extend(row.remarks.iter().map(|remark| format!("{pair}: {remark}.")));
        sentences.extend(row.why().map(|why| format!("{pair}: why: {why}.")));
    }
    sentences.extend(group.caution.iter().map(|caution| format!("Caution: {caution}.")));
    // The view of the method shows them.
    let flags = group.flags.iter().filter(|_| !is_whole);
    sentences.extend(flags.map(|flag| format!("Flag: {flag}.")));
    sentences.extend(group.notes.iter().map(|note| format!("Note: {note}.")));
    blocks.extend(Block::list(sentences));
    blocks
}

/// The classic test, in ministat's words.
pub fn classic(test: &ClassicTest) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::Heading(format!("study {} ({})", test.study, test.name))];
    for group in &test.groups {
        blocks.push(Block::Text(format!("{} in {}", group.metric, group.unit)));
        blocks.push(Block::Verbatim(group.text.clone()));
    }
    blocks.push(Block::Text(CAUTION.to_owned()));
    blocks.push(Block::Text(
        "`netassay compare` without --classic uses the boot as the unit of replication.".to_owned(),
    ));
    blocks
}
