//! How the traffic is sent and taken: keys of `[[workload]]`, and levels of the factors of the same names.

use std::ops::Range;
use std::time::Duration;

use toml::de::DeValue;

use crate::congestion_control::CongestionControl;
use crate::diagnostic::Problem;
use crate::mode::Reader;
use crate::pacing::{Pacing, PacingError};
use crate::read::limit;
use crate::read::problems::Problems;
use crate::read::table::Table;
use crate::read::value::Value;
use crate::setting::{Parameter, Setting};
use crate::suggest::quoted;
use crate::traffic::Traffic;
use crate::word::Word;
use crate::workload::WorkloadKind;

/// The settings that a workload writes, with their places.
pub(crate) fn read(table: &mut Table<'_>, problems: &mut Problems) -> Vec<(Setting, Range<usize>)> {
    let mut settings = Vec::new();
    for (key, parameter) in Parameter::WORDS {
        let Some(entry) = table.take(key) else { continue };
        if let Some(setting) = setting(Value::of(&entry), *parameter, problems) {
            settings.push((setting, entry.span()));
        }
    }
    settings
}

/// The traffic with those settings that its kind can have; the others are reported.
pub(crate) fn fitting(
    settings: &[(Setting, Range<usize>)],
    kind: WorkloadKind,
    problems: &mut Problems,
) -> Traffic {
    let mut traffic = Traffic::default();
    for (setting, place) in settings {
        match setting.misfit(kind) {
            Some(misfit) => problems.push(Problem::new(place.clone(), misfit.why).help(misfit.help)),
            None => traffic.set(setting),
        }
    }
    let verified = settings.iter().find(|(setting, _)| *setting == Setting::Verify(true));
    if let Some((_, place)) = verified.filter(|_| traffic.reader == Reader::Trunc) {
        let message = "`trunc` throws the bytes away unread, and `verify` is to check them";
        problems.push(Problem::new(place.clone(), message).help("remove one of the two"));
    }
    traffic
}

/// A value of a parameter.
pub(crate) fn setting(value: Value<'_>, parameter: Parameter, problems: &mut Problems) -> Option<Setting> {
    let is_default = matches!(value.value.get_ref(), DeValue::String(text) if text == "default");
    match parameter {
        Parameter::Sender => value.word(problems).map(Setting::Sender),
        Parameter::Reader => value.word(problems).map(Setting::Reader),
        Parameter::Direction => value.word(problems).map(Setting::Direction),
        Parameter::Threads => value.small_or_default(limit::THREADS, problems).map(Setting::Threads),
        Parameter::InFlight => value.small(limit::IN_FLIGHT, problems).map(Setting::InFlight),
        Parameter::Connected => value.switch(problems).map(Setting::Connected),
        Parameter::Verify => value.switch(problems).map(Setting::Verify),
        Parameter::Rate => value.small_or_default(limit::RATE, problems).map(Setting::Rate),
        Parameter::Dscp => {
            let number = value.small_or_default(limit::DSCP, problems)?;
            Some(Setting::Dscp(number.and_then(|number| u8::try_from(number).ok())))
        }
        Parameter::Pacing if is_default => Some(Setting::Pacing(None)),
        Parameter::Pacing => pacing(value, problems).map(|pacing| Setting::Pacing(Some(pacing))),
        Parameter::BusyPoll if is_default => Some(Setting::BusyPoll(None)),
        Parameter::BusyPoll => busy_poll(value, problems).map(|time| Setting::BusyPoll(Some(time))),
        Parameter::CongestionControl => congestion_control(value, problems).map(Setting::CongestionControl),
        Parameter::Nodelay if is_default => Some(Setting::Nodelay(None)),
        Parameter::Nodelay => value.switch(problems).map(|on| Setting::Nodelay(Some(on))),
    }
}

/// A pace.
fn pacing(value: Value<'_>, problems: &mut Problems) -> Option<Pacing> {
    const EXAMPLES: &str = "write it as \"500Mbit\" or \"1.5Gbit\": bits of payload per second and flow";
    let text = value.text(problems)?;
    let problem = match Pacing::parse(text) {
        Ok(pacing) => return Some(pacing),
        Err(PacingError::Range) => {
            let message = format!("`{}` must be {} to {}", value.name, Pacing::LEAST, Pacing::MOST);
            Problem::new(value.span(), message).label("out of range")
        }
        Err(error) => {
            Problem::new(value.span(), format!("`{}` is no pace: {error}", quoted(text))).help(EXAMPLES)
        }
    };
    problems.push(problem);
    None
}

/// A time to poll for, in whole microseconds.
fn busy_poll(value: Value<'_>, problems: &mut Problems) -> Option<Duration> {
    let time = value.duration(limit::BUSY_POLL, problems)?;
    if time.subsec_nanos().is_multiple_of(1_000) {
        return Some(time);
    }
    let message = format!("`{}` must be whole microseconds", value.name);
    problems.push(Problem::new(value.span(), message).help("write it as \"50us\""));
    None
}

/// A congestion control. Whether the kernel has one of that name shows when it is tried.
fn congestion_control(value: Value<'_>, problems: &mut Problems) -> Option<CongestionControl> {
    let text = value.text(problems)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !text.is_empty() && text.len() <= limit::CONGESTION_CONTROL && text.bytes().all(plain) {
        return text.parse().ok();
    }
    let message = format!("`{}` cannot be the name of a congestion control", quoted(text));
    let help = format!(
        "write it as the kernel does, such as \"cubic\" or \"bbr\" (sysctl \
         net.ipv4.tcp_available_congestion_control), at most {} letters, digits, `-` and `_`",
        limit::CONGESTION_CONTROL
    );
    problems.push(Problem::new(value.span(), message).help(help));
    None
}
