//! The value of a key, and the fields that have values.

use std::fmt;
use std::time::Duration;

use crate::duration::{format_duration, parse_duration};
use crate::mode::CongestionControl;
use crate::pacing::{Pacing, Percent};
use crate::suggest::quoted;
use crate::word::{Vocabulary, Word};
use crate::{DEFAULT, suggest};

/// A value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// The default.
    Default,
    /// A whole number.
    Number(u64),
    /// A switch: on or off.
    Switch(bool),
    /// Bits per second.
    Pace(Pacing),
    /// A share in percent.
    Share(Percent),
    /// A time.
    Time(Duration),
    /// A word or a name.
    Text(String),
}

/// Writes the value as a study file and the command line have it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad(DEFAULT),
            Self::Number(number) => number.fmt(f),
            Self::Switch(on) => f.pad(if *on { "on" } else { "off" }),
            Self::Pace(pace) => pace.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Time(time) => f.pad(&format_duration(*time)),
            Self::Text(text) => f.pad(text),
        }
    }
}

/// A field with a value that can be read and set.
pub trait Field {
    /// Its value.
    fn value(&self) -> Value;
    /// Sets it. A value of another type has no effect: reading makes none.
    fn set(&mut self, value: &Value);
}

/// A type of values.
pub trait PlainValue: Copy {
    /// Converts it to a value.
    fn to_value(self) -> Value;
    /// Converts a value of this type.
    fn of_value(value: &Value) -> Option<Self>;
}

impl<P: PlainValue> Field for P {
    fn value(&self) -> Value {
        self.to_value()
    }

    fn set(&mut self, value: &Value) {
        *self = P::of_value(value).unwrap_or(*self);
    }
}

/// `None` is the default.
impl<P: PlainValue> Field for Option<P> {
    fn value(&self) -> Value {
        self.map_or(Value::Default, P::to_value)
    }

    fn set(&mut self, value: &Value) {
        *self = if *value == Value::Default { None } else { P::of_value(value).or(*self) };
    }
}

impl Field for CongestionControl {
    fn value(&self) -> Value {
        if *self == Self::Unpaced { Value::Default } else { Value::Text(self.to_string()) }
    }

    fn set(&mut self, value: &Value) {
        if matches!(value, Value::Default | Value::Text(_)) {
            let Ok(parsed) = value.to_string().parse();
            *self = parsed;
        }
    }
}

macro_rules! plain {
    ($type:ty, $variant:ident($value:ident) => $made:expr) => {
        impl PlainValue for $type {
            fn to_value(self) -> Value {
                Value::$variant(self.into())
            }

            fn of_value(value: &Value) -> Option<Self> {
                if let Value::$variant($value) = value { $made } else { None }
            }
        }
    };
}

plain!(u64, Number(number) => Some(*number));
plain!(u32, Number(number) => Self::try_from(*number).ok());
plain!(u16, Number(number) => Self::try_from(*number).ok());
plain!(u8, Number(number) => Self::try_from(*number).ok());
plain!(bool, Switch(on) => Some(*on));
plain!(Pacing, Pace(pace) => Some(*pace));
plain!(Percent, Share(share) => Some(*share));
plain!(Duration, Time(time) => Some(*time));

impl<W: Word + fmt::Display> PlainValue for W {
    fn to_value(self) -> Value {
        Value::Text(self.to_string())
    }

    fn of_value(value: &Value) -> Option<Self> {
        if let Value::Text(word) = value { Self::from_word(word) } else { None }
    }
}

/// The values of a key.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A whole number in a range.
    Number(u64, u64),
    /// A switch: on or off.
    Switch,
    /// A number of bits per second with its unit.
    Pace,
    /// A share in percent.
    Share,
    /// A time in a range, in whole multiples of the last value.
    Time(Duration, Duration, Duration),
    /// A word of a vocabulary.
    Word(Vocabulary),
    /// A name that the kernel knows: at most this many letters, digits, `-` and `_`.
    Name(usize),
}

impl Shape {
    /// Reads a text as a value in its range, for the key of this name.
    ///
    /// # Errors
    /// [`Mistake`]: the text is not such a value.
    pub fn read(&self, name: &str, text: &str) -> Result<Value, Mistake> {
        let value = self.parse(name, text)?;
        if self.holds(&value) { Ok(value) } else { Err(self.out_of_range(name)) }
    }

    pub(crate) fn out_of_range(&self, name: &str) -> Mistake {
        let bounds = match self {
            Self::Number(least, most) => format!("{least} to {most}"),
            Self::Time(least, most, grain) => {
                let grain = if *grain > Duration::from_nanos(1) { " in whole microseconds" } else { "" };
                format!("{} to {}{grain}", format_duration(*least), format_duration(*most))
            }
            _ => "another value".to_owned(),
        };
        Mistake { message: format!("`{name}` must be {bounds}"), help: None }
    }

    /// Whether a value is in its range.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(least, most), Value::Number(number)) => (least..=most).contains(&number),
            (Self::Time(least, most, grain), Value::Time(time)) => {
                (least..=most).contains(&time) && time.as_nanos().is_multiple_of(grain.as_nanos())
            }
            (Self::Name(most), Value::Text(name)) => is_name(name, *most),
            // On `Default` the key itself decides.
            _ => true,
        }
    }

    fn parse(&self, name: &str, text: &str) -> Result<Value, Mistake> {
        let quoted = quoted(text);
        let not = |what: &str, remedy: &str| Mistake {
            message: format!("`{quoted}` is not {what}"),
            help: Some(remedy.to_owned()),
        };
        match self {
            Self::Number(least, most) => {
                let is_number =
                    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
                match text.parse() {
                    Ok(number) => Ok(Value::Number(number)),
                    Err(_) if is_number && !text.is_empty() => Err(self.out_of_range(name)),
                    Err(_) => Err(not("a whole number", &format!("write a number from {least} to {most}"))),
                }
            }
            Self::Switch => match text {
                "on" | "true" => Ok(Value::Switch(true)),
                "off" | "false" => Ok(Value::Switch(false)),
                _ => {
                    let message = format!("`{quoted}` is neither `on` nor `off`");
                    Err(Mistake { message, help: suggest::help(text, ["on", "off"]) })
                }
            },
            Self::Pace => Pacing::parse(text).map(Value::Pace).map_err(|remedy| not("a pace", remedy)),
            Self::Share => {
                Percent::parse(text).map(Value::Share).map_err(|remedy| not("a percentage", remedy))
            }
            Self::Time(..) => {
                parse_duration(text).map(Value::Time).map_err(|remedy| not("a duration", remedy))
            }
            Self::Word(vocabulary) => {
                let all = vocabulary.spellings();
                if all.contains(&text) {
                    return Ok(Value::Text(text.to_owned()));
                }
                let message = format!("`{quoted}` is not {}", vocabulary.what);
                Err(Mistake { message, help: suggest::help(text, all) })
            }
            Self::Name(most) if is_name(text, *most) => Ok(Value::Text(text.to_owned())),
            Self::Name(most) => Err(not(
                &format!("a name for `{name}`"),
                &format!("write the kernel's name, at most {most} letters, digits, `-` and `_`"),
            )),
        }
    }
}

fn is_name(text: &str, most: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !text.is_empty() && text.len() <= most && text.bytes().all(plain)
}

/// Why a text is not a value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The problem, as a sentence without a full stop.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

#[cfg(test)]
mod tests {
    use crate::Key;

    #[test]
    fn a_text_that_is_no_value_says_what_would_be() {
        for (name, text, message) in [
            ("flows", "0", "`flows` must be 1 to 100000"),
            ("flows", "-1", "`flows` must be 1 to 100000"),
            ("flows", "x", "`x` is not a whole number"),
            ("sender", "gzo", "`gzo` is not a sender"),
            ("nodelay", "yes", "`yes` is neither `on` nor `off`"),
            ("pacing", "5", "`5` is not a pace"),
            ("pacing", "2Tbit", "`2Tbit` is not a pace"),
            ("busy_poll", "1500ns", "`busy_poll` must be 1us to 100ms in whole microseconds"),
            ("path_loss", "0.1", "`0.1` is not a percentage"),
            ("path_loss", "101%", "`101%` is not a percentage"),
            ("path_delay", "1ns", "`path_delay` must be 1us to 10s in whole microseconds"),
            ("duration", "1ms", "`duration` must be 10ms to 24h"),
            ("congestion_control", "b/r", "`b/r` is not a name for `congestion_control`"),
        ] {
            assert_eq!(Key::find(name).unwrap().parse(text).unwrap_err().message, message);
        }
    }
}
