//! The tone of a verdict, and its colour on a terminal.

use anstyle::{AnsiColor, Style};

/// The tone of a verdict: its meaning for the reader. Each form of output has its own colour or
/// sign for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A proven improvement.
    Better,
    /// A proven deterioration.
    Worse,
    /// Proven, and neither direction is better.
    Proven,
    /// No difference is proven.
    Open,
}

impl Tone {
    /// Every tone.
    pub const ALL: [Tone; 4] = [Tone::Better, Tone::Worse, Tone::Proven, Tone::Open];

    /// Its colour on a terminal.
    fn style(self) -> Style {
        match self {
            Self::Better => AnsiColor::Green.on_default(),
            Self::Worse => AnsiColor::Red.on_default(),
            Self::Proven => AnsiColor::Yellow.on_default(),
            Self::Open => Style::new().dimmed(),
        }
    }
}

/// Every escape sequence that a page may hold. A terminal gets no other.
#[must_use]
pub fn colour_sequences() -> Vec<String> {
    let starts = Tone::ALL.map(|tone| tone.style().render().to_string());
    starts.into_iter().chain([Tone::Open.style().render_reset().to_string()]).collect()
}

pub(crate) fn paint(text: &str, tone: Tone) -> String {
    let style = tone.style();
    format!("{}{text}{}", style.render(), style.render_reset())
}
