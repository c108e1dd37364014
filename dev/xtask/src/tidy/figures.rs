//! How large the product is: code lines, included texts and names of types, and their ceilings.
//!
//! Owns: counting. Never: judging a name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::{SourceFile, layers, links};
use crate::rust::Source;
use crate::rust::items::items;

const PERCENT_MAX: &str = "shared_type_names_percent_max";
pub(crate) const LINES_MAX: &str = "product_code_lines_max";
/// A table of words is code in another spelling: so many words of a text that code includes count as a line.
const WORDS_OF_A_LINE: usize = 10;

/// Code lines of one member.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) product: usize,
    pub(crate) tests: usize,
}

#[derive(Debug)]
pub(crate) struct Figures<'a> {
    /// By folder: `crates/cli`.
    lines: BTreeMap<String, Lines>,
    /// Every type that the product defines outside tests, and the places of its definitions.
    types: BTreeMap<&'a str, Vec<String>>,
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
        let folder = format!("{}/{}", source.area, source.member);
        let lines = figures.lines.entry(folder).or_default();
        lines.product += source.code_lines();
        lines.tests += source.test_lines();
        if source.is_product() {
            // A text that two files include counts once.
            let included = included(source).filter_map(|path| texts.remove(path.as_str()));
            lines.product += included.map(lines_of_words).sum::<usize>();
            for item in items(&source.tokens).0 {
                let is_type = matches!(item.keyword, "struct" | "enum" | "trait" | "type");
                if is_type && item.owner.is_none() {
                    let place = format!("{}:{}", source.path, item.line);
                    figures.types.entry(item.name).or_default().push(place);
                }
            }
        }
    }
    figures
}

/// The paths of the texts that a file includes outside tests.
fn included(source: &Source) -> impl Iterator<Item = String> {
    source.tokens.windows(4).filter_map(|four| {
        let is_include = four[0].is("include_str") && four[1].is("!") && four[2].is("(");
        let name = four[3].text.strip_prefix('"')?.strip_suffix('"')?;
        is_include.then(|| links::resolved(source.path, name))?
    })
}

fn lines_of_words(text: &str) -> usize {
    text.split_whitespace().count().div_ceil(WORDS_OF_A_LINE)
}

impl<'a> Figures<'a> {
    fn product(&self) -> impl Iterator<Item = (&String, &Lines)> {
        self.lines
            .iter()
            .filter(|(folder, _)| folder.starts_with("crates/"))
    }

    fn product_lines(&self) -> usize {
        self.product().map(|(_, lines)| lines.product).sum()
    }

    fn definitions(&self) -> usize {
        self.types.values().map(Vec::len).sum()
    }

    fn shared(&self) -> impl Iterator<Item = (&&'a str, &Vec<String>)> {
        self.types.iter().filter(|(_, places)| places.len() > 1)
    }

    /// How many definitions have the name of another one.
    fn shared_definitions(&self) -> usize {
        self.shared().map(|(_, places)| places.len()).sum()
    }

    fn shared_percent(&self) -> f64 {
        100.0 * self.shared_definitions() as f64 / self.definitions().max(1) as f64
    }

    /// Figures above their ceilings.
    pub(crate) fn check(&self, metadata: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        let lines = self.product_lines();
        match layers::limit(metadata, LINES_MAX) {
            Some(ceiling) if lines as u64 <= ceiling => {}
            Some(ceiling) => problems.push(format!(
                "crates: {lines} code lines, the ceiling is {ceiling}: delete code before you add more"
            )),
            None => problems.push(format!("Cargo.toml: `{LINES_MAX}` is missing from the limits")),
        }
        let (shared, all) = (self.shared_definitions(), self.definitions());
        match layers::limit(metadata, PERCENT_MAX) {
            Some(ceiling) if (shared * 100) as u64 <= ceiling * all as u64 => {}
            Some(ceiling) => problems.push(format!(
                "crates: {shared} of {all} types ({:.1} %) share their name with another, the ceiling is {ceiling} %: \
                 rename some, `cargo xtask tidy --figures` lists them",
                self.shared_percent()
            )),
            None => problems.push(format!("Cargo.toml: `{PERCENT_MAX}` is missing from the limits")),
        }
        problems
    }

    /// All figures as text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{:<22} {:>8} {:>8}\n", "folder", "code", "tests");
        for (folder, lines) in &self.lines {
            row(&mut text, folder, *lines);
        }
        let total = self.product().fold(Lines::default(), |sum, (_, lines)| Lines {
            product: sum.product + lines.product,
            tests: sum.tests + lines.tests,
        });
        row(
            &mut text,
            &format!("{} product crates", self.product().count()),
            total,
        );
        let (shared, all) = (self.shared_definitions(), self.definitions());
        let names = self.shared().count();
        let percent = self.shared_percent();
        let written = writeln!(
            text,
            "\ntypes of the product: {all}, of which {shared} ({percent:.1} %) share {names} names"
        );
        written.expect("a string takes any text");
        let mut by_count: Vec<_> = self.shared().collect();
        by_count.sort_by_key(|(name, places)| (std::cmp::Reverse(places.len()), **name));
        for (name, places) in by_count {
            let written = writeln!(text, "{} {name}\n    {}", places.len(), places.join("\n    "));
            written.expect("a string takes any text");
        }
        text
    }
}

fn row(text: &mut String, name: &str, lines: Lines) {
    let written = writeln!(text, "{name:<22} {:>8} {:>8}", lines.product, lines.tests);
    written.expect("a string takes any text");
}
