//! The Rust files of the workspace, read without a compiler: tokens, declared items, used names.
//!
//! Owns: which file is product code and which is a test. Never: a rule about them.

pub(crate) mod items;
pub(crate) mod lexer;
pub(crate) mod uses;

use std::collections::BTreeSet;

use crate::tidy::{SourceFile, is_test};
use lexer::Token;

/// A Rust file of a member.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    /// `crates`, `dev` or `fuzz`.
    pub(crate) area: &'a str,
    /// The folder of the member, which has the name of its package.
    pub(crate) member: &'a str,
    /// The name of the crate in code.
    pub(crate) name: String,
    text: &'a str,
    /// Tokens outside tests.
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) test_tokens: Vec<Token<'a>>,
}

impl Source<'_> {
    pub(crate) fn is_product(&self) -> bool {
        self.area == "crates"
    }

    /// Lines outside tests that hold more than a comment.
    pub(crate) fn code_lines(&self) -> usize {
        lines(self.text, &self.tokens)
    }

    pub(crate) fn test_lines(&self) -> usize {
        lines(self.text, &self.test_tokens)
    }
}

/// The Rust files of members and of the fuzz targets.
pub(crate) fn sources(files: &[SourceFile]) -> Vec<Source<'_>> {
    let rust = files.iter().filter_map(|file| {
        let (area, rest) = file.path.split_once('/')?;
        let known = ["crates", "dev", "fuzz"].contains(&area) && file.path.ends_with(concat!(".", "rs"));
        let member = if area == "fuzz" {
            area
        } else {
            rest.split_once('/')?.0
        };
        known.then_some((area, member, file))
    });
    let mut sources: Vec<Source> = rust
        .map(|(area, member, file)| {
            let all = lexer::tokens(&file.text);
            let (tokens, test_tokens) = if is_test(&file.path) || file.path.contains("/examples/") {
                (Vec::new(), all)
            } else {
                lexer::split(&all)
            };
            Source {
                path: &file.path,
                area,
                member,
                name: member.replace('-', "_"),
                text: &file.text,
                tokens,
                test_tokens,
            }
        })
        .collect();
    let for_tests: BTreeSet<String> = sources.iter().flat_map(modules_for_tests).collect();
    for source in &mut sources {
        let module = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let mut parents = module.match_indices('/').map(|(at, _)| &module[..at]);
        if for_tests.contains(module) || parents.any(|parent| for_tests.contains(parent)) {
            source.tokens.clear();
            source.test_tokens = lexer::tokens(source.text);
        }
    }
    sources
}

/// The paths, without extension, of the modules that a file declares for tests only.
fn modules_for_tests(source: &Source) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or_default();
    let folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => source.path.trim_end_matches(".rs").to_owned(),
    };
    let tokens = &source.test_tokens;
    let declared = tokens
        .windows(3)
        .filter(|three| three[0].is("mod") && three[2].is(";"));
    declared
        .map(|three| format!("{folder}/{}", three[1].text))
        .collect()
}

/// The lines that the tokens stand on. A blank line inside a string does not count.
fn lines(text: &str, tokens: &[Token]) -> usize {
    let (mut count, mut counted) = (0, 0);
    let blank: Vec<bool> = text.lines().map(|line| line.trim().is_empty()).collect();
    for token in tokens {
        let last = token.line + token.text.matches('\n').count();
        for line in token.line.max(counted + 1)..=last {
            count += usize::from(!blank.get(line - 1).is_some_and(|blank| *blank));
        }
        counted = counted.max(last);
    }
    count
}

#[cfg(test)]
mod tests;
