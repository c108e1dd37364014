//! Separates a message's own account from material: a paste, a draft, a story, a task.
//!
//! Owns: the signs of material. Never: the meaning of the account.

use super::statement::points;
use crate::visible::CODE_MARK;

/// Maximum length of a line of an account; a longer one is pasted.
const ACCOUNT_CHARS_MAX: usize = 1_200;

/// Words that open a scene: from there on its characters speak.
const SCENES: &str = "role play|role-play|roleplay|you to act as|act as a|text adventure|dungeon master|fanfic|stay in character|\
    continue this:|in the story|in my story|in the novel|in my novel|my character|my protagonist|two truths|as if you are|as if you were|pretend to be|\
    pretend you|pretend that you|pretend i|pretending to be|let's pretend|lets pretend|mock interview|mock trial|fictional|\
    make-believe|argue with me|debate with me|play the part|play the role|i'll be the|i will be the|you be the|you'll be the|\
    improv|rollenspiel|du bist jetzt|du spielst|jeu de rôle|tu es maintenant|juego de rol|eres un |eres una |finge que|jogo de papéis|faz de conta|你扮演|角色扮演|假装|なりきって|ロールプレイ|役を演じ|ごっこ|遊びましょう|遊ぼう|来玩|演一";
/// Beginnings of a sentence that opens a scene.
const SCENE_STARTS: &str = "act as |pretend |imagine you |you are a |you are an |you are the |you will be |be a |be an |be my |spielen wir |\
    stell dir vor, du |jouons |imagine que tu |juguemos |imagina que |vamos jogar |vamos brincar |vamos a jugar |lass uns spielen|on joue ";

/// Marks of text that nobody speaks: code, tables, records, quotations that continue.
const MARKS: [char; 12] = ['{', '}', '[', ']', '|', '=', '\\', '<', '>', '*', '~', '`'];

/// Quotation marks that cannot be an apostrophe.
pub(super) const QUOTES: [char; 6] = ['"', '“', '”', '„', '«', '»'];
/// A quotation with more words is a sentence, not a name.
const NAME_WORDS_MAX: usize = 4;

/// The lines of a message in which its writer speaks about themselves, judged by form: a message of
/// one line; of several paragraphs the first, and those after code or a quotation. The author of
/// all other lines is unknown.
pub(super) fn account(text: &str) -> Vec<&str> {
    if is_played(&text.to_lowercase()) {
        return Vec::new();
    }
    let blocks = blocks(text);
    let closed = blocks.iter().rposition(|block| block.is_closed);
    let behind = closed.map_or(&[][..], |at| &blocks[at + 1..]);
    let first = match &blocks[..] {
        // "I'm a quiet law student with a piano." – "Should I answer this?"
        [first, second] if second.points_back() && first.is_line() => None,
        blocks => blocks.first().filter(|first| first.is_line()),
    };
    let own = first
        .into_iter()
        .chain(behind.iter().filter(|_| behind.iter().all(Block::is_line)));
    own.map(|block| block.text)
        .filter(|line| line.chars().count() <= ACCOUNT_CHARS_MAX)
        .collect()
}

/// A paragraph: lines without an empty one between them.
struct Block<'a> {
    text: &'a str,
    /// It is code or a quotation, so its end is known.
    is_closed: bool,
}

impl Block<'_> {
    /// Whether it is one line of prose: no list, no salutation.
    fn is_line(&self) -> bool {
        let is_prose = self
            .text
            .starts_with(|c: char| c.is_alphabetic() || "¿¡".contains(c));
        !self.is_closed && is_prose && !self.text.contains('\n') && !self.text.ends_with(',')
    }

    /// Whether it asks about the text before it, and has no material of its own.
    fn points_back(&self) -> bool {
        self.is_line() && points(self.text) && !self.text.contains(QUOTES) && !self.text.contains([':', '：'])
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let blocks = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    let block = |text| Block {
        text,
        is_closed: is_quotation(text),
    };
    blocks.map(block).collect()
}

/// Whether all of a block is quoted, or code.
fn is_quotation(text: &str) -> bool {
    let is_quoted = text.starts_with(QUOTES) && text.ends_with(QUOTES);
    is_quoted || text == CODE_MARK || text.lines().all(|line| line.starts_with('>'))
}

/// The parts of a line by its writer: up to a colon, after which somebody else's text follows, and
/// again after the quotation.
pub(super) fn stretches(line: &str) -> Vec<&str> {
    let mut own = Vec::new();
    let mut rest = line;
    let hands_over = |(at, mark): &(usize, &str), rest: &str| {
        *mark == "：" || !rest[at + 1..].starts_with(|c: char| c.is_alphanumeric() || c == '/')
    };
    while let Some((at, mark)) = rest
        .match_indices([':', '：'])
        .find(|found| hands_over(found, rest))
    {
        own.push(&rest[..at + mark.len()]);
        let behind = rest[at + mark.len()..].trim_start();
        let quoted = behind.strip_prefix(QUOTES).unwrap_or_default();
        let Some(end) = quoted.find(QUOTES) else {
            return own;
        };
        rest = quoted[end..].trim_start_matches(QUOTES);
    }
    own.push(rest);
    own
}

/// Whether a message in lower case begins a role play: from there on anybody may speak.
pub(super) fn is_played(lower: &str) -> bool {
    let mut sentences = lower.split(['.', '!', '?', '\n', '。', '！', '？']);
    SCENES.split('|').any(|scene| lower.contains(scene))
        || sentences.any(|sentence| starts_with_any(sentence, SCENE_STARTS))
}

fn starts_with_any(text: &str, starts: &str) -> bool {
    starts
        .split('|')
        .any(|start| text.trim_start().starts_with(start))
}

/// The sentences of a message that its writer speaks: none inside a quotation of several sentences.
pub(super) fn spoken(sentences: Vec<&str>) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    sentences.into_iter().filter(move |sentence| {
        let is_inside = is_quoted;
        is_quoted ^= sentence.matches(QUOTES).count() % 2 == 1;
        !is_inside && is_spoken(sentence)
    })
}

/// Whether a text quotes somebody's sentence; a quoted name does not count.
pub(super) fn has_speech(text: &str) -> bool {
    const WORDS_MIN: usize = 3;
    let marks: Vec<usize> = text.match_indices(QUOTES).map(|(at, _)| at).collect();
    let is_said = |pair: &[usize]| {
        let said = text[pair[0]..pair[1]].trim_end();
        said.split_whitespace().count() >= WORDS_MIN && said.ends_with(['.', '!', '?', '…', ','])
    };
    marks.chunks_exact(2).any(is_said)
}

/// Whether a sentence is spoken: no code or title, and no quotation except a name.
fn is_spoken(sentence: &str) -> bool {
    let quotes: Vec<usize> = sentence.match_indices(QUOTES).map(|(at, _)| at).collect();
    // A name has no comma; in a script without spaces, a sentence counts as one word.
    let is_name = |pair: &[usize]| {
        let quoted = &sentence[pair[0]..pair[1]];
        quoted.split_whitespace().count() <= NAME_WORDS_MAX
            && !quoted.contains(['，', '。', '、', '！', '？'])
    };
    let quotes_names = quotes.len().is_multiple_of(2) && quotes.chunks_exact(2).all(is_name);
    let opens = sentence.starts_with(['"', '“', '\'', '‘', '(', '«']);
    quotes_names && !opens && !sentence.contains(MARKS) && !sentence.contains("http")
}
