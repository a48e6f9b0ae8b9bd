//! One figure as a file of its own.

use results::chart::{Figure, Markup, WIDE};
use results::fixed;

use crate::html::head;

/// The figure as an SVG file on paper of its own; it follows the reader's theme.
#[must_use]
pub fn svg(figure: &Figure) -> String {
    format!("{}\n", figure.picture(WIDE).as_str())
}

/// The figure as an HTML page with its table, for wide and narrow screens, light and dark. It loads
/// nothing.
#[must_use]
pub fn html(figure: &Figure) -> String {
    let mut page = Markup::new();
    page.fixed(fixed!("<!DOCTYPE html>\n"));
    page.element("html", &[("lang", "en".into())], |html| {
        head::write(html, &words::shortened_reason(&figure.title));
        html.element("body", &[], |body| body.element("main", &[], |main| main.append(&figure.html())));
    });
    format!("{}\n", page.as_str())
}
