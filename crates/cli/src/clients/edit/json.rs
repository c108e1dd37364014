//! JSON with comments and trailing commas: the file of every client is a subset of it.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::cst::{CstContainerNode, CstNode, CstRootNode};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde_json::Value;

use super::{AddedEntry, ConfigEntry, EditRefusal, Insertion};

const UNIT: &str = "  ";

fn parsed(text: &str) -> Result<ParseResult<'_>, EditRefusal> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    parse_to_ast(text, &collect, &options()).map_err(|error| EditRefusal::Unreadable(error.to_string()))
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

pub(super) fn values(text: &str) -> Result<Value, EditRefusal> {
    Ok(parsed(text)?.value.map_or(Value::Null, Value::from))
}

/// The insertions that put the entry after its siblings, in their layout.
pub(super) fn insertions(text: &str, entry: &ConfigEntry) -> Result<Vec<Insertion>, EditRefusal> {
    let parsed = parsed(text)?;
    let tokens = parsed.tokens.unwrap_or_default();
    let Some(root) = &parsed.value else {
        return Ok(vec![whole(text, entry, !tokens.is_empty())]);
    };
    let place = JsonPlace {
        text,
        tokens: &tokens,
        unit: unit(text, root),
    };
    let wrong = || EditRefusal::Form(entry.name());
    let mut at = root;
    for (depth, key) in entry.path.iter().enumerate() {
        let Node::Object(object) = at else {
            return Err(wrong());
        };
        let Some(found) = last(object, key) else {
            let named = JsonItem {
                key: Some(key),
                value: entry.nested(depth + 1),
            };
            let children: Vec<Range> = object.properties.iter().map(Ranged::range).collect();
            return Ok(place.behind(object.range, &children, &named));
        };
        at = found;
    }
    let Node::Array(array) = at else {
        return Err(wrong());
    };
    let children: Vec<Range> = array.elements.iter().map(Ranged::range).collect();
    let item = JsonItem {
        key: None,
        value: entry.value.clone(),
    };
    Ok(place.behind(array.range, &children, &item))
}

/// The value of a key; of duplicate keys, the last one counts.
fn last<'a, 'b>(object: &'b Object<'a>, key: &str) -> Option<&'b Node<'a>> {
    let mut properties = object.properties.iter().rev();
    Some(&properties.find(|it| it.name.as_str() == key)?.value)
}

/// The insertion for a file without a value: a new object, after the comments.
fn whole(text: &str, entry: &ConfigEntry, has_comments: bool) -> Insertion {
    let object = JsonItem {
        key: None,
        value: entry.nested(0),
    };
    let object = object.lines("", UNIT);
    if has_comments {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        (text.len(), format!("{end}{object}\n"))
    } else {
        (0, format!("{object}\n"))
    }
}

/// The file's indent unit, taken from its first key.
fn unit(text: &str, root: &Node<'_>) -> String {
    let first = root.as_object().and_then(|object| object.properties.first());
    let unit = first.and_then(|first| own_line(text, first.start()));
    unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT).to_owned()
}

/// The indent of the line at `at`.
fn indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indent of the line, if only white space is before `at`.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let line = &text[text[..at].rfind('\n')? + 1..at];
    line.chars().all(char::is_whitespace).then_some(line)
}

/// A property, or an element of a list.
struct JsonItem<'a> {
    key: Option<&'a str>,
    value: Value,
}

impl JsonItem<'_> {
    fn line(&self) -> String {
        match self.key {
            Some(key) => format!("{}: {}", Value::from(key), self.value),
            None => self.value.to_string(),
        }
    }

    /// The item on several lines; the first line without its indent.
    fn lines(&self, indent: &str, unit: &str) -> String {
        let mut out = Vec::new();
        let form = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, form);
        serde::Serialize::serialize(&self.value, &mut serializer).expect("a value is JSON");
        let text = String::from_utf8(out).expect("JSON is text");
        let key = self.key.map(|key| format!("{}: ", Value::from(key)));
        key.unwrap_or_default() + &text.replace('\n', &format!("\n{indent}"))
    }
}

struct JsonPlace<'a> {
    text: &'a str,
    tokens: &'a [TokenAndRange<'a>],
    unit: String,
}

impl JsonPlace<'_> {
    /// Inserts the item after the last child of an object or a list.
    fn behind(&self, container: Range, children: &[Range], item: &JsonItem<'_>) -> Vec<Insertion> {
        let (text, unit) = (self.text, self.unit.as_str());
        let outer = indent(text, container.start);
        let Some(last) = children.last() else {
            let at = self.past_comments(container.start + 1);
            let inner = format!("{outer}{unit}");
            let rest = &text[at..container.end - 1];
            let close = if rest.contains('\n') {
                String::new()
            } else {
                format!("\n{outer}")
            };
            return vec![(at, format!("\n{inner}{}{close}", item.lines(&inner, unit)))];
        };
        let comma = self
            .tokens_from(last.end)
            .find(|it| !is_comment(&it.token))
            .filter(|it| it.token == Token::Comma);
        let at = self.past_comments(comma.map_or(last.end, |comma| comma.range.end));
        let new = if container.text(text).contains('\n') {
            let inner = own_line(text, last.start).map_or_else(|| format!("{outer}{unit}"), str::to_owned);
            format!("\n{inner}{}", item.lines(&inner, unit))
        } else {
            format!(" {}", item.line())
        };
        match comma {
            // A file with a trailing comma keeps one.
            Some(_) => vec![(at, new + ",")],
            None => vec![(last.end, ",".to_owned()), (at, new)],
        }
    }

    fn tokens_from(&self, at: usize) -> impl Iterator<Item = &TokenAndRange<'_>> {
        self.tokens.iter().skip_while(move |it| it.range.start < at)
    }

    /// The position after the comments that follow on the same line.
    fn past_comments(&self, from: usize) -> usize {
        let comments = self.tokens_from(from).take_while(|it| is_comment(&it.token));
        comments.fold(from, |at, comment| {
            if self.text[at..comment.range.start].contains('\n') {
                at
            } else {
                comment.range.end
            }
        })
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// The text without the entry.
pub(super) fn without(text: &str, added: &AddedEntry) -> Option<String> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    let AddedEntry { entry, there } = added;
    let mut at = root.value()?;
    let mut around = Vec::new();
    for key in &entry.path {
        let property = at.as_object()?.get(key)?;
        at = property.value()?;
        around.push(property);
    }
    if entry.is_element {
        let list = at.as_array()?;
        let position = value_at(text, &entry.path)?
            .as_array()?
            .iter()
            .position(|it| *it == entry.value)?;
        list.elements().get(position)?.clone().remove();
    } else {
        around.pop()?.remove();
    }
    while around.len() > *there {
        let property = around.pop()?;
        let holds_nothing = match property.value()? {
            CstNode::Container(CstContainerNode::Object(object)) => object.properties().is_empty(),
            CstNode::Container(CstContainerNode::Array(array)) => array.elements().is_empty(),
            _ => false,
        };
        if holds_nothing {
            property.remove();
        }
    }
    Some(root.to_string())
}

fn value_at(text: &str, path: &[String]) -> Option<Value> {
    let mut values = values(text).ok()?;
    for key in path {
        values = values.get_mut(key)?.take();
    }
    Some(values)
}
