//! Conversations in one long JSON array, read one element at a time. An invalid element is skipped, and after broken
//! JSON the elements before it are kept.

use std::io::BufRead;

use serde::de::{DeserializeOwned, Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

use super::{ImportItem, ImportedConversation, Sink, Skipped, shape};
use crate::error::Failure;

/// Hands every element's conversations to the sink; a file that is one conversation is an array of one.
pub(super) fn each<T: DeserializeOwned>(
    stream: &mut dyn BufRead,
    mut convert: impl FnMut(T) -> Result<Vec<ImportedConversation>, String>,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mut number = 0;
    let mut take = |element: &RawValue| {
        number += 1;
        let read = serde_json::from_str::<T>(element.get()).map_err(|error| error.to_string());
        match read.and_then(&mut convert) {
            Ok(conversations) => conversations
                .into_iter()
                .try_for_each(|conversation| sink(ImportItem::Conversation(conversation))),
            Err(why) => {
                let what = named(number, element);
                sink(ImportItem::Skipped(Skipped { what, why }))
            }
        }
    };
    let is_one = first_byte(stream).map_err(anyhow::Error::from)? == Some(b'{');
    let mut reader = Deserializer::from_reader(stream);
    let mut stopped = None;
    let read = if is_one {
        let mut elements = reader.into_iter::<Box<RawValue>>();
        elements.try_for_each(|element| {
            take(&element?).map_err(|failure| {
                stopped = Some(failure);
                serde::de::Error::custom("stopped")
            })
        })
    } else {
        reader.deserialize_seq(Elements {
            take: &mut take,
            stopped: &mut stopped,
        })
    };
    let before = match number {
        0 => "nothing was imported: give the file as its program exported it",
        _ => "everything before that place was imported; a second import adds only new messages",
    };
    match (read, stopped) {
        (_, Some(failure)) => Err(failure),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => Err(Failure::usage(format!("the file is broken: {error}")).hint(before)),
    }
}

/// The first byte that is no white space; it stays in the stream.
fn first_byte(stream: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
    loop {
        let waiting = stream.fill_buf()?;
        let blank = waiting
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if blank < waiting.len() || blank == 0 {
            return Ok(waiting.get(blank).copied());
        }
        stream.consume(blank);
    }
}

/// Name of an unreadable element.
fn named(number: usize, element: &RawValue) -> String {
    let fields: Value = serde_json::from_str(element.get()).unwrap_or_default();
    let title = ["title", "name"]
        .iter()
        .find_map(|key| shape::title(&fields[key]));
    match title {
        Some(title) => format!("conversation {number}, \"{title}\""),
        None => format!("conversation {number}"),
    }
}

struct Elements<'a, F> {
    take: &'a mut F,
    stopped: &'a mut Option<Failure>,
}

impl<'de, F: FnMut(&RawValue) -> Result<(), Failure>> Visitor<'de> for Elements<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            if let Err(failure) = (self.take)(&element) {
                *self.stopped = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
