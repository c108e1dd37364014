//! The messages of an entry, as a person would write a conversation down:
//! `**Ana** 19:02 I am home. <!--m_1-->`.
//!
//! Owns: the first line of a message, and the line with speakers and times above the messages.
//! Never: the text below that line.
//!
//! The comment has the message's id first: `_x` is short for `m_<UTC date of the message>_x`. Then
//! come the seconds (`:31.25`), the sender if it is not the shown name (`@ana`), the role if it
//! does not follow from the sender, and the complete time (`at=…`) if it does not follow from the
//! shown one. The shown time has the offset of the entry's own time, and its day unless it has a
//! date of its own.

use std::fmt::Write as _;

use model::{Message, Name, Role, Timestamp, Zone, date_in_words, read_date_in_words};

use crate::escape::{is_space, push_chars, value_without};
use crate::lines::split_comment;
use crate::marks::word;
use crate::render::time;

/// The first line of a message, in its parts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TalkLine<'a> {
    pub speaker: &'a str,
    date: &'a str,
    minute: &'a str,
    /// The first line of the text; empty if the text begins below.
    pub text: &'a str,
    pub id: &'a str,
    marks: &'a str,
}

/// The message on its first line.
pub(crate) fn read_line(line: &str) -> Option<TalkLine<'_>> {
    let (speaker, rest) = line.strip_prefix("**")?.split_once("** ")?;
    let (said, comment) = split_comment(rest.trim_end_matches(is_space))?;
    let (id, marks) = comment.split_once(' ').unwrap_or((comment, ""));
    let (date, said) = if is_minute(said) {
        ("", said)
    } else {
        said.split_once(", ")?
    };
    let is_date = date.is_empty() || read_date_in_words(date).is_some();
    let (minute, text) = said.split_at_checked(5).filter(|_| is_minute(said))?;
    let is_whole = is_date && !id.is_empty() && (text.is_empty() || text.starts_with(' '));
    let text = text.strip_prefix(' ').unwrap_or(text);
    is_whole.then_some(TalkLine {
        speaker,
        date,
        minute,
        text,
        id,
        marks,
    })
}

/// Whether a line begins a message and its comment may be on a later line, because a formatter
/// wrapped it.
pub(crate) fn is_head(line: &str) -> bool {
    line.starts_with("**") && read_line(&format!("{line} <!--x-->")).is_some()
}

fn is_minute(text: &str) -> bool {
    let shape = |(n, byte): (usize, u8)| {
        if n == 2 {
            byte == b':'
        } else {
            byte.is_ascii_digit()
        }
    };
    text.len() >= 5 && text.bytes().take(5).enumerate().all(shape)
}

/// A time in its parts: `2026-09-21`, `14:13`, `:20.5`, `+02:00`; none if the year has not four
/// digits.
fn parts(time: &str) -> Option<(&str, &str, &str, &str)> {
    let (date, rest) = time.split_once('T')?;
    let (minute, rest) = rest.split_at_checked(5)?;
    let (seconds, offset) = rest.split_at(rest.find(['Z', '+', '-'])?);
    (date.len() == 10).then_some((date, minute, seconds, offset))
}

impl TalkLine<'_> {
    /// The id without its short form, before escapes are undone.
    pub(crate) fn id_at(&self, time: Timestamp) -> String {
        match self.id.strip_prefix('_') {
            Some(rest) => format!("{}{rest}", usual_id(time)),
            None => self.id.to_owned(),
        }
    }

    /// The message's time, in an entry with that time as written; none if the parts are no time.
    pub(crate) fn time(&self, entry: &str, zone: &Zone) -> Option<Timestamp> {
        if let Some(at) = self.comment_words().find_map(|word| word.strip_prefix("at=")) {
            return zone.parse(at).ok();
        }
        let (entry_date, _, _, offset) = parts(entry)?;
        let own = read_date_in_words(self.date).map(|date| date.to_string());
        let seconds = self
            .comment_words()
            .find(|word| word.starts_with(':'))
            .unwrap_or(":00");
        let date = own.as_deref().unwrap_or(entry_date);
        zone.parse(&format!("{date}T{}{seconds}{offset}", self.minute))
            .ok()
    }

    /// The sender's id, if it differs from the shown name.
    pub(crate) fn sender(&self) -> Option<&str> {
        self.comment_words().find_map(|word| word.strip_prefix('@'))
    }

    pub(crate) fn role(&self, sender: &Name) -> Role {
        self.comment_words()
            .find_map(Role::parse)
            .unwrap_or_else(|| usual_role(sender))
    }

    fn comment_words(&self) -> impl Iterator<Item = &str> {
        self.marks.split(' ')
    }
}

fn usual_role(sender: &Name) -> Role {
    Role::parse(sender.as_str()).unwrap_or(Role::User)
}

/// The usual beginning of ids of a day's messages.
fn usual_id(time: Timestamp) -> String {
    let date = Zone::utc().date(time);
    format!("m_{:04}{:02}{:02}_", date.year(), date.month(), date.day())
}

/// The first line of a text, if it can follow a name on the same line; a list, a table or code
/// begins below.
pub(crate) fn first_line(text: &str) -> Option<(&str, Option<&str>)> {
    let (first, rest) = text
        .split_once('\n')
        .map_or((text, None), |(first, rest)| (first, Some(rest)));
    let is_prose = first.starts_with(|c: char| c.is_alphanumeric() || "\"'“„«(¿¡‘*_[".contains(c));
    let is_list = first.starts_with("* ")
        || first.split_once([' ', '\t']).is_some_and(|(mark, _)| {
            mark.ends_with(['.', ')']) && mark.starts_with(|c: char| c.is_ascii_digit())
        });
    (is_prose && !is_list && !first.ends_with(is_space)).then_some((first, rest))
}

/// Appends the first line of a message; `text` is the first line of its text.
pub(crate) fn push_line(out: &mut String, turn: &Message, text: &str, entry: &str, zone: &Zone) {
    let at = time(turn.time, zone);
    let nice = parts(&at).zip(parts(entry)).filter(|(at, entry)| at.3 == entry.3);
    out.push_str("**");
    out.push_str(&value_without(turn.speaker(), |c| c == '*'));
    out.push_str("** ");
    let mut marks = Vec::new();
    if let Some(((date, minute, seconds, _), entry)) = nice {
        if let (true, Ok(date)) = (date != entry.0, date.parse()) {
            out.push_str(&date_in_words(date));
            out.push_str(", ");
        }
        out.push_str(minute);
        marks.extend((seconds != ":00").then(|| seconds.to_owned()));
    } else {
        out.push_str(parts(&at).map_or("00:00", |at| at.1));
        marks.push(format!("at={at}"));
    }
    out.push(' ');
    push_chars(out, text, |_| false);
    if !text.is_empty() {
        out.push(' ');
    }
    marks.extend(turn.sender_name.as_ref().map(|_| format!("@{}", turn.sender)));
    marks.extend((usual_role(&turn.sender) != turn.role).then(|| turn.role.as_str().to_owned()));
    let id = turn.id.as_str();
    let id = match id.strip_prefix(&usual_id(turn.time)) {
        Some(rest) => format!("_{}", word(rest)),
        None if id.starts_with('_') => format!("\\u{{5F}}{}", word(&id[1..])),
        None => word(id),
    };
    marks.insert(0, id);
    writeln!(out, "<!--{}-->", marks.join(" ")).expect("a string takes any text");
}

/// Speakers and times in one line: `*Ana and Bo, 19:02 to 19:10*`.
pub(crate) fn push_who(out: &mut String, turns: &[Message], zone: &Zone) {
    let mut names: Vec<&str> = Vec::new();
    for turn in turns {
        if !names.contains(&turn.speaker()) {
            names.push(turn.speaker());
        }
    }
    let Some((last, others)) = names.split_last() else {
        return;
    };
    let who = match others {
        [] => (*last).to_owned(),
        _ => format!("{} and {last}", others.join(", ")),
    };
    let short = |turn: &Message| zone.render_short(turn.time);
    let first = turns
        .iter()
        .min_by_key(|turn| turn.time)
        .map(short)
        .unwrap_or_default();
    let last = turns
        .iter()
        .max_by_key(|turn| turn.time)
        .map(short)
        .unwrap_or_default();
    let minute = |short: &str| short.rsplit(' ').next().unwrap_or_default().to_owned();
    let is_one_day = first.split(' ').next() == last.split(' ').next();
    let when = match (first == last, is_one_day) {
        (true, _) => minute(&first),
        (false, true) => format!("{} to {}", minute(&first), minute(&last)),
        (false, false) => format!("{first} to {last}"),
    };
    writeln!(out, "*{}, {when}*", value_without(&who, |c| c == '*')).expect("a string takes any text");
}

/// Whether a line has speakers and times. It only repeats the messages, so it is not parsed.
pub(crate) fn is_who(line: &str) -> bool {
    let inner = line
        .trim_end_matches(is_space)
        .strip_prefix('*')
        .and_then(|line| line.strip_suffix('*'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.starts_with(['*', ' ']) && !inner.ends_with('*'))
}
