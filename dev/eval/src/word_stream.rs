//! Made-up sentences for speed measurements: a vocabulary with a natural skew, the same at every run.

/// A stream of words; the same seed gives the same stream.
#[derive(Debug)]
pub(crate) struct WordStream {
    state: u64,
}

const SUBJECTS: [&str; 8] = [
    "I",
    "we",
    "my sister",
    "our team",
    "the neighbour",
    "my manager",
    "Clara",
    "the kids",
];
const VERBS: [&str; 12] = [
    "moved", "bought", "visited", "started", "finished", "planned", "lost", "found", "painted", "repaired",
    "booked", "learned",
];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
const CONSONANTS: [&str; 14] = [
    "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z",
];

impl WordStream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % bound
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// A word of about 4,000, the low numbers far more often than the high ones.
    fn word(&mut self) -> String {
        let skewed = (self.next() % 4_000) * (self.next() % 4_000) / 4_000;
        let mut number = skewed + 1;
        let mut word = String::new();
        while number > 0 {
            word.push_str(CONSONANTS[(number % 14) as usize]);
            word.push_str(VOWELS[(number / 14 % 5) as usize]);
            number /= 70;
        }
        word
    }

    /// A sentence of chat length.
    pub(crate) fn sentence(&mut self, of_user: bool) -> String {
        let mut text = if of_user {
            format!("{} {}", self.pick(&SUBJECTS), self.pick(&VERBS))
        } else {
            "It sounds as if".to_owned()
        };
        for _ in 0..12 + self.next() % 12 {
            text.push(' ');
            text.push_str(&self.word());
        }
        text.push('.');
        text
    }

    /// A question of a few words.
    pub(crate) fn question(&mut self) -> String {
        let (verb, first, second, third) = (self.pick(&VERBS), self.word(), self.word(), self.word());
        format!("Who {verb} {first} {second} {third}?")
    }
}
