//! Every number of the ranking that was tuned, in one place.
//!
//! Owns: the weights and how they were found. Never: their use (`evidence`, `fuse`).
//!
//! They were found by coordinate ascent on the even LoCoMo conversations, the even questions of a LongMemEval set and
//! four written talks (`eval offline`), then rounded; the rest was only reported on. `memory` and `fresh` were set by
//! hand. The ranking is flat around them: a third more or less of any one moves recall by a point at most.
//! `eval offline --set NAME=VALUE` tries others.

/// How much each kind of evidence counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// How soon repetitions of a term stop counting (BM25).
    pub k1: f32,
    /// How much long rows must have more of a term (BM25).
    pub b: f32,
    /// The same for sittings.
    pub sitting_b: f32,
    /// A row's own words.
    pub keyword: f32,
    /// The words of a turn and its neighbours together.
    pub near: f32,
    /// Neighbours this many words away count half.
    pub near_words: f32,
    /// The words of the whole sitting.
    pub sitting_keyword: f32,
    /// A row's own vector.
    pub vector: f32,
    /// This many deviations above the mean cosine are full evidence.
    pub far: f32,
    /// The best vectors of the sitting.
    pub sitting_vector: f32,
    /// A turn of someone the question is about.
    pub speaker: f32,
    /// An answer of the assistant: added where the question says "you", deducted where it does not.
    pub reply: f32,
    /// A date that fits the question's.
    pub time: f32,
    /// A number or date where the question asks for one.
    pub answer: f32,
    /// A question is not an answer: deducted for questions.
    pub question: f32,
    /// Weight of words of asking ("suggest", "interested"), relative to words of the subject.
    pub asking: f32,
    /// Weight of words without information ("happened", "anything"), relative to words of the subject.
    pub empty: f32,
    /// Fit of the time, if the question names nothing else.
    pub moment: f32,
    /// Substance of a row, if the question names nothing to search for.
    pub substance: f32,
    /// Evidence of a memory for the messages it was made from.
    pub memory: f32,
    /// A thing of the kind that a question about a state asks for.
    pub kind: f32,
    /// A phrase by which people say such a thing: "I'm a …".
    pub phrase: f32,
    /// The share of its strength that a row loses where its speaker says nothing of themselves …
    pub material: f32,
    /// … and where the question asks how something of theirs is.
    pub state_material: f32,
    /// The same thing of the asker's as in that question: "my boss".
    pub head: f32,
    /// Deducted from rows about a person who is not the question's subject.
    pub other: f32,
    /// How sure it must be that a later statement overtakes an earlier one.
    pub overtake: f32,
    /// How recent a row is; five times as much where the question asks how things are now.
    pub fresh: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.2,
            sitting_b: 0.7,
            keyword: 0.65,
            near: 1.05,
            near_words: 40.0,
            sitting_keyword: 0.1,
            vector: 0.29,
            far: 5.0,
            sitting_vector: 0.23,
            speaker: 0.21,
            reply: 0.12,
            time: 0.3,
            answer: 0.1,
            question: 0.15,
            asking: 0.1,
            empty: 0.6,
            moment: 4.0,
            substance: 0.5,
            memory: 0.25,
            kind: 0.5,
            phrase: 0.08,
            material: 0.5,
            state_material: 0.85,
            head: 0.15,
            other: 0.2,
            overtake: -0.5,
            fresh: 0.01,
        }
    }
}

impl Weights {
    /// Each weight with its name.
    pub fn named(&mut self) -> [(&'static str, &mut f32); 28] {
        [
            ("k1", &mut self.k1),
            ("b", &mut self.b),
            ("sitting_b", &mut self.sitting_b),
            ("keyword", &mut self.keyword),
            ("near", &mut self.near),
            ("near_words", &mut self.near_words),
            ("sitting_keyword", &mut self.sitting_keyword),
            ("vector", &mut self.vector),
            ("far", &mut self.far),
            ("sitting_vector", &mut self.sitting_vector),
            ("speaker", &mut self.speaker),
            ("reply", &mut self.reply),
            ("time", &mut self.time),
            ("answer", &mut self.answer),
            ("question", &mut self.question),
            ("asking", &mut self.asking),
            ("empty", &mut self.empty),
            ("moment", &mut self.moment),
            ("substance", &mut self.substance),
            ("memory", &mut self.memory),
            ("kind", &mut self.kind),
            ("phrase", &mut self.phrase),
            ("material", &mut self.material),
            ("state_material", &mut self.state_material),
            ("head", &mut self.head),
            ("other", &mut self.other),
            ("overtake", &mut self.overtake),
            ("fresh", &mut self.fresh),
        ]
    }
}
