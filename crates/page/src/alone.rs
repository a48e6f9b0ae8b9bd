//! One figure as a file of its own.

use chart::{Figure, Markup, Theme, WIDE};

/// The head of the page but for its title. It may load nothing: all it needs is in it.
const HEAD: &str = "<meta charset=\"utf-8\"/>\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
    <style>body{max-width:960px;margin:1rem auto;padding:0 16px;\
    font:16px system-ui,sans-serif;background:var(--chart-paper);color:var(--chart-ink)}\
    a{color:inherit}</style>";

/// The figure as an SVG file with a light background.
#[must_use]
pub fn svg(figure: &Figure) -> String {
    format!("{}\n", figure.file(WIDE, Theme::Light).as_str())
}

/// The figure as an HTML page with its table, for wide and narrow screens, light and dark. It loads
/// nothing.
#[must_use]
pub fn html(figure: &Figure) -> String {
    let mut page = Markup::new();
    page.element("html", &[("lang", "en".into())], |html| {
        html.element("head", &[], |head| {
            head.fixed(HEAD);
            head.element("title", &[], |title| title.text(&text::reason(&figure.title)));
            head.append(&chart::stylesheet());
        });
        html.element("body", &[], |body| body.element("main", &[], |main| main.append(&figure.html())));
    });
    format!("<!doctype html>\n{}\n", page.as_str())
}
