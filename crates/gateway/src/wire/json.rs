//! Parsing bytes into a request, with the place of the first error.
//!
//! Owns: the wording of JSON problems. Never: bounds and meaning; each request checks its own.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::wire::Invalid;

pub use transcript::mended::{mended, parse};

/// Parses one JSON object; anything but white space after it is an error. Half a surrogate pair becomes U+FFFD.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Invalid> {
    let bytes = mended(bytes);
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let Object(value) = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = dotted(error.path());
        explain(path, error.inner())
    })?;
    reader.end().map_err(|error| explain(String::new(), &error))?;
    Ok(value)
}

fn explain(path: String, error: &serde_json::Error) -> Invalid {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    let problem = text.strip_suffix(&place).unwrap_or(&text);
    if matches!(error.classify(), Category::Syntax | Category::Eof | Category::Io) {
        return Invalid::request(format!("the body is not valid JSON: {problem}{place}"));
    }
    if let Some(field) = quoted(problem, "missing field `") {
        return Invalid::at(join(&path, field), "this field is required");
    }
    if let Some(field) = quoted(problem, "duplicate field `") {
        return Invalid::at(join(&path, field), "this field appears twice");
    }
    if let Some(field) = quoted(problem, "unknown field `") {
        let path = if path.ends_with(field) {
            path
        } else {
            join(&path, field)
        };
        return Invalid::at(path, format!("unknown field: use {}", allowed(problem)));
    }
    if let Some(word) = quoted(problem, "unknown variant `") {
        return Invalid::at(path, format!("must be {}, not `{word}`", allowed(problem)));
    }
    if let Some((given, wanted)) = problem
        .strip_prefix("invalid type: ")
        .or_else(|| problem.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        return Invalid::at(path, format!("must be {}, not {}", plain(wanted), plain(given)));
    }
    Invalid::at(path, problem)
}

/// The allowed words in an error message of serde.
fn allowed(problem: &str) -> &str {
    problem.rsplit_once("expected ").map_or("", |(_, known)| known)
}

/// Replaces serde's name of a type, which is Rust's, by JSON's.
fn plain(word: &str) -> &str {
    match word {
        "map" => "an object",
        "a sequence" | "sequence" => "a list",
        "f64" => "a number",
        "u32" => "a whole number up to 4294967295",
        other => other,
    }
}

fn quoted<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.split('`').next()
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() {
        field.to_owned()
    } else {
        format!("{path}.{field}")
    }
}

fn dotted(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        let part = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.clone(),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => continue,
        };
        text = join(&text, &part);
    }
    text
}

/// Parses an integer, also in the form `20.0` of some clients.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Integer {
        expected: "an integer",
        in_quotes: false,
    })
}

/// Parses milliseconds like [`integer`], also in quotes, as some clients write them.
pub(crate) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Integer {
        expected: "epoch milliseconds, as in 1715176560000",
        in_quotes: true,
    })
}

/// An object only: serde alone would also accept a list of the fields' values in order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Only<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_any(Only(PhantomData))
    }
}

/// A field that is an object.
pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// A field that is a list of objects.
pub(crate) fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(value)| value).collect())
}

/// As [`objects`], or null.
pub(crate) fn maybe_objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let objects = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(objects.map(|objects| objects.into_iter().map(|Object(value)| value).collect()))
}

/// Parses a word of a closed set; for a number or null, `serde_json` alone would report a syntax error.
pub(crate) fn word<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Word<T>(PhantomData<T>);
    impl<T: DeserializeOwned> Visitor<'_> for Word<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E: de::Error>(self, word: &str) -> Result<T, E> {
            T::deserialize(StrDeserializer::new(word))
        }
    }
    deserializer.deserialize_any(Word(PhantomData))
}

struct Integer {
    expected: &'static str,
    in_quotes: bool,
}

impl Visitor<'_> for Integer {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
        Ok(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<i64, E> {
        match value.parse() {
            Ok(value) if self.in_quotes => Ok(value),
            _ => Err(E::invalid_type(de::Unexpected::Str(value), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<i64, E> {
        if value.fract() != 0.0 || value.abs() >= 9.0e15 {
            return Err(E::invalid_value(de::Unexpected::Float(value), &self));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "integral, and far inside the range"
        )]
        Ok(value as i64)
    }
}
