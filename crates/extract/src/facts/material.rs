//! What of a message is its writer's own account, and what is material: a paste, a draft, a story, a task.
//!
//! Owns: the signs of material. Never: what the account says.

/// Longer messages are pasted, and so are those of more lines.
const ACCOUNT_CHARS_MAX: usize = 1_200;
const ACCOUNT_LINES_MAX: usize = 6;

/// A short task has no room for material: "Write a poem, my girlfriend's name is Noor".
const TASK_CHARS_MAX: usize = 240;

/// Openings of a task whose text belongs to its result.
const TASKS: &str = " act analyze answer brainstorm come complete compose continue correct create describe design develop draft edit \
     expand explain fill fix generate give identify imagine improve list make paraphrase play pretend proofread read reformulate \
     rephrase respond review revise rewrite roleplay script shorten simplify summarise summarize suppose translate using write ";

/// Words of a scene: what is said in it, its characters say.
const SCENES: &str = "role play|role-play|roleplay|you to act as|act as a|text adventure|fanfic|write a story|tell me a story|\
    continue the story|stay in character";
/// Beginnings of a message that set one.
const SCENE_STARTS: &str = "act as |pretend |imagine you |you are a |you are an |you are the |you will be ";

/// Beginnings of a letter's or a paper's lines.
const LETTERS: &str =
    "dear |sincerely|best regards|kind regards|warm regards|subject:|to whom it may|abstract";

/// Marks that no one speaks: code, tables, records, quotations that go on.
const MARKS: [char; 11] = ['{', '}', '[', ']', '|', '=', '\\', '<', '>', '*', '~'];

/// Quotation marks that cannot be an apostrophe.
const QUOTES: [char; 6] = ['"', '“', '”', '„', '«', '»'];
/// Longer quotations are somebody's sentences.
const NAME_WORDS_MAX: usize = 4;

/// Whether a message is its writer speaking of themselves, as far as its form tells.
pub(super) fn is_account(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lower = text.to_lowercase();
    let opens = lower
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty() && !matches!(*word, "please" | "can" | "could" | "you" | "now" | "ok"));
    let is_task = opens.is_some_and(|word| TASKS.contains(&format!(" {word} ")));
    text.chars().count() <= ACCOUNT_CHARS_MAX
        && lines.count() <= ACCOUNT_LINES_MAX
        && !(is_task && text.chars().count() > TASK_CHARS_MAX)
        && !sets_a_scene(&lower)
        && !lower.lines().any(|line| starts_with_any(line, LETTERS))
}

/// Whether a message in lower case asks for a role or a story.
pub(super) fn sets_a_scene(lower: &str) -> bool {
    SCENES.split('|').any(|scene| lower.contains(scene)) || starts_with_any(lower, SCENE_STARTS)
}

fn starts_with_any(text: &str, starts: &str) -> bool {
    starts
        .split('|')
        .any(|start| text.trim_start().starts_with(start))
}

/// Whether a sentence is spoken: no code or title, and no quotation but a name.
pub(super) fn is_spoken(sentence: &str) -> bool {
    let quotes: Vec<usize> = sentence.match_indices(QUOTES).map(|(at, _)| at).collect();
    let is_name = |pair: &[usize]| sentence[pair[0]..pair[1]].split_whitespace().count() <= NAME_WORDS_MAX;
    let quotes_names = quotes.len().is_multiple_of(2) && quotes.chunks_exact(2).all(is_name);
    let opens = sentence.starts_with(['"', '“', '\'', '‘', '(', '«']);
    quotes_names && !opens && !sentence.contains(MARKS) && !sentence.contains("http")
}
