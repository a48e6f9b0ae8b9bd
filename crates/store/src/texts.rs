//! Checks whether the texts of a record are harmless.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// Whether every text and key of a record is as [`words::sanitised_line`] leaves it, so that it can
/// be shown.
///
/// It visits a record as if to write it, and writes nothing: nearly every record is clean, and most
/// of it is numbers.
pub(crate) fn are_plain(record: &impl Serialize) -> bool {
    record.serialize(Visitor).is_ok()
}

/// Visits every text.
#[derive(Clone, Copy)]
struct Visitor;

/// A text has something to replace.
#[derive(Debug)]
struct Hostile;

impl fmt::Display for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text is not plain")
    }
}

impl std::error::Error for Hostile {}

impl ser::Error for Hostile {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Visited = Result<(), Hostile>;

/// Visits of values that hold no text.
macro_rules! numbers {
    ($($method:ident($type:ty)),*) => {
        $(fn $method(self, _: $type) -> Visited { Ok(()) })*
    };
}

/// Visits of the begin of a value that holds others.
macro_rules! begins {
    ($($method:ident($($type:ty),*)),*) => {
        $(fn $method(self, $(_: $type),*) -> Result<Self, Hostile> { Ok(self) })*
    };
}

impl Serializer for Visitor {
    type Ok = ();
    type Error = Hostile;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str)
    );

    fn serialize_str(self, words: &str) -> Visited {
        match words::sanitised_line(words) {
            Cow::Borrowed(_) => Ok(()),
            Cow::Owned(_) => Err(Hostile),
        }
    }

    fn serialize_char(self, letter: char) -> Visited {
        self.serialize_str(letter.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit(self) -> Visited {
        Ok(())
    }

    fn serialize_none(self) -> Visited {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Visited {
        value.serialize(self)
    }

    // Names of variants and fields are ours.
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Visited {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Visited {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Visited {
        value.serialize(self)
    }

    begins!(
        serialize_seq(Option<usize>),
        serialize_tuple(usize),
        serialize_tuple_struct(&'static str, usize),
        serialize_tuple_variant(&'static str, u32, &'static str, usize),
        serialize_map(Option<usize>),
        serialize_struct(&'static str, usize),
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    );
}

/// Visits of values inside others.
macro_rules! compounds {
    ($($compound:ident::$method:ident($($name:ty)?)),*) => {
        $(impl ser::$compound for Visitor {
            type Ok = ();
            type Error = Hostile;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Visited {
                value.serialize(*self)
            }

            fn end(self) -> Visited {
                Ok(())
            }
        })*
    };
}

compounds!(
    SerializeSeq::serialize_element(),
    SerializeTuple::serialize_element(),
    SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field(),
    SerializeStruct::serialize_field(&'static str),
    SerializeStructVariant::serialize_field(&'static str)
);

impl ser::SerializeMap for Visitor {
    type Ok = ();
    type Error = Hostile;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Visited {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Visited {
        value.serialize(*self)
    }

    fn end(self) -> Visited {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[derive(serde::Serialize)]
    enum Any<'a> {
        Unit,
        New(&'a str),
        Pair(u8, Option<&'a str>),
        Fields { words: [&'a str; 1], letter: char, bytes: &'a [u8] },
    }

    fn are_plain_each(words: &str) -> [bool; 4] {
        [
            are_plain(&Any::Unit),
            are_plain(&Any::New(words)),
            are_plain(&(Any::Pair(1, Some(words)), 1.5, ())),
            are_plain(&Any::Fields { words: [words], letter: 'x', bytes: b"\n" }),
        ]
    }

    #[test]
    fn texts_are_found_wherever_they_are() {
        assert_eq!(are_plain_each("net.ipv4.tcp_rmem\t4096 \u{b5}"), [true; 4]);
        assert_eq!(are_plain_each("\u{1b}[2J"), [true, false, false, false]);
        assert!(!are_plain(&'\n') && !are_plain(&json!({"a": {"b\u{202e}": [1, null]}})));
    }

    proptest! {
        #[test]
        fn a_record_is_plain_if_all_its_texts_are(words in proptest::collection::vec("\\PC{0,3}|[\\x00-\\x1fa]{0,2}", 0..4)) {
            let plain = words.iter().all(|word| words::sanitised_line(word) == *word);
            prop_assert_eq!(are_plain(&json!({"list": words, "number": -1.5})), plain);
        }
    }
}
