//! Styles and lists of a document.
//!
//! Owns: the detection of headings, list items, hidden text and ordered lists. Never: fonts,
//! colours.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::events::BytesStart;

use super::package::{Package, Relations};
use super::xml::{Xml, attribute, is_on, number};
use crate::{NAMES_MAX, Unreadable};

/// Maximum number of styles that a style is based on; a longer chain is a circle.
const BASES_MAX: usize = 20;
/// Maximum level of a Markdown heading.
const HEADING_MAX: u8 = 6;

/// Properties of a paragraph or a style.
#[derive(Debug, Clone, Default)]
pub(super) struct Formatting {
    pub(super) style: Option<String>,
    /// Its outline level, from 0; 9 is plain text.
    outline: Option<u8>,
    /// The list of which it is an item; `0` is none.
    list: Option<String>,
    level: Option<usize>,
    is_hidden: Option<bool>,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    formattings: BTreeMap<String, Formatting>,
    /// The format of each list, and the ordered levels of each format.
    lists: BTreeMap<String, String>,
    ordered: BTreeSet<(String, usize)>,
}

impl Formatting {
    /// Adds the property of an element. False for a change of properties, whose content holds the
    /// former ones.
    pub(super) fn take(&mut self, tag: &BytesStart<'_>) -> bool {
        let value = || attribute(tag, "val").unwrap_or_default();
        match tag.local_name().into_inner() {
            "pStyle" | "rStyle" | "basedOn" => self.style = Some(value()),
            "outlineLvl" => self.outline = number(tag, "val"),
            "numId" => self.list = Some(value()),
            "ilvl" => self.level = number(tag, "val"),
            "vanish" => self.is_hidden = Some(is_on(tag)),
            "pPrChange" | "rPrChange" => return false,
            _ => {}
        }
        true
    }
}

impl Styles {
    pub(super) fn read(package: &mut Package<'_>, relations: &Relations) -> Result<Self, Unreadable> {
        let mut styles = Self::default();
        if let Some(text) = package.related(relations, "styles")? {
            styles.read_styles(&text)?;
        }
        if let Some(text) = package.related(relations, "numbering")? {
            styles.read_lists(&text)?;
        }
        Ok(styles)
    }

    fn read_styles(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut xml = Xml::new(text);
        while let Some(tag) = xml.next_start()? {
            if tag.local_name().into_inner() != "style" {
                continue;
            }
            let mut style = Formatting::default();
            xml.each_inside(|inner| {
                if inner.local_name().into_inner() == "name" {
                    style.outline = attribute(inner, "val").and_then(|name| heading(&name));
                }
                style.take(inner)
            })?;
            self.formattings
                .insert(attribute(&tag, "styleId").unwrap_or_default(), style);
            if self.formattings.len() > NAMES_MAX {
                return Err(Unreadable::TooComplex);
            }
        }
        Ok(())
    }

    fn read_lists(&mut self, text: &str) -> Result<(), Unreadable> {
        let (mut format, mut list, mut level) = (String::new(), String::new(), 0);
        let mut xml = Xml::new(text);
        while let Some(tag) = xml.next_start()? {
            let named = |name| attribute(&tag, name).unwrap_or_default();
            match tag.local_name().into_inner() {
                "abstractNum" => format = named("abstractNumId"),
                "lvl" => level = number(&tag, "ilvl").unwrap_or(0),
                "numFmt" if !matches!(named("val").as_str(), "bullet" | "none") => {
                    self.ordered.insert((format.clone(), level));
                }
                "num" => list = named("numId"),
                "abstractNumId" => drop(self.lists.insert(list.clone(), named("val"))),
                _ => {}
            }
        }
        Ok(())
    }

    /// The properties, followed by those of the styles they are based on, the nearest first.
    fn chain<'s>(&'s self, formatting: &'s Formatting) -> impl Iterator<Item = &'s Formatting> {
        let base = |formatting: &&'s Formatting| self.formattings.get(formatting.style.as_ref()?);
        std::iter::successors(Some(formatting), base).take(BASES_MAX)
    }

    /// Whether the text is hidden.
    pub(super) fn is_hidden(&self, formatting: &Formatting) -> bool {
        self.chain(formatting).find_map(|formatting| formatting.is_hidden) == Some(true)
    }

    /// The level of a heading, from 1.
    pub(super) fn heading(&self, formatting: &Formatting) -> Option<u8> {
        let outline = self.chain(formatting).find_map(|formatting| formatting.outline)?;
        (outline < 9).then_some((outline + 1).min(HEADING_MAX))
    }

    /// The level of an item of a list, from 0, and whether the list is ordered.
    pub(super) fn item(&self, formatting: &Formatting) -> Option<(usize, bool)> {
        let list = self
            .chain(formatting)
            .find_map(|formatting| formatting.list.as_ref())?;
        let format = self.lists.get(list)?;
        let level = self
            .chain(formatting)
            .find_map(|formatting| formatting.level)
            .unwrap_or(0);
        Some((level, self.ordered.contains(&(format.clone(), level))))
    }
}

/// The outline level of a style with this name.
fn heading(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(0);
    }
    let level: u8 = name.strip_prefix("heading ")?.parse().ok()?;
    level.checked_sub(1)
}
