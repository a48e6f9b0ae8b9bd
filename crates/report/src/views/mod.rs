//! Views: each makes blocks of results, which the writers of `document` put into a form. Where a
//! view can be whole, it has every figure, else as much as is read on one screen.

mod answer;
mod compare;
mod comparison_table;
mod credit;
mod means_table;
mod method;
mod overview;
mod runs;
mod study;

pub use compare::{classic, compare};
pub use runs::{left_out, runs};
pub use study::show;

pub(crate) use answer::{answer, answers_in_full, facts};
pub(crate) use method::method;
pub(crate) use study::conditions;
