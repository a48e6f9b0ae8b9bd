//! The value of a key, and the fields that values are read from and written to.

use std::fmt;
use std::time::Duration;

use crate::DEFAULT;
use crate::congestion_control::CongestionControl;
use crate::duration::format_duration;
use crate::pacing::Pacing;
use crate::word::Word;

/// What a key can be set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// What holds when nothing is said.
    Default,
    /// A whole number.
    Number(u64),
    /// On or off.
    Switch(bool),
    /// Bits per second.
    Pace(Pacing),
    /// A time.
    Time(Duration),
    /// A word or a name.
    Text(String),
}

/// As a study file and an option write it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad(DEFAULT),
            Self::Number(number) => number.fmt(f),
            Self::Switch(on) => f.pad(if *on { "on" } else { "off" }),
            Self::Pace(pace) => pace.fmt(f),
            Self::Time(time) => f.pad(&format_duration(*time)),
            Self::Text(text) => f.pad(text),
        }
    }
}

/// A field of a workload. A value that is not of its type leaves it as it is: [`Key::parse`](crate::Key::parse) makes none.
pub(crate) trait Field {
    fn value(&self) -> Value;
    fn set(&mut self, value: &Value);
}

impl Field for u32 {
    fn value(&self) -> Value {
        Value::Number(u64::from(*self))
    }

    fn set(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = u32::try_from(*number).unwrap_or(*self);
        }
    }
}

impl Field for Option<u32> {
    fn value(&self) -> Value {
        self.map_or(Value::Default, |number| Value::Number(u64::from(number)))
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Number(number) => *self = u32::try_from(*number).ok(),
            Value::Default => *self = None,
            _ => {}
        }
    }
}

impl Field for Option<u16> {
    fn value(&self) -> Value {
        self.map(u32::from).value()
    }

    fn set(&mut self, value: &Value) {
        let mut wide = self.map(u32::from);
        wide.set(value);
        *self = wide.and_then(|number| u16::try_from(number).ok());
    }
}

impl Field for Option<u8> {
    fn value(&self) -> Value {
        self.map(u32::from).value()
    }

    fn set(&mut self, value: &Value) {
        let mut wide = self.map(u32::from);
        wide.set(value);
        *self = wide.and_then(|number| u8::try_from(number).ok());
    }
}

impl Field for bool {
    fn value(&self) -> Value {
        Value::Switch(*self)
    }

    fn set(&mut self, value: &Value) {
        if let Value::Switch(on) = value {
            *self = *on;
        }
    }
}

impl Field for Option<bool> {
    fn value(&self) -> Value {
        self.map_or(Value::Default, Value::Switch)
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Switch(on) => *self = Some(*on),
            Value::Default => *self = None,
            _ => {}
        }
    }
}

impl Field for Option<Pacing> {
    fn value(&self) -> Value {
        self.map_or(Value::Default, Value::Pace)
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Pace(pace) => *self = Some(*pace),
            Value::Default => *self = None,
            _ => {}
        }
    }
}

impl Field for Duration {
    fn value(&self) -> Value {
        Value::Time(*self)
    }

    fn set(&mut self, value: &Value) {
        if let Value::Time(time) = value {
            *self = *time;
        }
    }
}

impl Field for Option<Duration> {
    fn value(&self) -> Value {
        self.map_or(Value::Default, Value::Time)
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Time(time) => *self = Some(*time),
            Value::Default => *self = None,
            _ => {}
        }
    }
}

impl Field for CongestionControl {
    fn value(&self) -> Value {
        match self {
            Self::Unpaced => Value::Default,
            named => Value::Text(named.to_string()),
        }
    }

    fn set(&mut self, value: &Value) {
        if matches!(value, Value::Default | Value::Text(_)) {
            let Ok(parsed) = value.to_string().parse();
            *self = parsed;
        }
    }
}

impl<W: Word + fmt::Display> Field for W {
    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn set(&mut self, value: &Value) {
        if let Value::Text(word) = value {
            *self = Self::from_word(word).unwrap_or(*self);
        }
    }
}
