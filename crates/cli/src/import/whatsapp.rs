//! A `WhatsApp` chat as text: each message begins with a date, a time and a name in the notation of the phone.
//!
//! Owns: that notation. Never: an order of day and month that the dates do not show.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::text::Fnv;
use regex::Regex;
use serde_json::{Value, json};

use super::ImportFile;
use crate::args::DatesArg;
use crate::error::{Failure, Hinted as _};

/// Direction marks; one before the text shows that the program wrote it.
const MARKS: [char; 3] = ['\u{200e}', '\u{200f}', '\u{feff}'];
/// The mark that the program writes; a person can type the others.
const OWN_MARK: char = '\u{200e}';

/// The head of a line.
struct Head<'a> {
    /// As written: the order of day, month and year is the phone's.
    date: [u32; 3],
    /// Whether the head is in brackets, and the separator of day and month; both are the same in a whole chat.
    notation: (bool, char),
    time: [u32; 3],
    /// The name and the text, or a text of the program.
    rest: &'a str,
}

/// The chat, if the text is one; else `None`.
pub(super) fn chat(
    text: &str,
    source: &ImportFile,
    dates: Option<DatesArg>,
) -> Result<Option<Value>, Failure> {
    let mut said: Vec<(Head<'_>, String)> = Vec::new();
    for line in text.lines() {
        let head = head(line).filter(|head| {
            said.first()
                .is_none_or(|(first, _)| first.notation == head.notation)
        });
        match (head, said.last_mut()) {
            (Some(head), _) => said.push((head, String::new())),
            (None, Some((_, more))) => more.extend(["\n", line]),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => return Ok(None),
        }
    }
    let named = said.iter().filter(|(head, _)| head.rest.contains(": ")).count();
    // The log of a program has similar line heads.
    let name = format!("{}/{}", source.folder(), source.stem()).to_lowercase();
    let is_chats = source.is_named || ["whatsapp", "_chat"].iter().any(|own| name.contains(own));
    if named * 2 <= said.len() || !is_chats {
        return Ok(None);
    }
    let unknown = format!("{source}: its dates do not show whether the day or the month is first");
    let day_first = is_day_first(&said, dates)
        .ok_or_else(|| Failure::usage(unknown))
        .hint("import it with `--dates day-first` or with `--dates month-first`")?;
    let mut ids = HashMap::new();
    let messages: Vec<Value> = said
        .iter()
        .map(|(head, more)| head.message(more, day_first, &mut ids))
        .collect();
    let stem = source.stem();
    let id = if stem == "_chat" { source.folder() } else { stem };
    Ok(Some(
        json!({"whatsapp": {"id": id, "title": id, "messages": messages}}),
    ))
}

/// Whether the day comes before the month; `None` if both orders are possible, or neither.
fn is_day_first(said: &[(Head<'_>, String)], dates: Option<DatesArg>) -> Option<bool> {
    let can = |day_first: bool| said.iter().all(|(head, _)| head.day(day_first).is_some());
    let runs = |day_first: bool| {
        let days: Vec<_> = said.iter().map(|(head, _)| head.day(day_first)).collect();
        days.is_sorted()
    };
    let (day, month) = (can(true), can(false));
    if day != month {
        return Some(day);
    }
    if said
        .iter()
        .all(|(head, _)| head.date[0] > 31 || head.notation.1 == '.')
    {
        return Some(true);
    }
    let decided = || (runs(true) != runs(false)).then(|| runs(true));
    let given = dates.map(|dates| dates == DatesArg::DayFirst);
    given.or_else(decided).filter(|_| day)
}

impl Head<'_> {
    /// Year, month and day.
    fn day(&self, day_first: bool) -> Option<[u32; 3]> {
        let [year, month, day] = match self.date {
            [year, month, day] if year > 31 => [year, month, day],
            [day, month, year] if day_first => [year, month, day],
            [month, day, year] => [year, month, day],
        };
        let year = if year < 100 { year + 2000 } else { year };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some([year, month, day])
    }

    fn message(&self, more: &str, day_first: bool, ids: &mut HashMap<u64, usize>) -> Value {
        let [year, month, day] = self.day(day_first).unwrap_or_default();
        let [hour, minute, second] = self.time;
        let time = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        let (name, words) = self.rest.split_once(": ").unwrap_or(("", self.rest));
        let inner = words
            .trim()
            .strip_prefix('<')
            .and_then(|words| words.strip_suffix('>'));
        // A message sent with a file follows the file's placeholder.
        let is_alone = more.trim().is_empty();
        let is_placeholder = is_alone && inner.is_some_and(|inner| !inner.contains(['<', '>', '/']));
        let is_programs = name.is_empty() || is_alone && words.starts_with(OWN_MARK) || is_placeholder;
        // Drops the text that the program adds after the words.
        let words = words.split_once("\u{200e}<").map_or(words, |(words, _)| words);
        let name = name.trim_matches(MARKS).trim();
        let text = format!("{words}{more}");
        let number = Fnv::of(format!("{time} {name} {text}").as_bytes());
        let count = ids.entry(number).or_insert(0);
        *count += 1;
        json!({
            "id": format!("{number:016x}-{count}"), "role": if is_programs { "program" } else { "user" }, "person": name, "name": name,
            "time": time, "text": text.trim(),
        })
    }
}

/// A date, a time, AM or PM, and the rest; the first parts are in brackets or before a dash.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    let head = r"(?x) ^ [\u{200e}\u{200f}\u{feff}]* (?<bracket>\[)?
        (?<d1>[0-9٠-٩]{1,4}) (?<sign>[/.-]) \s* (?<d2>[0-9٠-٩]{1,4}) (?<again>[/.-]) \s* (?<d3>[0-9٠-٩]{1,4})
        [\s.,،\u{200e}\u{200f}\u{feff}]* (?:klo\x20)?
        (?<t1>[0-9٠-٩]{1,4}) [:.] (?<t2>[0-9٠-٩]{1,4}) (?:[:.] (?<t3>[0-9٠-٩]{1,4}))? (?<rest>.*) $";
    Regex::new(head).expect("it is this program's own")
});

/// A number in European or Arabic digits.
fn number(text: &str) -> Option<u32> {
    let arabic = |c: char| (c as u32).checked_sub('٠' as u32);
    let digit = |c: char| c.to_digit(10).or_else(|| arabic(c));
    text.chars()
        .try_fold(0, |number, c| Some(number * 10 + digit(c)?))
}

/// Whether the line begins a message of a chat.
pub(super) fn is_head(line: &str) -> bool {
    head(line).is_some()
}

fn head(line: &str) -> Option<Head<'_>> {
    let found = HEAD.captures(line)?;
    let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
    let numbers = |names: [&str; 3]| {
        let [first, second, third] = names.map(|name| number(part(name)));
        Some([first?, second?, third?])
    };
    let (date, mut time) = (numbers(["d1", "d2", "d3"])?, numbers(["t1", "t2", "t3"])?);
    let sign = part("sign");
    let in_brackets = found.name("bracket").is_some();
    let rest = found.name("rest")?.as_str();
    let (half, rest) = rest.split_once(if in_brackets { "] " } else { " - " })?;
    if sign != part("again") || half.chars().any(|c| c.is_ascii_digit()) {
        return None;
    }
    let half: String = half
        .chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    time[0] = match half.as_str() {
        "" => time[0],
        "am" | "öö" => time[0] % 12,
        "pm" | "ös" => time[0] % 12 + 12,
        _ => return None,
    };
    let notation = (in_brackets, sign.chars().next()?);
    Some(Head {
        date,
        notation,
        time,
        rest,
    })
}
