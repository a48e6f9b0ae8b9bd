//! A path: the places in the kernel that a packet passes, in order, as a file names them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use words::{FileError, KernelPath, Kind};

/// A file of a path has at most so many bytes.
pub const MOST_BYTES: usize = 64 << 10;
const MOST_STAGES: usize = 64;
const LONGEST_NAME: usize = 128;

/// The places that a packet passes, in order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePath {
    /// A description of the traffic and its way.
    pub about: Spanned<String>,
    /// Traffic that passes it.
    pub workload: Kind,
    /// The places; each stage ends where the next one begins.
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
}

/// A stage, by the place where it begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The box of the flow chart.
    pub label: Spanned<String>,
    /// The layer of the box.
    pub lane: Layer,
    /// Whether the functions are entered or left there.
    #[serde(default)]
    pub at: At,
    /// Whether some packets do not pass it.
    #[serde(default)]
    pub optional: bool,
    /// The functions of both versions of IP, best first.
    #[serde(default)]
    pub functions: Vec<Spanned<String>>,
    /// The functions of IPv4, best first.
    #[serde(default)]
    pub ipv4: Vec<Spanned<String>>,
    /// The functions of IPv6, best first.
    #[serde(default)]
    pub ipv6: Vec<Spanned<String>>,
    /// The tracepoints where no function can be probed.
    #[serde(default)]
    pub tracepoints: Vec<Spanned<String>>,
}

/// The end of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// The function is entered.
    #[default]
    Entry,
    /// The function returns.
    Return,
}

type PathProblem = (Range<usize>, String);

impl TracePath {
    /// Reads a file's text. `file` is only shown, never opened.
    ///
    /// # Errors
    /// With line and column: what is no TOML, unknown and missing keys, names that no function has,
    /// stages without a probe point, two stages at the same place.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let wrong = |(place, problem): PathProblem| FileError::new(file, text, place.start, problem);
        if text.len() > MOST_BYTES {
            return Err(wrong((0..0, format!("it has {} bytes: use at most {MOST_BYTES}", text.len()))));
        }
        let mut path: Self = toml::from_str(text)
            .map_err(|error| wrong((error.span().unwrap_or(0..0), error.message().to_owned())))?;
        trim(&mut path.about).map_err(wrong)?;
        let count = path.stages.len();
        if !(2..=MOST_STAGES).contains(&count) {
            return Err(wrong((0..0, format!("the path has {count} stages: give 2 to {MOST_STAGES}"))));
        }
        let mut seen = BTreeSet::new();
        for stage in &mut path.stages {
            stage.check().map_err(wrong)?;
            let label = stage.label.get_ref();
            // Both ends of a function are two stages of one label.
            if !seen.insert((label.clone(), stage.at)) {
                let problem = format!("{label:?} is a stage already, at the same end: keep one of them");
                return Err(wrong((stage.label.span(), problem)));
            }
        }
        if path.comes_in() && path.phases().last() != Some(JourneyPhase::Reading) {
            let problem = "the path begins in an interrupt, and nobody reads: end it with stages from the reader's `application` on";
            return Err(wrong((0..0, problem.to_owned())));
        }
        Ok(path)
    }

    /// A bundled path: a test reads every bundled file.
    ///
    /// # Panics
    /// For a wrong bundled path, of which there is none.
    pub fn bundled(path: KernelPath) -> Self {
        Self::parse(path.word(), bundled_text(path))
            .unwrap_or_else(|error| unreachable!("a bundled path is wrong: {error}"))
    }

    /// Whether packets come in by it.
    pub fn comes_in(&self) -> bool {
        self.phases().next() != Some(JourneyPhase::Out)
    }

    /// The phase of each stage. A path that begins in an interrupt comes in; its reader begins with
    /// the first stage of the application. Which stages lead to a packet is known when their places
    /// are chosen: until then they are [`JourneyPhase::Arriving`].
    pub fn phases(&self) -> impl Iterator<Item = JourneyPhase> + '_ {
        let comes_in = self.stages.first().is_some_and(|stage| stage.lane == Layer::Interrupt);
        let reader = self.stages.iter().position(|stage| stage.lane == Layer::Application);
        let border = reader.unwrap_or(usize::MAX);
        (0..self.stages.len()).map(move |index| match comes_in {
            false => JourneyPhase::Out,
            true if index < border => JourneyPhase::Arriving,
            true => JourneyPhase::Reading,
        })
    }
}

impl Stage {
    /// The functions of a version of IP, best first.
    pub(crate) fn functions_of(&self, ipv6: bool) -> &[Spanned<String>] {
        let own = if ipv6 { &self.ipv6 } else { &self.ipv4 };
        if own.is_empty() { &self.functions } else { own }
    }

    fn check(&mut self) -> Result<(), PathProblem> {
        trim(&mut self.label)?;
        for names in [&self.functions, &self.ipv4, &self.ipv6, &self.tracepoints] {
            check_names(names)?;
        }
        let is_clear = match [&self.ipv4, &self.ipv6].map(Vec::is_empty) {
            [true, true] => !(self.functions.is_empty() && self.tracepoints.is_empty()),
            // With one version alone, packets of the other would seem to skip the stage.
            is_empty => self.functions.is_empty() && is_empty == [false, false],
        };
        if is_clear {
            return Ok(());
        }
        let (label, place) = (self.label.get_ref(), self.label.span());
        let remedy = "give `functions`, or both `ipv4` and `ipv6`, or only `tracepoints`";
        Err((place, format!("the probe points of stage {label:?} are not clear: {remedy}")))
    }
}

// It is shown on terminals and in charts: control characters could do more there.
fn trim(text: &mut Spanned<String>) -> Result<(), PathProblem> {
    let trimmed = text.get_ref().trim().to_owned();
    let is_printable = |c: char| c.is_ascii_graphic() || c == ' ';
    if !(1..=LONGEST_NAME).contains(&trimmed.len()) || !trimmed.chars().all(is_printable) {
        let problem =
            format!("this text must have 1 to {LONGEST_NAME} printable ASCII characters: change it");
        return Err((text.span(), problem));
    }
    *text.get_mut() = trimmed;
    Ok(())
}

fn check_names(names: &[Spanned<String>]) -> Result<(), PathProblem> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (index, name) in names.iter().enumerate() {
        let text = name.get_ref();
        let is_name = (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(word);
        if !is_name || names[..index].contains(name) {
            let problem = "this is no name of a function or tracepoint, or it stands there twice: give a C name, without a \
                           suffix such as .constprop.0, which is found by itself";
            return Err((name.span(), problem.to_owned()));
        }
    }
    Ok(())
}

/// The file of a bundled path, comments included.
pub fn bundled_text(path: KernelPath) -> &'static str {
    match path {
        KernelPath::UdpTx => include_str!("../../../paths/udp-tx.toml"),
        KernelPath::UdpRx => include_str!("../../../paths/udp-rx.toml"),
        KernelPath::TcpTx => include_str!("../../../paths/tcp-tx.toml"),
        KernelPath::TcpRx => include_str!("../../../paths/tcp-rx.toml"),
    }
}

words::vocabulary! {
    /// A layer of the kernel, from the outside to the wire.
    pub enum Layer: "a layer of the kernel" {
        /// The program, and its system calls.
        Application = "application";
        /// The socket and its queues.
        Socket = "socket";
        /// UDP or TCP.
        Protocol = "protocol";
        /// IPv4 or IPv6.
        Ip = "ip";
        /// The device's queue, before or behind its driver.
        Device = "device";
        /// The driver.
        Driver = "driver";
        /// The interrupt of a packet that comes in.
        Interrupt = "interrupt";
    }
}

/// A stage's journey, in the order of the constant `PHASE` of a program (`bpf/maps.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JourneyPhase {
    /// The sending thread's.
    Out,
    /// A CPU's, before it has a packet.
    Leading,
    /// A packet's, which a CPU hands from function to function.
    Arriving,
    /// The reading thread's.
    Reading,
}

#[cfg(test)]
mod tests;
