//! Plain statements of a person, in the person's words.
//!
//! Owns: the choice of a sentence's clauses that are such statements, by their closed words
//! (`closed`). Never: a word of its own, or the test for the writer's account (`material`).
//!
//! A statement is one or more neighbouring clauses. The subject of its first clause is the speaker,
//! or a person or thing of the speaker; no word of it supposes, asks, addresses somebody, or refers
//! to the talk before it.

use std::ops::Range;

use model::text::{Language, is_stop_word};
use model::{Timestamp, Zone};
use recall::time::expressions;

use super::closed::{Closed, TONGUES, Tongue, denies, tongue};
use super::material::QUOTES;
use crate::words::{Word, words};

/// A longer statement is a story, which the messages keep.
const CHARS_MAX: usize = 240;
/// Minimum length of a statement in a script without spaces.
const UNSPACED_CHARS_MIN: usize = 5;
/// Words before "I": "in the mornings I …", "in der Früh trinke ich …".
const LEAD_WORDS_MAX: usize = 6;

/// A sentence that begins with a pronoun and has no more other words than this does not name its
/// subject: "it will be ready tomorrow".
const PRONOUN_WORDS_MAX: usize = 2;

/// Words before "and I" that are part of the subject.
const COUPLE_WORDS_MAX: usize = 2;

/// Marks between clauses in a script without spaces.
const MARKS: [char; 8] = ['，', ',', '、', '；', '。', '！', '!', '.'];

/// A statement in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    pub(super) said: &'a str,
    /// It is about the future.
    pub(super) is_plan: bool,
}

/// The statements of a sentence, in order.
pub(super) fn statements(sentence: &str) -> Vec<Statement<'_>> {
    let words = words(sentence);
    let language = Language::of(sentence);
    let (own, others): (Vec<&Tongue>, Vec<&Tongue>) = TONGUES
        .iter()
        .partition(|tongue| tongue.language == Some(language));
    // A short sentence may be assigned to a wrong language: any language whose closed words make
    // its first word the subject will do.
    let known = |tongue: &&Tongue| words.iter().any(|word| tongue.class(&word.text).is_some());
    let others = others
        .into_iter()
        .filter(|tongue| tongue.language.is_none() || tongue.opens(&words[..words.len().min(1)]).is_some());
    let mut tongues = own
        .iter()
        .copied()
        .chain(others.filter(|_| !own.iter().any(known)));
    let read = |tongue: &Tongue| match tongue.language {
        Some(_) => tongue.spaced(sentence, &words),
        None => tongue.unspaced(sentence),
    };
    tongues
        .find_map(|tongue| Some(read(tongue)).filter(|found: &Vec<_>| !found.is_empty()))
        .unwrap_or_default()
}

/// A sentence or clause about others that addresses nobody, asks nothing and supposes nothing.
pub(super) fn of_others(sentence: &str) -> Option<Statement<'_>> {
    let words = words(sentence);
    let tongue = tongue(Language::of(sentence))?;
    let is_pronoun = matches!(
        tongue.class(&words.first()?.text),
        Some(Closed::Other | Closed::Points)
    );
    let says_what = tongue.telling(&words) > if is_pronoun { PRONOUN_WORDS_MAX } else { 1 };
    let is_of_talk = tongue.is_of_talk(&words, None) || asks(sentence);
    let said = sentence.trim();
    let is_plain = says_what && !is_of_talk && said.chars().count() <= CHARS_MAX;
    is_plain.then_some(Statement { said, is_plan: true })
}

/// Whether a sentence corrects the one before it: "no, it's a 2007".
pub(super) fn corrects(sentence: &str) -> bool {
    let words = words(sentence);
    let is_denial = |word: &Word| denies(&word.text) && !word.text.contains('\'');
    words.first().is_some_and(is_denial) && words.get(1).is_some_and(|word| word.breaks) && !asks(sentence)
}

/// Whether a text refers to the text next to it: "should I answer this?"
pub(super) fn points(text: &str) -> bool {
    let own = tongue(Language::of(text));
    let is_pointer = |word: &Word| own.and_then(|own| own.class(&word.text)) == Some(Closed::Points);
    words(text).iter().any(is_pointer)
}

/// Whether a sentence gives roles: "you are Inspector Dubois", "you're the doctor, I'm the patient".
pub(super) fn casts(sentence: &str) -> bool {
    let (language, words) = (Language::of(sentence), words(sentence));
    let tongue = tongue(language);
    let class = |at: usize| tongue?.class(&words.get(at)?.text);
    let is_stop = |word: &Word| language.is_stop_word(&word.text);
    let is_small = |at: usize| words.get(at).is_some_and(is_stop);
    let is_verb = |at: usize| matches!(class(at), Some(Closed::Be | Closed::Am));
    let breaks = |at: usize| at == 0 || words[at].breaks;
    // After "I", "you" must do the same for a pair of roles: "I read Nina, you read Trigorin". "I
    // drive a van, you can fit one amp in it" gives no roles.
    let is_paired = |at: usize| {
        let is_me = |at: &usize| matches!(class(*at), Some(Closed::Speaker | Closed::Am));
        let does = |me: usize| {
            words[me..at]
                .iter()
                .skip(1)
                .take(2)
                .any(|word| word.text == words[at + 1].text)
        };
        (0..at).rfind(is_me).is_none_or(does)
    };
    // "You're right, I'm late" has a single word about "you".
    let says_more = |at: usize| {
        let verb = usize::from(is_verb(at + 1));
        let has_more = (1..=2).all(|step| words.get(at + verb + step).is_some_and(|word| !word.breaks));
        has_more && (verb == 1 || words[at].text.contains('\'') || is_paired(at))
    };
    // "You're a doctor and I'm the patient": after a conjunction each is something.
    let is_something = |at: usize| {
        let is_joined = class(at) == Some(Closed::Am) || words[at].text.contains('\'');
        is_verb(at + 1) && is_small(at + 2) || is_joined && is_small(at + 1)
    };
    let follows = |at: usize| at > 0 && class(at - 1) == Some(Closed::Joint) && is_something(at);
    let any = |of: &[Closed], is: &dyn Fn(usize) -> bool| {
        (0..words.len()).any(|at| class(at).is_some_and(|class| of.contains(&class)) && is(at))
    };
    let me = |is: &dyn Fn(usize) -> bool| any(&[Closed::Speaker, Closed::Am], is);
    let is_one = |at: usize| says_more(at) && me(&breaks) || is_something(at) && me(&follows);
    let gives = any(&[Closed::You], &|at| breaks(at) && is_one(at));
    let names = class(0) == Some(Closed::You)
        && class(1) == Some(Closed::Be)
        && words.get(2).is_some_and(|word| word.capital);
    names || gives && !asks(sentence)
}

/// The clauses of a sentence in a text of that language; none of a question.
pub(crate) fn clauses(sentence: &str, language: Language) -> Vec<&str> {
    let words = words(sentence);
    if asks(sentence) {
        return Vec::new();
    }
    let Some(tongue) = tongue(language).filter(|_| sentence.contains(' ')) else {
        let parts = sentence.split(MARKS).map(str::trim);
        return parts.filter(|part| !part.is_empty()).collect();
    };
    let mut clauses = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let ends = |at: &usize| words[*at].breaks || tongue.parts(&words, first, *at);
        let end = (first + 1..words.len()).find(ends).unwrap_or(words.len());
        clauses.push(&sentence[words[first].range.start..words[end - 1].range.end]);
        first = end;
    }
    clauses
}

fn asks(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', ':', '：'])
}

/// Whether the words before "I" name nobody who says the clause: one word, several that begin with
/// a number or a stop word, or a time.
fn is_lead(lead: &[Word], begins_small: bool) -> bool {
    let words = || lead.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ");
    let is_time = || !expressions(&words(), Timestamp::from_millis(0), &Zone::utc()).is_empty();
    lead.len() == 1 || begins_small || lead[0].text.starts_with(is_digit) || is_time()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

impl Tongue {
    /// The runs of clauses that begin with one about the speaker, with later clauses about others:
    /// "I found a teacher, he comes on Thursdays". Text after a clause about others alone, or
    /// before a question mark, is left out, since its subject is uncertain.
    fn spaced<'a>(&self, sentence: &'a str, words: &[Word]) -> Vec<Statement<'a>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        // Where a run begins; where its lead of clauses about nobody begins ("Mussels, I never
        // touch them"); and whether a clause about others came before.
        let (mut start, mut lead, mut is_behind_others) = (None, Some(0), false);
        let mut first = 0;
        while first < words.len() {
            let ends = |at: &usize| words[*at].breaks || self.parts(words, first, *at);
            let end = (first + 1..words.len()).find(ends).unwrap_or(words.len());
            let own = self.trimmed(words, first, end);
            let clause = &words[own..end];
            let opens = self.opens(clause);
            let is_told = start.is_some() && !self.is_of_talk(clause, opens);
            let is_foreign = self.is_foreign(clause, opens) && !is_told;
            let is_asked = end == words.len() && asks(sentence);
            let is_later =
                self.is_plan(clause) && start.is_some_and(|start| !self.is_plan(&words[start..first]));
            if is_foreign || is_asked || is_later {
                runs.extend(start.take().map(|start| start..first));
                lead = None;
            }
            if is_foreign || is_asked {
                is_behind_others |= self.is_foreign_beside_points(clause);
            } else if opens.is_some() && start.is_none() && (own > first || !is_behind_others) {
                start = Some(if own > first { own } else { lead.unwrap_or(first) });
            } else if start.is_none() {
                lead = lead.or(Some(first));
            }
            first = end;
        }
        runs.extend(start.map(|start| start..words.len()));
        let runs = runs.into_iter();
        runs.filter_map(|run| self.statement_of(sentence, &words[run]))
            .collect()
    }

    /// The statement of a run of clauses, if the run is complete and informative.
    fn statement_of<'a>(&self, sentence: &'a str, run: &[Word]) -> Option<Statement<'a>> {
        let (from, mut to) = (run.first()?.range.start, run.last()?.range.end);
        let behind = sentence[to..].chars().next();
        let is_quote = |c: char| QUOTES.contains(&c);
        let is_open = sentence[from..to].matches(is_quote).count() % 2 == 1;
        // A name in quotation marks may end a statement; text that follows a colon or opens a
        // longer quotation is not part of it.
        if let Some(mark) = behind.filter(|c| is_open && is_quote(*c)) {
            to += mark.len_utf8();
        }
        let said = &sentence[from..to];
        let goes_on = sentence[to..]
            .trim_start()
            .starts_with(|c| is_quote(c) || matches!(c, ':' | '：'));
        let is_whole = !goes_on
            && said.matches(is_quote).count() % 2 == 0
            && said.matches('(').count() == said.matches(')').count();
        let tells = is_whole && self.tells(run) && said.chars().count() <= CHARS_MAX;
        tells.then(|| Statement {
            said,
            is_plan: self.is_plan(run),
        })
    }

    fn is_plan(&self, clause: &[Word]) -> bool {
        let mut classes = clause.iter().map(|word| self.class(&word.text));
        classes.any(|class| class == Some(Closed::Plan))
    }

    /// Whether a conjunction before this word ends a clause: a subject must follow it. "Joaquín and
    /// I" are one subject.
    fn parts(&self, words: &[Word], first: usize, at: usize) -> bool {
        use Closed::{Am, Asks, Other, Own, Points, Speaker, You};
        let next = words.get(at + 1).and_then(|word| self.class(&word.text));
        self.class(&words[at].text) == Some(Closed::Joint)
            && match next {
                Some(Speaker | Own) => at - first > COUPLE_WORDS_MAX,
                next => matches!(next, Some(Am | You | Other | Points | Asks)),
            }
    }

    /// Where a clause begins after its leading conjunctions.
    fn trimmed(&self, words: &[Word], first: usize, end: usize) -> usize {
        let is_joint = |word: &&Word| matches!(self.class(&word.text), Some(Closed::Joint | Closed::Not));
        let is_subject = |word: &Word| {
            matches!(
                self.class(&word.text),
                Some(Closed::Speaker | Closed::Own | Closed::Am)
            )
        };
        let joints = words[first..end].iter().take_while(is_joint).count();
        // "No meat for me" begins with its negation.
        let has_subject = words[first..end].get(joints).is_some_and(is_subject);
        first + if has_subject { joints } else { 0 }
    }

    /// Whether a clause begins with a verb of the first person, in a language that leaves out the
    /// subject: "non guido di notte".
    fn has_own_verb(&self, clause: &[Word]) -> bool {
        use Language::{Italian, Portuguese, Spanish};
        let Some(language @ (Italian | Portuguese | Spanish)) = self.language else {
            return false;
        };
        let is_small = |word: &Word| language.is_stop_word(&word.text);
        let is_before = |word: &&Word| matches!(self.class(&word.text), Some(Closed::Joint | Closed::Not));
        let is_ending = |word: &Word| word.text.ends_with("mos") || word.text.ends_with('o');
        let is_verb = |word: &Word| is_ending(word) && self.class(&word.text).is_none() && !is_small(word);
        let is_article = |word: &Word| {
            word.text
                .split_once('\'')
                .is_some_and(|(base, _)| language.is_stop_word(base))
        };
        let is_led = |word: &Word| is_small(word) || is_article(word) || word.text.starts_with(is_digit);
        let mut words = clause.iter().skip_while(is_before);
        words.next().is_some_and(is_verb) && words.next().is_some_and(is_led)
    }

    /// The subject of a clause, if it is the speaker or something of the speaker.
    fn opens(&self, clause: &[Word]) -> Option<Closed> {
        if self.has_own_verb(clause) {
            return Some(Closed::Am);
        }
        let class = |word: &Word| self.class(&word.text);
        let joints = clause
            .iter()
            .take_while(|word| class(word) == Some(Closed::Joint));
        let clause = &clause[joints.count()..];
        let first = clause.first()?;
        let is_led = class(first).is_none();
        let is_stop = self
            .language
            .is_some_and(|language| language.is_stop_word(&first.text));
        let is_small = is_led && (is_stop || denies(&first.text));
        // Article before a possessive: "La mia Panda", "o meu irmão".
        let takes_article = matches!(self.language, Some(Language::Italian | Language::Portuguese));
        let has_article = |at: usize| is_small && at == 1 && takes_article;
        let asks_by_order = matches!(self.language, Some(Language::English | Language::German));
        // "For my sister I bake": a possessive may also stand in a lead.
        let is_passed = |(at, class): &(usize, Closed)| {
            *class == Closed::Joint || *class == Closed::Own && is_small && !has_article(*at)
        };
        let words = clause.iter().take(LEAD_WORDS_MAX + 1).enumerate();
        let mut known = words.filter_map(|(at, word)| Some((at, class(word)?)));
        let (at, subject) = known.find(|found| !is_passed(found))?;
        let is_subject = match subject {
            // "Can I freeze it" is a question.
            Closed::Speaker | Closed::Am if is_small && at == 1 && asks_by_order => false,
            Closed::Speaker | Closed::Am => {
                let is_couple =
                    at <= COUPLE_WORDS_MAX && at > 1 && class(&clause[at - 1]) == Some(Closed::Joint);
                !is_led || is_couple || is_lead(&clause[..at], is_small)
            }
            Closed::Own => !is_led || has_article(at),
            _ => false,
        };
        is_subject.then_some(subject)
    }

    /// Whether a word keeps a clause from being a plain statement. "My sister loves her cat" is
    /// one.
    fn is_foreign(&self, clause: &[Word], subject: Option<Closed>) -> bool {
        let mut classes = self.classes(clause, subject);
        classes.any(|class| class.is_foreign() && !(class == Closed::Other && subject == Some(Closed::Own)))
    }

    /// Whether a clause is about others or addresses somebody; a mere reference to the talk
    /// ("that's fine") does not count.
    fn is_foreign_beside_points(&self, clause: &[Word]) -> bool {
        let mut classes = self.classes(clause, None);
        classes.any(|class| class.is_foreign() && class != Closed::Points)
    }

    /// Whether a clause addresses somebody, asks or supposes.
    fn is_of_talk(&self, clause: &[Word], subject: Option<Closed>) -> bool {
        let mut classes = self.classes(clause, subject);
        classes.any(|class| matches!(class, Closed::Doubt | Closed::You | Closed::Asks))
    }

    /// The roles of a clause's closed words. In a speaker's clause, a word that only ties a
    /// subordinate part is left out: "I gave up coffee when I left", "a hat that my friend
    /// knitted".
    fn classes<'a>(
        &'a self,
        clause: &'a [Word],
        subject: Option<Closed>,
    ) -> impl Iterator<Item = Closed> + 'a {
        let ties = move |at: usize| {
            let next = clause.get(at + 1).and_then(|word| self.class(&word.text));
            subject.is_some() && at > 1 && matches!(next, Some(Closed::Speaker | Closed::Own | Closed::Am))
        };
        let words = clause.iter().enumerate();
        words.filter_map(move |(at, word)| {
            let class = self.class(&word.text)?;
            let is_tie = matches!(class, Closed::Asks | Closed::Points) && ties(at);
            // German "das" as an article: "das Handgelenk".
            let is_article = word.text == "das" && clause.get(at + 1).is_some_and(|next| next.capital);
            (!is_tie && !is_article).then_some(class)
        })
    }

    /// Number of words of a clause that are neither closed nor stop words.
    fn telling(&self, clause: &[Word]) -> usize {
        let is_telling = |word: &&Word| {
            self.class(&word.text).is_none() && !is_stop_word(&word.text) && word.text.chars().count() > 1
                || word.text.starts_with(is_digit)
        };
        clause.iter().filter(is_telling).count()
    }

    /// Whether a clause says more than that its speaker exists: "I'm a nurse" does, "I see" and
    /// "I'm tired" do not.
    fn tells(&self, clause: &[Word]) -> bool {
        let count = self.telling(clause);
        let is_joined = clause.iter().any(|word| {
            matches!(
                self.class(&word.text),
                Some(Closed::Am | Closed::Be | Closed::Was)
            )
        });
        count > 1 || count == 1 && is_joined && clause.len() > 2
    }

    /// The parts between two marks that are statements, in a script without spaces.
    fn unspaced<'a>(&self, sentence: &'a str) -> Vec<Statement<'a>> {
        let has = |part: &str, is: fn(Closed) -> bool| {
            let mut closed = self.closed.iter();
            closed.any(|(form, class)| is(*class) && part.contains(form))
        };
        let opens = |part: &str| {
            let mut closed = self.closed.iter();
            closed.any(|(form, class)| *class == Closed::Speaker && part.starts_with(form))
        };
        let is_statement = |part: &&str| {
            (UNSPACED_CHARS_MIN..=CHARS_MAX).contains(&part.chars().count())
                && opens(part)
                && !part.contains(' ')
                && !has(part, Closed::is_foreign)
        };
        let parts = sentence.split(MARKS).map(str::trim);
        let parts = parts
            .filter(|_| !sentence.is_ascii() && !asks(sentence))
            .filter(is_statement);
        let statement = |said| Statement {
            said,
            is_plan: has(said, |class| class == Closed::Plan),
        };
        parts.map(statement).collect()
    }
}
