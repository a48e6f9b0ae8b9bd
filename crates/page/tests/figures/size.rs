//! Pages stay small.

use netassay_page::{Study, figures};

use crate::made_up::{large, shown};

fn bytes(studies: &[Study]) -> usize {
    let sections = figures::sections(studies);
    let figures = sections.iter().flat_map(|section| section.figures.iter().chain(&section.folded));
    figures.map(|figure| figure.html().as_str().len()).sum()
}

#[test]
fn the_figures_of_a_thousand_runs_are_half_a_page() {
    for (conditions, boots, runs) in [(10, 10, 10), (40, 5, 5), (4, 3, 84), (100, 5, 2)] {
        let size = bytes(&[shown(&large(conditions, boots, runs))]);
        assert!(size < 500_000, "{conditions} conditions, {boots} boots, {runs} runs: {size} bytes");
    }
}
