//! Statistical graphics as SVG, with a table behind each.
//!
//! A plot is plain data ([`Dots`], [`Bars`], [`Forest`] …); a [`Figure`] says in words what one or
//! several of them show, and writes them as markup. Drawings are measured before any browser has
//! seen them ([`Drawing::labels`]), at one width for wide screens and one for narrow ones. Nothing
//! is read or written here, and no text of others becomes markup but through [`Markup`].

mod axis;
mod colour;
mod drawing;
mod figure;
mod frame;
mod legend;
mod markup;
mod measure;
mod path;
mod plane;
mod plots;
mod quantity;
mod table;

pub use axis::Scale;
pub(crate) use axis::ends;
pub use colour::{COLOURS, Colour, SERIES, rules_of_pages};
pub use drawing::Drawing;
pub use figure::{Figure, NARROW, NARROWEST, Panel, Plot, SCRIPT, WIDE};
pub use markup::{Attribute, Attributes, Fixed, Id, Markup};
pub use path::Area;
pub use plots::bars::{Bar, Bars};
pub use plots::curves::{Curve, Curves};
pub use plots::dots::{Dots, DotsCondition};
pub use plots::flame::{Flame, FlameStack};
pub use plots::forest::{Forest, ForestRow};
pub use plots::histogram::{Bucket, Histogram, SampleSet};
pub use plots::history::HistoryPlot;
pub use plots::lanes::{Arrow, ArrowCost, LanePlot};
pub use quantity::{Interval, Quantity};
pub(crate) use table::write_cell;
pub use table::write_table;
