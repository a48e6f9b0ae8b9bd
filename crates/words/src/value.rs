//! The value of a key, and the fields that have values.

use std::fmt;
use std::time::Duration;

use crate::DEFAULT;
use crate::congestion_control::CongestionControl;
use crate::duration::format_duration;
use crate::pacing::Pacing;
use crate::percent::Percent;
use crate::word::Word;

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
                match value {
                    Value::$variant($value) => $made,
                    _ => None,
                }
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
        match value {
            Value::Text(word) => Self::from_word(word),
            _ => None,
        }
    }
}
