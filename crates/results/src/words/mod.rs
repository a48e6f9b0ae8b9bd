//! The form of numbers, lists and names.

pub(crate) mod lists;
pub(crate) mod number;
pub(crate) mod phrases;

use serde::Serializer;
use study::Name;

pub(crate) fn name_text<S: Serializer>(name: &Name, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name)
}
