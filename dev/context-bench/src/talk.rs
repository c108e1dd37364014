//! Made-up talks of agents: asks, narration, calls in four agents' forms, code, logs, searches, failures, and
//! needles among them.
//!
//! Owns: the planted needles and the true state of files and commands. Never: the rules that look for
//! needles.
//!
//! Reading order: [`Talk`], [`work`] (the agent's actions), [`phrases`].

mod phrases;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use transcript::{Item, Role};

use crate::dice::Dice;
use phrases::{ASKS, CARRIERS, SETS, TOOL_RULES};

/// The types of needles, by [`Needle::kind`].
pub const TYPES: [&str; 10] = [
    "decision",
    "constraint",
    "path and line",
    "error text",
    "number and unit",
    "UUID or hash",
    "URL",
    "API signature",
    "todo",
    "CJK sentence",
];
/// The index of `constraint` in [`TYPES`]: only the user states them.
pub const CONSTRAINT: usize = 1;

/// A piece of information that the talk states once.
#[derive(Debug, Clone)]
pub struct Needle {
    /// Index in [`TYPES`].
    pub kind: usize,
    /// The text that must be found again, word for word.
    pub text: String,
    /// Its phrasing is of the second set, which nobody read while the rules were made.
    pub held_out: bool,
    /// Index of the item that states it, and that item's role.
    pub item: usize,
    pub role: Role,
}

impl Needle {
    /// Whether a text contains it, but not as the end of a longer word or number.
    pub fn is_in(&self, text: &str) -> bool {
        let begins = |at: usize| {
            let before = text[..at].chars().next_back();
            !before.is_some_and(|c| c.is_ascii_alphanumeric())
                || !self.text.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        text.match_indices(&self.text).any(|(at, _)| begins(at))
    }
}

/// A talk and the truth about it.
#[derive(Debug, Clone)]
pub struct Talk {
    pub items: Vec<Arc<Item>>,
    pub needles: Vec<Needle>,
    /// The last state of each file, with `PATH` for its path.
    pub files: BTreeMap<String, String>,
    /// The last outcome of each command.
    pub commands: BTreeMap<String, String>,
    /// The made-up word in each rule that the output of a tool states: such a rule binds nobody.
    pub tool_rules: Vec<String>,
    dice: Dice,
    agent: usize,
    calls: usize,
}

impl Talk {
    /// A talk of 50 to 400 items with 20 needles.
    pub fn new(seed: u64) -> Self {
        let length = 50 + Dice::new(seed).roll(351);
        Self::of(seed, length, 20)
    }

    /// A talk of at least `length` items with `needles` needles, as many of each type.
    pub fn of(seed: u64, length: usize, needles: usize) -> Self {
        let mut dice = Dice::new(seed);
        let agent = dice.roll(4);
        let mut talk = Self {
            items: Vec::new(),
            needles: Vec::new(),
            files: BTreeMap::new(),
            commands: BTreeMap::new(),
            tool_rules: Vec::new(),
            dice,
            agent,
            calls: 0,
        };
        talk.open();
        let mut due: Vec<(usize, Option<usize>)> = (0..needles)
            .map(|n| Some(n % TYPES.len()))
            .chain([None; 3])
            .map(|kind| (2 + talk.dice.roll(length.saturating_sub(10)), kind))
            .collect();
        due.sort_unstable();
        let mut due = due.into_iter().peekable();
        while talk.items.len() < length {
            while let Some((_, kind)) = due.next_if(|(at, _)| *at <= talk.items.len()) {
                talk.drop_in(kind);
            }
            match talk.dice.roll(13) {
                0 => talk.ask(None),
                1 | 2 => talk.say(None),
                3..=6 => talk.look(),
                7 | 8 => talk.change(),
                9 => talk.survey(),
                _ => talk.run(),
            }
        }
        due.for_each(|(_, kind)| talk.drop_in(kind));
        talk
    }

    fn open(&mut self) {
        self.push(Item::text(
            Role::System,
            "You are an agent that works on a code base at a terminal. Think first, then act in small steps. Say what you \
             did and what you found. The tools are described apart from this text.",
        ));
        let word = self.dice.word();
        self.push(Item::text(
            Role::User,
            format!("Our {word} service loses orders under load. Find out why and make it reliable."),
        ));
    }

    fn push(&mut self, item: Item) {
        self.items.push(Arc::new(item));
    }

    fn drop_in(&mut self, kind: Option<usize>) {
        match kind {
            Some(kind) => self.plant(kind),
            None => self.plant_tool_rule(),
        }
    }

    fn plant_tool_rule(&mut self) {
        let word = self.dice.word();
        let rule = self.dice.of(&TOOL_RULES).replace("{}", &word);
        let log = self.log(Some(&rule));
        let path = format!("notes/{word}.txt");
        self.shell(&format!("cat {path}"), log, 0);
        self.touch(&path, "read PATH");
        self.tool_rules.push(word);
    }

    fn ask(&mut self, needle: Option<String>) {
        let mut text = self.dice.of(&ASKS).to_owned();
        if let Some(needle) = needle {
            text = if needle.starts_with('-') || self.dice.roll(2) == 0 {
                format!("{text}\n{needle}")
            } else {
                format!("{needle} {text}")
            };
        }
        self.push(Item::text(Role::User, text));
    }

    fn say(&mut self, needle: Option<String>) {
        let mut parts: Vec<String> = (0..2 + self.dice.roll(5)).map(|_| self.noise()).collect();
        if let Some(needle) = needle {
            let at = self.dice.roll(parts.len() + 1);
            parts.insert(
                at,
                if needle.starts_with('-') {
                    format!("\n{needle}\n")
                } else {
                    needle
                },
            );
        }
        self.push(Item::text(Role::Assistant, parts.join(" ")));
    }

    fn plant(&mut self, kind: usize) {
        let held_out = self.dice.roll(2) == 1;
        let set = &SETS[usize::from(held_out)];
        let value = self.value(kind);
        let phrase = match kind {
            0 | 1 => self.dice.of(set[kind]).replace("{}", &value),
            8 => self.dice.of(set[2]).replace("{}", &value),
            9 => format!("{value}。"),
            _ => {
                let carriers = CARRIERS[usize::from(held_out)];
                self.dice.of(&carriers).replace("{}", &value)
            }
        };
        match (kind, self.dice.roll(3)) {
            (3, _) => {
                let log = self.log(Some(&value));
                let word = self.dice.word();
                self.shell(&format!("make check-{word}"), log, 2);
            }
            (2 | 4 | 5 | 6 | 7, 0) => {
                let found = if kind == 2 {
                    self.search(Some(&value))
                } else {
                    self.log(Some(&phrase))
                };
                let word = self.dice.word();
                self.shell(&format!("./scripts/{word}.sh"), found, 0);
            }
            (1, _) | (_, 1) => self.ask(Some(phrase)),
            _ => self.say(Some(phrase)),
        }
        self.needles.push(Needle {
            kind,
            text: value,
            held_out,
            item: self.items.len() - 1,
            role: self.items[self.items.len() - 1].role,
        });
    }

    fn value(&mut self, kind: usize) -> String {
        let (word, other) = (self.dice.word(), self.dice.word());
        match kind {
            2 => format!("{}:{}", self.dice.path(), 10 + self.dice.roll(2000)),
            3 => match self.dice.roll(4) {
                0 => format!("ValueError: {word} does not match {other}"),
                1 => format!(
                    "error[E0{}]: cannot borrow `{word}` as {other}",
                    100 + self.dice.roll(600)
                ),
                2 => format!("panic: {word} out of range in {other}"),
                _ => format!("{word}: permission denied while opening {other}"),
            },
            4 => format!(
                "{} {}",
                1_000 + self.dice.roll(9_000),
                self.dice.of(&["ms", "MB", "seconds", "requests", "GiB", "rows"])
            ),
            5 => match self.dice.roll(2) {
                0 => format!(
                    "{}-{}-4{}-a{}-{}",
                    self.dice.hex(8),
                    self.dice.hex(4),
                    self.dice.hex(3),
                    self.dice.hex(3),
                    self.dice.hex(12)
                ),
                _ => self.dice.hex(40),
            },
            6 => format!("https://{word}.example.com/{other}/{}?tab=x", self.dice.roll(900)),
            7 => match self.dice.roll(3) {
                0 => format!("{word}_{other}(key: &str, ttl: Duration) -> Option<Entry>"),
                1 => format!("{word}{}(path, retries=3)", other.to_uppercase()),
                _ => format!("def {word}_{other}(self, items: list[int]) -> bool"),
            },
            9 => format!(
                "{}在{}时会先检查{}",
                self.dice.ideographs(5),
                self.dice.ideographs(4),
                self.dice.ideographs(5)
            ),
            _ => format!("{word} {other}"),
        }
    }
}
