//! How large the product is: code lines, included texts and names of types, and their ceilings.
//!
//! Owns: counting. Never: judging a name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{SourceFile, layers, links};
use crate::rust::Source;

const PERCENT_MAX: &str = "shared_type_names_percent_max";
pub(crate) const LINES_MAX: &str = "product_code_lines_max";
/// A table of words is code in another spelling: so many words of a text that code includes count as a line.
const WORDS_OF_A_LINE: usize = 10;

/// Where the crates of the product are.
const PRODUCT: &str = "crates/";

#[derive(Debug)]
pub(crate) struct Figures<'a> {
    /// Code lines by folder: `crates/cli`.
    lines: BTreeMap<String, usize>,
    /// How many types of the product have a name.
    types: BTreeMap<&'a str, usize>,
}

pub(crate) fn figures<'a>(files: &[SourceFile], sources: &'a [Source]) -> Figures<'a> {
    let mut texts: BTreeMap<&str, &str> = files
        .iter()
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let mut figures = Figures {
        lines: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    for source in sources {
        let area = if source.is_product() { PRODUCT } else { "dev/" };
        let lines = figures
            .lines
            .entry(format!("{area}{}", source.member()))
            .or_default();
        *lines += source.code_lines;
        if source.is_product() {
            let included = source.contents.included.iter();
            let included = included.filter_map(|name| links::resolved(&source.path, name));
            // A text that two files include counts once.
            let included = included.filter_map(|path| texts.remove(path.as_str()));
            *lines += included.map(lines_of_words).sum::<usize>();
            for item in source.contents.items.iter().filter(|item| item.is_type()) {
                *figures.types.entry(&item.name).or_default() += 1;
            }
        }
    }
    figures
}

fn lines_of_words(text: &str) -> usize {
    text.split_whitespace().count().div_ceil(WORDS_OF_A_LINE)
}

impl Figures<'_> {
    /// Figures above their ceilings.
    pub(crate) fn check(&self, metadata: &Value) -> Vec<String> {
        let product = self
            .lines
            .iter()
            .filter(|(folder, _)| folder.starts_with(PRODUCT));
        let lines = product.map(|(_, lines)| lines).sum();
        let lines = layers::above(metadata, LINES_MAX, lines, |ceiling| {
            format!("crates: {lines} code lines, the ceiling is {ceiling}: delete code before you add more")
        });
        let all: usize = self.types.values().sum();
        let is_shared = |(_, count): &(&&str, &usize)| **count > 1;
        let (names, counts): (Vec<&str>, Vec<usize>) = self.types.iter().filter(is_shared).unzip();
        let shared: usize = counts.iter().sum();
        let percent = (shared * 100).div_ceil(all.max(1));
        let types = layers::above(metadata, PERCENT_MAX, percent, |ceiling| {
            format!(
                "crates: {shared} of {all} types share their name with another, the ceiling is {ceiling} %: rename some of {}",
                names.join(", ")
            )
        });
        lines.into_iter().chain(types).collect()
    }

    /// The code lines of each member.
    pub(crate) fn text(&self) -> String {
        let row = |(folder, lines): (&String, &usize)| format!("{folder:<22} {lines:>8}\n");
        self.lines.iter().map(row).collect()
    }
}
