//! Secrets with a known form, in any context.
//!
//! Owns: the forms (`shapes.txt`). Never: names of variables; see `assign`.

use std::sync::LazyLock;

use super::assign::is_random;
use super::{FoundSecret, LazyPattern, hints_at};

/// A further condition on a match.
#[derive(Debug, Clone, Copy)]
enum Look {
    Any,
    /// Contains a digit, unlike words joined by hyphens.
    Digit,
    /// Looks random.
    Random,
}

/// A form of `shapes.txt`.
struct SecretShape {
    kind: &'static str,
    hints: Vec<&'static str>,
    regex: LazyPattern,
    look: Look,
}

static SHAPES: LazyLock<Vec<SecretShape>> = LazyLock::new(|| {
    let mut shapes: Vec<SecretShape> = Vec::new();
    for line in include_str!("shapes.txt").lines() {
        if let Some(pattern) = line.strip_prefix("    ") {
            let shape = shapes.last_mut().expect("a pattern stands below its kind");
            shape.regex.pattern.to_mut().push_str(pattern);
        } else if !line.starts_with('#') {
            let (head, hints) = line.split_once(": ").unwrap_or((line, ""));
            let (kind, look) = head.split_once(' ').expect("a kind and a look");
            shapes.push(SecretShape {
                kind,
                hints: hints.split(", ").filter(|hint| !hint.is_empty()).collect(),
                regex: LazyPattern::new(""),
                look: match look {
                    "digit" => Look::Digit,
                    "random" => Look::Random,
                    "any" => Look::Any,
                    _ => unreachable!("`{look}` is no look"),
                },
            });
        }
    }
    shapes
});

/// Appends the secrets of `text`, shape by shape; `small` is the text in lower case.
pub(super) fn find(text: &str, small: &str, secrets: &mut Vec<FoundSecret>) {
    for shape in SHAPES.iter().filter(|shape| hints_at(small, &shape.hints)) {
        for groups in shape.regex.get().captures_iter(text) {
            let Some(hit) = groups.get(1).or_else(|| groups.get(0)) else {
                continue;
            };
            let looks = match shape.look {
                Look::Any => true,
                Look::Digit => hit.as_str().bytes().any(|byte| byte.is_ascii_digit()),
                Look::Random => is_random(hit.as_str()),
            };
            if looks {
                secrets.push(FoundSecret {
                    range: hit.range(),
                    kind: shape.kind,
                });
            }
        }
    }
}

#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    SHAPES.iter().map(|shape| (&*shape.regex.pattern, &*shape.hints))
}
