//! What a caller says about files.

use crate::format::InputFormat;

/// How files are to be read and put together. The default reads what it recognises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format; recognised from the content when left out.
    pub format: Option<InputFormat>,
    /// The metric, by the file's word; `all` for every one. Left out: the file's main one.
    pub metric: Option<String>,
    /// `.stat`: the column of the values, from 1. Left out: the first.
    pub value_column: Option<usize>,
    /// CSV: the column of the values. Left out: `value`.
    pub value: Option<String>,
    /// CSV: the column of the conditions. Left out: `label` or `condition`.
    pub condition: Option<String>,
    /// The column that names the boot; for Go's format, the key.
    pub boot: Option<Column>,
    /// Which runs belong to the same boot, where no column says so.
    pub boots: Boots,
    /// How boots of different conditions belong together; recognised when left out.
    pub layout: Option<Layout>,
    /// The condition to compare with, by its label. Left out: the first.
    pub baseline: Option<String>,
}

/// A column of boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// No column names boots, whatever it looks like.
    None,
    /// By its name, or its number from 1 where columns have no names.
    Named(String),
}

/// Which runs belong to the same boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Boots {
    /// As the files say.
    #[default]
    Named,
    /// The values of a condition, in their order, are boots of these many runs.
    Sizes(Vec<usize>),
    /// Each file is a boot.
    PerFile,
}

/// How the boots of different conditions belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each boot measured every condition: boots of the same name or position are the same.
    Crossed,
    /// Each condition has boots of its own, whatever they are called.
    Nested,
}
