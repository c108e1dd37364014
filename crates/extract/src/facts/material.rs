//! What of a message is its writer's own account, and what is material: a paste, a draft, a story, a task.
//!
//! Owns: the signs of material. Never: what the account says.

/// Longer messages are pasted, and so are those of more lines.
const ACCOUNT_CHARS_MAX: usize = 1_200;
const ACCOUNT_LINES_MAX: usize = 6;

/// A short task has no room for material: "Write a poem, my girlfriend's name is Noor".
const TASK_CHARS_MAX: usize = 240;

/// Openings of a task whose text belongs to its result.
const TASKS: &str = " act add analyze answer brainstorm come complete compose continue correct create describe design develop draft edit \
     expand explain fill fix generate give identify imagine improve list make paraphrase play pretend proofread read reformulate \
     rephrase respond review revise rewrite roleplay script shorten simplify summarise summarize suppose tell translate using write ";

/// Words of a scene: what is said from there on, its characters say.
const SCENES: &str = "role play|role-play|roleplay|you to act as|act as a|text adventure|dungeon master|fanfic|stay in character|\
    continue this:|in the story|in my story|in the novel|in my novel|my character|my protagonist|two truths|as if you are|as if you were|pretend to be|\
    pretend you|pretend that you|pretend i|pretending to be|let's pretend|lets pretend|mock interview|mock trial|fictional|\
    make-believe|argue with me|debate with me|play the part|play the role|i'll be the|i will be the|you be the|you'll be the|\
    improv|rollenspiel|du bist jetzt|du spielst|jeu de rôle|tu es maintenant|juego de rol|eres un |eres una |finge que|jogo de papéis|faz de conta|你扮演|角色扮演|假装|なりきって|ロールプレイ|役を演じ|ごっこ|遊びましょう|遊ぼう|来玩|演一";
/// What a task makes of which its characters speak.
const FICTION: &str = " story tale scene monologue dialogue screenplay script novel chapter sketch ";
/// A task names its result early.
const RESULT_WORDS_MAX: usize = 8;
/// Beginnings of a sentence that set one.
const SCENE_STARTS: &str = "act as |pretend |imagine you |you are a |you are an |you are the |you will be |be a |be an |be my |spielen wir |\
    stell dir vor, du |jouons |imagine que tu |juguemos |imagina que |vamos jogar |vamos brincar |vamos a jugar |lass uns spielen|on joue ";

/// Questions of an exercise: its persons are nobody.
const EXERCISES: &str = "how many do i have|how many does|how many are left|how much is left|how much do i have left|word problem";

/// Beginnings of a letter's or a paper's lines.
const LETTERS: &str = "dear |sincerely|best regards|kind regards|warm regards|subject:|to whom it may|abstract|[forward|fwd:|fw:";

/// Marks that no one speaks: code, tables, records, quotations that go on.
const MARKS: [char; 12] = ['{', '}', '[', ']', '|', '=', '\\', '<', '>', '*', '~', '`'];

/// Quotation marks that cannot be an apostrophe.
const QUOTES: [char; 6] = ['"', '“', '”', '„', '«', '»'];
/// Longer quotations are somebody's sentences.
const NAME_WORDS_MAX: usize = 4;

/// Whether a message is its writer speaking of themselves, as far as its form tells.
pub(super) fn is_account(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lower = text.to_lowercase();
    // What stands behind a colon is what the task is to be done with.
    let has_material =
        || text.chars().count() > TASK_CHARS_MAX || text.contains(": ") || text.contains(":\n");
    let is_long = text.chars().count() > ACCOUNT_CHARS_MAX || lines.count() > ACCOUNT_LINES_MAX;
    let is_task = || task_words(&lower).next().is_some() && has_material();
    let is_exercise = || EXERCISES.split('|').any(|exercise| lower.contains(exercise));
    let is_letter = || lower.lines().any(|line| starts_with_any(line, LETTERS));
    let is_material = is_long || is_task() || sets_a_scene(&lower) || is_exercise() || is_letter();
    !is_material
}

/// The words of a message in lower case from the verb on, if it opens with a task.
fn task_words(lower: &str) -> impl Iterator<Item = &str> {
    let idle = |word: &&str| {
        matches!(
            *word,
            "" | "please" | "can" | "could" | "you" | "now" | "ok" | "hi" | "hey"
        )
    };
    let words = lower.split(|c: char| !c.is_alphanumeric()).skip_while(idle);
    let mut words = words.peekable();
    let is_task = words.peek().is_some_and(|word| is_one(word, TASKS));
    words.filter(move |_| is_task)
}

fn is_one(word: &str, list: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Whether a message in lower case begins a role play: what is said from there on, anybody may say.
pub(super) fn is_played(lower: &str) -> bool {
    let mut sentences = lower.split(['.', '!', '?', '\n', '。', '！', '？']);
    SCENES.split('|').any(|scene| lower.contains(scene))
        || sentences.any(|sentence| starts_with_any(sentence, SCENE_STARTS))
}

/// Whether a message in lower case asks for a role or a story.
fn sets_a_scene(lower: &str) -> bool {
    is_played(lower)
        || task_words(lower)
            .take(RESULT_WORDS_MAX)
            .any(|word| is_one(word, FICTION))
}

fn starts_with_any(text: &str, starts: &str) -> bool {
    starts
        .split('|')
        .any(|start| text.trim_start().starts_with(start))
}

/// The sentences of a message that its writer speaks: none within a quotation that goes on over several.
pub(super) fn spoken(sentences: Vec<&str>) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    sentences.into_iter().filter(move |sentence| {
        let is_inside = is_quoted;
        is_quoted ^= sentence.matches(QUOTES).count() % 2 == 1;
        !is_inside && is_spoken(sentence)
    })
}

/// Whether a sentence is spoken: no code or title, and no quotation but a name.
fn is_spoken(sentence: &str) -> bool {
    let quotes: Vec<usize> = sentence.match_indices(QUOTES).map(|(at, _)| at).collect();
    // A name has no comma; where no space parts words, a sentence is one word.
    let is_name = |pair: &[usize]| {
        let quoted = &sentence[pair[0]..pair[1]];
        quoted.split_whitespace().count() <= NAME_WORDS_MAX
            && !quoted.contains(['，', '。', '、', '！', '？'])
    };
    let quotes_names = quotes.len().is_multiple_of(2) && quotes.chunks_exact(2).all(is_name);
    let opens = sentence.starts_with(['"', '“', '\'', '‘', '(', '«']);
    quotes_names && !opens && !sentence.contains(MARKS) && !sentence.contains("http")
}
