//! The colours of verdicts.

use anstyle::{AnsiColor, Style};

/// A proven improvement.
pub(crate) const BETTER: Style = AnsiColor::Green.on_default();
/// A proven deterioration.
pub(crate) const WORSE: Style = AnsiColor::Red.on_default();
/// Proven, and neither direction is better.
pub(crate) const PROVEN: Style = AnsiColor::Yellow.on_default();
/// Nothing is proven.
pub(crate) const OPEN: Style = Style::new().dimmed();

/// Every escape sequence that a page may hold. A terminal gets no other.
#[must_use]
pub fn sequences() -> Vec<String> {
    let styles = [BETTER, WORSE, PROVEN, OPEN];
    let starts = styles.iter().map(|style| style.render().to_string());
    starts.chain([OPEN.render_reset().to_string()]).collect()
}

/// `text` in a style.
pub(crate) fn paint(text: &str, style: Style) -> String {
    format!("{}{text}{}", style.render(), style.render_reset())
}
