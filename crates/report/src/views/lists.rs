//! Lists of the stored studies, and of the kernels that were fetched.

use results::{ListedKernel, ListedStudy};

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The studies of a database, in their order.
pub fn study_list(studies: &[ListedStudy]) -> Vec<Block<'static>> {
    if studies.is_empty() {
        return vec![Block::Text("no study is stored yet".to_owned())];
    }
    let mut head = vec![
        "id",
        "study",
        "scenario",
        "status",
        "started (UTC)",
        "boots",
        "runs",
        "failed",
        "invalid",
        "tags",
    ];
    let has_pairs = studies.iter().any(|study| study.pair.is_some());
    head.extend(has_pairs.then_some("pair"));
    let row = |study: &ListedStudy| {
        let mut row = cells![
            study.id,
            &study.name,
            &study.scenario,
            &study.status,
            Cell::measure(&study.started),
            study.boots,
            study.recorded_runs,
            study.failed_runs,
            study.invalid_runs,
            study.tags.join(", "),
        ];
        let pair = study.pair.as_ref();
        let pair = pair.map_or(Cell::EMPTY, |pair| format!("{pair} of {}", pair.campaign).into());
        row.extend(has_pairs.then_some(pair));
        row
    };
    let table = Table::with_rows(head, studies.iter().map(row)).optional(&[2, 5, 8, 7, 4]);
    vec![Block::Table(table.compact())]
}

/// Each kernel with its other names.
pub fn kernel_list(kernels: &[ListedKernel]) -> Vec<Block<'static>> {
    let item = |kernel: &ListedKernel| {
        let known = |word: &Option<String>| word.clone().unwrap_or_else(|| "not known".to_owned());
        let (release, version) = (known(&kernel.release), known(&kernel.version));
        let facts = kernel.aliases.iter().map(|alias| ("also called".to_owned(), alias.into())).collect();
        (format!("{} (release {release}, version {version})", kernel.package), facts)
    };
    vec![Block::Items(kernels.iter().map(item).collect())]
}
