//! A figure of a report: one drawing or several that are compared, with their tables.

use crate::chart::colour::following;
use crate::chart::drawing::{Anchor, Drawing};
use crate::chart::markup::{Attribute, Attributes, Fixed, Id, Markup};
use crate::chart::measure::{LINE, wrap};
use crate::chart::path::Area;
use crate::chart::table::write_table;
use crate::document::Table;
use crate::fixed;

/// The script of a page with figures: shows what a mark tells, and leads the keyboard's focus (Tab,
/// arrow keys, Home, End, Escape) to marks. It uses no network, and writes text only.
pub const SCRIPT: Fixed = fixed!(file "tips.js");

/// Data that can be drawn.
pub trait Plot {
    /// Draws at this width, in px, at least [`NARROWEST`]; the height is as needed.
    fn draw(&self, width: f64) -> Drawing;

    /// The data behind the drawing, as a table.
    fn table(&self) -> Table;
}

/// A figure: a description in words, and its drawings.
pub struct Figure {
    /// Its name in the page.
    pub id: Id,
    /// The subject of the figure.
    pub title: String,
    /// A description in words, for readers who do not see the drawing.
    pub description: String,
    /// The drawings; those of several are side by side where there is room.
    pub panels: Vec<Panel>,
}

/// One drawing of a figure.
pub struct Panel {
    /// A name that tells this panel from the others; empty for the only one.
    pub title: String,
    /// The plot of this panel.
    pub plot: Box<dyn Plot>,
}

/// The width of a drawing on a screen of 1280 px, in px.
pub const WIDE: f64 = 960.0;
/// The width of a drawing on a screen of 390 px, in px.
pub const NARROW: f64 = 358.0;
/// The least width of a drawing, in px.
pub const NARROWEST: f64 = 240.0;
// The paper around a picture, in px.
const MARGIN: f64 = 12.0;
// Between two panels.
const BETWEEN: f64 = 32.0;

impl Panel {
    /// A drawing with a name; empty for the only one of a figure.
    pub fn new(title: impl Into<String>, plot: impl Plot + 'static) -> Self {
        Self { title: title.into(), plot: Box::new(plot) }
    }
}

impl Figure {
    /// A figure of one drawing.
    pub fn new(id: Id, title: &str, description: &str, plot: impl Plot + 'static) -> Self {
        let panels = vec![Panel::new("", plot)];
        Self { id, title: title.to_owned(), description: description.to_owned(), panels }
    }

    /// The drawing at this width, in px.
    pub fn draw(&self, width: f64) -> Drawing {
        draw(&self.panels, width)
    }

    /// The `figure` element: title, description, drawing, tables. One panel is drawn for wide and
    /// for narrow screens; several are beside each other where there is room.
    pub fn html(&self) -> Markup {
        // Small panels wrap to the width of the screen: one drawing of each does for all screens.
        if self.panels.len() > 1 {
            return self.small_html();
        }
        self.element(|figure| {
            for (width, class) in [(WIDE, "wide"), (NARROW, "narrow")] {
                let (title, _) = self.text_ids();
                let attributes = [("class", class.into()), ("aria-labelledby", title.as_str().into())];
                svg(figure, &self.draw(width), &attributes, |_| {});
            }
        })
    }

    /// The figure with drawings for narrow screens alone: about half as long.
    pub fn small_html(&self) -> Markup {
        self.element(|figure| {
            figure.element("div", &[("class", "panels".into())], |panels| {
                for panel in self.panels.chunks(1) {
                    let (title, named) = (self.text_ids().0, words::shortened_reason(&panel[0].title));
                    let name = match named.as_str() {
                        "" => ("aria-labelledby", title.as_str().into()),
                        named => ("aria-label", named.into()),
                    };
                    svg(panels, &draw(panel, NARROW), &[name], |_| {});
                }
            });
        })
    }

    fn element(&self, drawings: impl FnOnce(&mut Markup)) -> Markup {
        let (title, about) = self.text_ids();
        let mut html = Markup::new();
        html.element("figure", &[("id", self.id.as_str().into()), ("class", "chart".into())], |figure| {
            figure.element("figcaption", &[], |caption| {
                caption.element("h3", &[("id", title.as_str().into())], |head| {
                    let link = [("href", Attribute::Link(&self.id))];
                    head.element("a", &link, |link| link.short_text(&self.title));
                });
                let named = [("id", about.as_str().into())];
                caption.element("p", &named, |inside| inside.short_text(&self.description));
            });
            drawings(figure);
            self.tables(figure);
        });
        html
    }

    fn tables(&self, figure: &mut Markup) {
        figure.element("details", &[], |details| {
            details.element("summary", &[], |inside| inside.text("The figures as a table"));
            let named = [("class", "scroll".into()), ("tabindex", "0".into()), ("role", "region".into())];
            for panel in &self.panels {
                let title = if panel.title.is_empty() { &self.title } else { &panel.title };
                // A screen reader lists regions by their labels, without what is around them.
                let own = if panel.title.is_empty() { String::new() } else { format!(": {}", panel.title) };
                let label = words::shortened_reason(&format!("{}{own}", self.title));
                let attributes = [&named[..], &[("aria-label", label.as_str().into())]].concat();
                details.element("div", &attributes, |inside| {
                    write_table(inside, None, &panel.plot.table(), |caption| caption.short_text(title));
                });
            }
        });
    }

    /// An SVG file with a drawing of this width, in px, on paper of its own, for a page of any
    /// colour: it follows the reader's theme, and is light in a program without themes.
    pub fn picture(&self, width: f64) -> Markup {
        let drawing = self.draw(width);
        // Without paper of its own dark text would be on a dark page.
        let (right, bottom) = (drawing.width + 2.0 * MARGIN, drawing.height.ceil() + 2.0 * MARGIN);
        let mut whole = Drawing::new(right);
        whole.rect("cover", Area { left: 0.0, top: 0.0, right, bottom });
        whole.place(&drawing, MARGIN, MARGIN);
        whole.height = bottom;
        let (title, about) = self.text_ids();
        let names = format!("{title} {about}");
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg".into()),
            ("class", "chart".into()),
            ("aria-labelledby", names.as_str().into()),
        ];
        let mut file = Markup::new();
        svg(&mut file, &whole, &attributes, |inside| {
            for (element, id, text) in [("title", &title, &self.title), ("desc", &about, &self.description)] {
                inside.element(element, &[("id", id.as_str().into())], |inside| inside.short_text(text));
            }
            inside.code("style", &following());
        });
        file
    }

    fn text_ids(&self) -> (Id, Id) {
        (self.id.part("title"), self.id.part("about"))
    }
}

/// The panels at this width, in px; two beside each other where there is room.
fn draw(panels: &[Panel], width: f64) -> Drawing {
    let width = width.max(NARROWEST);
    let columns = if width >= WIDE && panels.len() > 1 { 2 } else { 1 };
    let each = (width - BETWEEN * (columns - 1) as f64) / columns as f64;
    let mut whole = Drawing::new(width);
    for row in panels.chunks(columns) {
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

fn svg(to: &mut Markup, drawing: &Drawing, attributes: &Attributes<'_>, head: impl FnOnce(&mut Markup)) {
    let height = drawing.height.ceil();
    let view = format!("0 0 {} {height}", drawing.width);
    let of_all = [
        ("role", "group".into()),
        ("viewBox", view.as_str().into()),
        ("width", drawing.width.into()),
        ("height", height.into()),
    ];
    to.element("svg", &[attributes, &of_all].concat(), |svg| {
        head(svg);
        svg.append(&drawing.markup());
    });
}
