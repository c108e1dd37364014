//! A long JSON array read one element at a time, so that a break in it loses nothing that stands before.

use std::io::BufRead;

use serde::de::{DeserializeOwned, Deserializer as _, SeqAccess, Visitor};

use super::{Conversation, Sink};
use crate::error::Failure;

/// Hands every element's conversations to the sink.
pub(super) fn each<T: DeserializeOwned>(
    stream: &mut dyn BufRead,
    convert: impl FnMut(T) -> Vec<Conversation>,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mut stopped = None;
    let mut reader = serde_json::Deserializer::from_reader(stream);
    let elements = Elements {
        convert,
        sink,
        stopped: &mut stopped,
        element: std::marker::PhantomData::<T>,
    };
    match (reader.deserialize_seq(elements), stopped) {
        (_, Some(failure)) => Err(failure),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => Err(Failure::usage(format!("the file is broken: {error}"))
            .hint("everything before that place was remembered; importing it again adds only what is new")),
    }
}

struct Elements<'a, 'b, T, F> {
    convert: F,
    sink: Sink<'a>,
    stopped: &'b mut Option<Failure>,
    element: std::marker::PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Vec<Conversation>> Visitor<'de> for Elements<'_, '_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<T>()? {
            for conversation in (self.convert)(element) {
                if let Err(failure) = (self.sink)(conversation) {
                    *self.stopped = Some(failure);
                    return Err(serde::de::Error::custom("stopped"));
                }
            }
        }
        Ok(())
    }
}
