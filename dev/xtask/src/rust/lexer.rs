//! Splits Rust text into tokens and separates tests from the rest.
//!
//! Owns: comments, literals, attributes, test regions. Never: grammar beyond brackets.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A string, a character or a number.
    Literal,
    /// Punctuation or a lifetime. `::`, `->` and `=>` are one token each.
    Mark,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Literal && self.text == text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    fn opens(&self) -> bool {
        ["(", "[", "{"].iter().any(|bracket| self.is(bracket))
    }

    fn closes(&self) -> bool {
        [")", "]", "}"].iter().any(|bracket| self.is(bracket))
    }
}

/// The tokens of a text, without comments. A path in a string of an attribute counts as code: `with = "a::b"`.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    with_paths_of_attributes(&plain(text))
}

fn plain(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let (length, kind) = next(rest);
        if let Some(kind) = kind {
            let text = &rest[..length];
            let text = text
                .strip_prefix("r#")
                .filter(|_| kind == Kind::Word)
                .unwrap_or(text);
            tokens.push(Token { kind, text, line });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// The length of the next token and its kind; no kind for white space and comments.
fn next(rest: &str) -> (usize, Option<Kind>) {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        return (first.len_utf8(), None);
    }
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), None);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), None);
    }
    if matches!(first, '"' | '\'' | 'b' | 'c' | 'r')
        && let Some(length) = string(rest).or_else(|| character(rest))
    {
        return (length, Some(Kind::Literal));
    }
    if first == '\'' {
        return (1 + word(&rest[1..]), Some(Kind::Mark));
    }
    if first.is_ascii_digit() {
        return (number(rest), Some(Kind::Literal));
    }
    if first.is_alphabetic() || first == '_' {
        let prefix = if rest.starts_with("r#") { 2 } else { 0 };
        return (prefix + word(&rest[prefix..]), Some(Kind::Word));
    }
    let double = ["::", "->", "=>"].iter().any(|mark| rest.starts_with(mark));
    (if double { 2 } else { first.len_utf8() }, Some(Kind::Mark))
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn word(rest: &str) -> usize {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    end.unwrap_or(rest.len())
}

fn number(rest: &str) -> usize {
    let whole = word(rest);
    let fraction = rest[whole..].strip_prefix('.');
    let has_fraction = fraction.is_some_and(|more| more.starts_with(|c: char| c.is_ascii_digit()));
    if has_fraction {
        whole + 1 + word(&rest[whole + 1..])
    } else {
        whole
    }
}

/// The length of the string that the text begins with: plain, of bytes, of C, raw.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix)
            .is_some_and(|more| more.starts_with(['"', '#']))
    })?;
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let inside = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&end)? + end.len();
        return Some(prefix.len() + hashes + 1 + length);
    }
    let inside = body.strip_prefix('"')?;
    Some(prefix.len() + 1 + until_quote(inside, '"')?)
}

/// The length of the character that the text begins with; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let prefix = usize::from(rest.starts_with("b'"));
    let inside = rest[prefix..].strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(prefix + 1 + until_quote(inside, '\'')?);
    }
    let length = first.len_utf8();
    inside[length..].starts_with('\'').then_some(prefix + length + 2)
}

/// The length up to and with the quote that ends a literal.
fn until_quote(inside: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn with_paths_of_attributes<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut all = Vec::with_capacity(tokens.len());
    let mut attribute_end = 0;
    for (at, token) in tokens.iter().enumerate() {
        all.push(*token);
        if let Some(end) = attribute(tokens, at) {
            attribute_end = end;
        }
        let quoted = token
            .text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let path = quoted.filter(|text| text.chars().all(|c| c.is_alphanumeric() || "_:<>".contains(c)));
        if let Some(path) = path.filter(|_| at < attribute_end) {
            let line = token.line;
            all.extend(plain(path).into_iter().map(|token| Token { line, ..token }));
        }
    }
    all
}

/// Where the attribute that begins here ends: the index after its `]`.
pub(crate) fn attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let is = |at: usize, text| tokens.get(at).is_some_and(|token: &Token| token.is(text));
    if !is(at, "#") {
        return None;
    }
    let open = if is(at + 1, "!") { at + 2 } else { at + 1 };
    is(open, "[").then(|| closing(tokens, open) + 1)
}

/// The index of the bracket that closes the one at `open`, or the last index.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len().saturating_sub(1)
}

/// Whether the attribute in these tokens keeps its item for tests.
pub(crate) fn is_for_tests(attribute: &[Token]) -> bool {
    let has = |word: &str| attribute.iter().any(|token| token.is(word));
    has("cfg") && has("test") && !has("not")
}

/// Tokens of the product and tokens of `#[cfg(test)]` items.
pub(crate) fn split<'a>(tokens: &[Token<'a>]) -> (Vec<Token<'a>>, Vec<Token<'a>>) {
    let (mut product, mut tests) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let Some(end) = attribute(tokens, at) else {
            product.push(tokens[at]);
            at += 1;
            continue;
        };
        let inner = tokens[at + 1].is("!");
        let tested = is_for_tests(&tokens[at..end]);
        let end = match (tested, inner) {
            (true, true) => tokens.len(),
            (true, false) => item_end(tokens, end),
            (false, _) => end,
        };
        let side = if tested { &mut tests } else { &mut product };
        side.extend_from_slice(&tokens[at..end]);
        at = end;
    }
    (product, tests)
}

const ITEM_WORDS: [&str; 13] = [
    "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait", "type",
    "use",
];

/// The index after the item, statement or field that begins here, with its further attributes.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while let Some(end) = attribute(tokens, at) {
        at = end;
    }
    let is_item = ITEM_WORDS
        .iter()
        .any(|word| tokens.get(at).is_some_and(|token| token.is(word)));
    while let Some(token) = tokens.get(at) {
        if token.opens() {
            let end = closing(tokens, at) + 1;
            if token.is("{") {
                return end;
            }
            at = end;
        } else if token.closes() {
            return at;
        } else if token.is(";") || (token.is(",") && !is_item) {
            return at + 1;
        } else {
            at += 1;
        }
    }
    tokens.len()
}
