//! One way of traffic, with the ends between which it flows.

use testbed::RunOrder;

use super::end::End;

/// One way of a stream, or requests and their answers.
pub(super) struct Case<'a> {
    pub(super) order: &'a RunOrder,
    pub(super) from: &'a End<'a>,
    pub(super) to: &'a End<'a>,
}
