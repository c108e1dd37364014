//! The XML of an office file, piece by piece.
//!
//! Owns: the depth of elements, elements with text, characters, names without their prefix. Never:
//! a document type, or an entity other than the five of XML: no other is resolved, so none can grow
//! or name a file.

use std::borrow::Cow;
use std::str::FromStr;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::{NESTING_MAX, Unreadable};

/// Maximum bytes of an attribute's value; a longer one is ignored. Names are compared and kept many
/// times.
const VALUE_MAX_BYTES: usize = 4 << 10;

pub(super) struct Xml<'x> {
    reader: Reader<&'x [u8]>,
    depth: usize,
    /// Names of elements with text.
    holders: &'static [&'static str],
    is_held: bool,
}

pub(super) enum XmlPiece<'x> {
    /// The start of an element; an empty element ends at once.
    Start(BytesStart<'x>),
    End(BytesEnd<'x>),
    /// Text in an element for text.
    Text(Cow<'x, str>),
}

impl<'x> Xml<'x> {
    pub(super) fn new(text: &'x str) -> Self {
        Self::with_holders(text, &["t"])
    }

    pub(super) fn with_holders(text: &'x str, holders: &'static [&'static str]) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            depth: 0,
            holders,
            is_held: false,
        }
    }

    /// The next piece; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlPiece<'x>>, Unreadable> {
        loop {
            let piece = match self.reader.read_event() {
                Err(_) => return Err(Unreadable::Damaged),
                Ok(Event::Start(_)) if self.depth == NESTING_MAX => return Err(Unreadable::TooComplex),
                Ok(Event::Start(tag)) => {
                    self.depth += 1;
                    self.is_held = self.holders.contains(&tag.local_name().into_inner());
                    XmlPiece::Start(tag)
                }
                Ok(Event::End(tag)) => {
                    self.depth -= 1;
                    self.is_held = false;
                    XmlPiece::End(tag)
                }
                Ok(Event::Text(text)) => XmlPiece::Text(text.into_inner()),
                Ok(Event::CData(text)) => XmlPiece::Text(text.into_inner()),
                Ok(Event::GeneralRef(name)) => match name.resolve_char_ref() {
                    Ok(Some(c)) => XmlPiece::Text(c.to_string().into()),
                    _ => XmlPiece::Text(resolve_predefined_entity(&name).unwrap_or_default().into()),
                },
                Ok(Event::Eof) if self.depth > 0 => return Err(Unreadable::Damaged),
                Ok(Event::Eof) => return Ok(None),
                Ok(_) => continue,
            };
            if self.is_held || !matches!(piece, XmlPiece::Text(_)) {
                return Ok(Some(piece));
            }
        }
    }

    /// The next element that begins.
    pub(super) fn next_start(&mut self) -> Result<Option<BytesStart<'x>>, Unreadable> {
        while let Some(piece) = self.next()? {
            if let XmlPiece::Start(tag) = piece {
                return Ok(Some(tag));
            }
        }
        Ok(None)
    }

    /// Skips the rest of the innermost open element.
    pub(super) fn skip(&mut self) -> Result<(), Unreadable> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside && self.next()?.is_some() {}
        Ok(())
    }

    /// Passes each element inside the innermost open one to `take` as it begins; skips its content
    /// if `take` returns false.
    pub(super) fn each_inside(
        &mut self,
        mut take: impl FnMut(&BytesStart<'x>) -> bool,
    ) -> Result<(), Unreadable> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            match self.next()? {
                Some(XmlPiece::Start(tag)) if !take(&tag) => self.skip()?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }
}

/// The name of the outermost element.
pub(super) fn root(text: &str) -> Option<String> {
    let tag = Xml::new(text).next_start().ok()??;
    Some(tag.local_name().into_inner().to_owned())
}

/// An attribute's value, given its name without a prefix.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    value(tag, |key| key.rsplit(':').next() == Some(name))
}

/// An attribute that is a number.
pub(super) fn number<N: FromStr>(tag: &BytesStart<'_>, name: &str) -> Option<N> {
    attribute(tag, name)?.parse().ok()
}

/// The id of an element's relationship, such as `r:id`; other attributes of the same element are
/// called `id` too.
pub(super) fn relationship(tag: &BytesStart<'_>) -> Option<String> {
    value(tag, |key| key.ends_with(":id"))
}

/// Whether an attribute is set.
pub(super) fn is_set(tag: &BytesStart<'_>, name: &str) -> bool {
    attribute(tag, name).is_some_and(|value| matches!(value.as_str(), "1" | "true"))
}

/// Whether a switch is on, also without a value.
pub(super) fn is_on(tag: &BytesStart<'_>) -> bool {
    !attribute(tag, "val").is_some_and(|value| matches!(value.as_str(), "0" | "false" | "off" | "none"))
}

fn value(tag: &BytesStart<'_>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| is_it(attribute.key.as_ref()))
        .filter(|attribute| attribute.value.len() <= VALUE_MAX_BYTES)?;
    Some(quick_xml::escape::unescape(&found.value).ok()?.into_owned())
}
