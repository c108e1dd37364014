//! What of a message is not its writer's own account: quotations, what a task is to be done with, played roles.
//!
//! Owns: their signs, in the languages of Quipu's rules (`material.txt`). Never: their weight.

use std::sync::LazyLock;

/// Beginnings of words and phrases, by their first byte.
struct Signs([Vec<&'static str>; 256]);

/// What stands behind the colon of such a task is not the writer's own.
static TASKS: LazyLock<Signs> = LazyLock::new(|| Signs::named("task"));
/// Who says this plays a role.
static SCENES: LazyLock<Signs> = LazyLock::new(|| Signs::named("scene"));

impl Signs {
    fn named(name: &str) -> Self {
        let mut signs = Self([const { Vec::new() }; 256]);
        let lines = include_str!("material.txt").lines();
        let own = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        for sign in own.flat_map(|line| line.split(", ")) {
            signs.0[usize::from(sign.as_bytes()[0])].push(sign);
        }
        signs
    }

    /// Whether a word or a phrase of a text in lower case begins like one of these.
    fn are_in(&self, lower: &str) -> bool {
        (0..).zip(lower.bytes()).any(|(at, first): (usize, u8)| {
            let mut like = self.0[usize::from(first)].iter();
            like.any(|sign| {
                // In scripts without spaces a word begins anywhere.
                let is_unspaced = !sign.is_ascii() && !sign.contains(' ');
                lower[at..].starts_with(sign)
                    && (is_unspaced || !lower[..at].ends_with(char::is_alphanumeric))
            })
        })
    }
}

/// The mark that closes a quotation, by the one that opens it.
fn closing(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '»' => &['«'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// The beginning of a message tells what it is.
const READ_BYTES_MAX: usize = 4096;

/// What a message tells of its writer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Material {
    /// The share that its writer does not say of themselves, by length: 0 to 1.
    pub(crate) share: f32,
    /// It sets a scene, in which what follows is played.
    pub(crate) is_scene: bool,
}

pub(crate) fn read(text: &str) -> Material {
    let lower = text[..text.floor_char_boundary(READ_BYTES_MAX)].to_lowercase();
    let is_scene = SCENES.are_in(&lower);
    let share = if is_scene { 1.0 } else { share(&lower) };
    Material { share, is_scene }
}

fn share(lower: &str) -> f32 {
    let (mut borrowed, mut at) = (0, 0);
    let mut is_task = None;
    while let Some(c) = lower[at..].chars().next() {
        let start = at + c.len_utf8();
        let end = closing(c).and_then(|close| lower[start..].find(close));
        if let Some(end) = end {
            borrowed += end;
            at = start + end;
        } else if opens_material(c, &lower[start..])
            && *is_task.get_or_insert_with(|| TASKS.are_in(&lower[..at]))
            && !lower[start..].trim_start().starts_with(|c| closing(c).is_some())
        {
            borrowed += lower.len() - start;
            break;
        } else if is_supposed(&lower[at..], &lower[..at]) {
            let end = lower[at..]
                .find(['.', '!', '?', '\n'])
                .unwrap_or(lower.len() - at);
            borrowed += end;
            at += end.max(1);
            continue;
        }
        at += lower[at..].chars().next().map_or(0, char::len_utf8);
    }
    borrowed as f32 / lower.len().max(1) as f32
}

/// Behind a colon or an empty line stands what a task is to be done with.
fn opens_material(c: char, rest: &str) -> bool {
    c == '：' || c == ':' && rest.starts_with(char::is_whitespace) || c == '\n' && rest.starts_with('\n')
}

/// Whether a sentence begins that only supposes something of its writer.
fn is_supposed(rest: &str, before: &str) -> bool {
    let begins = before.trim_end_matches(' ').ends_with(['.', '!', '?', '\n']) || before.is_empty();
    begins
        && ["if i ", "if we ", "if i'", "if we'"]
            .iter()
            .any(|opening| rest.starts_with(opening))
}

#[cfg(test)]
mod tests;
