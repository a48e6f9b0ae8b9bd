//! Pages stay small.

use netassay_page::{Study, figures};

use crate::made_up::{large, shown};

fn bytes(studies: &[Study]) -> usize {
    let sections = figures::sections(studies);
    let figures = sections.iter().flat_map(|section| section.figures.iter().chain(&section.folded));
    figures.map(|figure| figure.html().as_str().len()).sum()
}

#[test]
fn the_figures_of_a_thousand_runs_leave_room_in_a_page_of_a_megabyte() {
    let few = [(10, 10, 10), (40, 5, 5), (4, 3, 84)].map(|shape| (shape, 500_000));
    for ((conditions, boots, runs), most) in few.into_iter().chain([((100, 5, 2), 700_000)]) {
        let size = bytes(&[shown(&large(conditions, boots, runs))]);
        assert!(size < most, "{conditions} conditions, {boots} boots, {runs} runs: {size} bytes");
    }
}
