//! The tone of a verdict, and its colour on a terminal.

use anstyle::{AnsiColor, Style};
use stats::Verdict;
use study::metric::Better;

words::vocabulary! {
    /// The tone of a verdict: its meaning for the reader. Each form of output has its own colour or
    /// sign for it; its word is the class in HTML.
    pub enum Tone: "a tone" {
        /// A proven improvement.
        Better = "better";
        /// A proven deterioration.
        Worse = "worse";
        /// Proven, and neither direction is better.
        Proven = "proven";
        /// No difference is proven.
        Open = "open";
    }
}

impl Tone {
    /// The meaning of a verdict, if this direction is better.
    pub fn from_verdict(verdict: Verdict, better: Option<Better>) -> Self {
        match (verdict, better) {
            (Verdict::Higher, Some(Better::Higher)) | (Verdict::Lower, Some(Better::Lower)) => Self::Better,
            (Verdict::Higher, Some(Better::Lower)) | (Verdict::Lower, Some(Better::Higher)) => Self::Worse,
            (Verdict::Higher | Verdict::Lower | Verdict::Equivalent, _) => Self::Proven,
            (Verdict::NoDifferenceProven | Verdict::Inconclusive, _) => Self::Open,
        }
    }

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
pub fn colour_sequences() -> Vec<String> {
    let starts = Tone::ALL.map(|tone| tone.style().render().to_string());
    starts.into_iter().chain([Tone::Open.style().render_reset().to_string()]).collect()
}

pub(crate) fn paint(text: &str, tone: Tone) -> String {
    let style = tone.style();
    format!("{}{text}{}", style.render(), style.render_reset())
}
