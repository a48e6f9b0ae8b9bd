//! A figure of a report: one drawing or several that are compared, with their tables.

use crate::colour::{self, Theme};
use crate::drawing::{Anchor, Drawing};
use crate::id::Id;
use crate::markup::Markup;
use crate::measure::{LINE, wrap};
use crate::table::Table;

/// Data that can be drawn.
pub trait Plot {
    /// Draws in so many px of width; the height is as needed. Less than [`NARROWEST`] is taken for
    /// that.
    fn draw(&self, width: f64) -> Drawing;

    /// The same data as a table.
    fn table(&self) -> Table;

    /// The same data drawn with characters, in at most so many columns; `None` where only its table
    /// says it in text.
    fn plain(&self, columns: usize) -> Option<String> {
        let _ = columns;
        None
    }
}

/// A figure: what it shows in words, and its drawings.
pub struct Figure {
    /// Its name in the page.
    pub id: Id,
    /// What it shows.
    pub title: String,
    /// What can be seen in it, for those who do not see it too.
    pub description: String,
    /// The drawings; those of several are side by side where there is room.
    pub panels: Vec<Panel>,
}

/// One drawing of a figure.
pub struct Panel {
    /// What tells it from the others; empty for the only one.
    pub title: String,
    /// What is drawn.
    pub plot: Box<dyn Plot>,
}

/// The width of a drawing on a screen of 1280 px, in px.
pub const WIDE: f64 = 960.0;
/// The width of a drawing on a screen of 390 px, in px.
pub const NARROW: f64 = 358.0;
/// The least width of a drawing, in px.
pub const NARROWEST: f64 = 240.0;
/// Between two panels.
const BETWEEN: f64 = 32.0;

impl Figure {
    /// A figure of one drawing.
    #[must_use]
    pub fn new(id: Id, title: &str, description: &str, plot: impl Plot + 'static) -> Self {
        let panels = vec![Panel { title: String::new(), plot: Box::new(plot) }];
        Self { id, title: title.to_owned(), description: description.to_owned(), panels }
    }

    /// The drawing in so many px.
    #[must_use]
    pub fn draw(&self, width: f64) -> Drawing {
        let width = width.max(NARROWEST);
        let columns = if width >= WIDE && self.panels.len() > 1 { 2 } else { 1 };
        let each = (width - BETWEEN * (columns - 1) as f64) / columns as f64;
        let mut whole = Drawing::new(width);
        for row in self.panels.chunks(columns) {
            let titles: Vec<Vec<String>> = row.iter().map(|panel| wrap(&panel.title, each, 3)).collect();
            let lines = titles.iter().map(Vec::len).max().unwrap_or(0);
            let titled = row.iter().any(|panel| !panel.title.is_empty());
            let head = if titled { lines as f64 * LINE + 8.0 } else { 0.0 };
            let mut height: f64 = 0.0;
            for ((panel, title), column) in row.iter().zip(&titles).zip(0_u8..) {
                let x = f64::from(column) * (each + BETWEEN);
                let drawing = panel.plot.draw(each);
                whole.lines("", Anchor::Start, x, whole.height + 12.0, title);
                whole.place(&drawing, x, whole.height + head);
                height = height.max(drawing.height);
            }
            whole.height += head + height + if titled { 16.0 } else { 0.0 };
        }
        whole
    }

    /// The `figure` element: title, description, drawings for wide and narrow screens, tables.
    #[must_use]
    pub fn html(&self) -> Markup {
        let mut html = Markup::new();
        html.element("figure", &[("id", self.id.as_str().into()), ("class", "chart".into())], |figure| {
            figure.element("figcaption", &[], |caption| {
                caption.element("h3", &[], |head| {
                    use crate::markup::Attribute::Link;
                    head.element("a", &[("href", Link(&self.id))], |link| {
                        link.text(&text::reason(&self.title))
                    });
                });
                caption.element("p", &[], |inside| inside.text(&text::reason(&self.description)));
            });
            figure.append(&self.svg(WIDE, "wide", None));
            figure.append(&self.svg(NARROW, "narrow", None));
            figure.element("details", &[], |details| {
                details.element("summary", &[], |inside| inside.text("The figures as a table"));
                let named = [("class", "scroll".into()), ("tabindex", "0".into()), ("role", "region".into())];
                for panel in &self.panels {
                    let title = if panel.title.is_empty() { &self.title } else { &panel.title };
                    let label = if panel.title.is_empty() {
                        text::reason(title)
                    } else {
                        text::reason(&format!("{}: {}", self.title, panel.title))
                    };
                    let attributes = [&named[..], &[("aria-label", label.as_str().into())]].concat();
                    details
                        .element("div", &attributes, |inside| inside.append(&panel.plot.table().html(title)));
                }
            });
        });
        html
    }

    /// An SVG file of so many px, in the colours of a theme.
    #[must_use]
    pub fn file(&self, width: f64, theme: Theme) -> Markup {
        self.svg(width, "chart", Some(theme))
    }

    fn svg(&self, width: f64, class: &'static str, theme: Option<Theme>) -> Markup {
        let drawing = self.draw(width);
        let (title, about) = (self.id.part(class), self.id.part(class).part("about"));
        let names = format!("{title} {about}");
        let view = format!("0 0 {} {}", drawing.width, drawing.height.ceil());
        let mut svg = Markup::new();
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg".into()),
            ("class", class.into()),
            ("role", "group".into()),
            ("aria-labelledby", names.as_str().into()),
            ("viewBox", view.as_str().into()),
            ("width", drawing.width.into()),
            ("height", drawing.height.ceil().into()),
        ];
        svg.element("svg", &attributes, |svg| {
            let id = |id: &Id| id.as_str().to_owned();
            svg.element("title", &[("id", id(&title).as_str().into())], |inside| {
                inside.text(&text::reason(&self.title));
            });
            svg.element("desc", &[("id", id(&about).as_str().into())], |inside| {
                inside.text(&text::reason(&self.description));
            });
            if let Some(theme) = theme {
                svg.append(&colour::alone(theme));
            }
            svg.append(&drawing.markup());
        });
        svg
    }
}
