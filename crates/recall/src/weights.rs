//! Every tuned number of the ranking, in one place.
//!
//! Owns: the weights and how they were found. Never: their use (`evidence`, `fuse`).
//!
//! They were found by coordinate ascent on the even LoCoMo conversations, the even questions of a
//! LongMemEval set and four written talks (`eval offline`), then rounded; the rest was only
//! reported on. `memory`, `fresh` and `near` were set by hand. The ranking is flat around them: a third
//! more or less of any one moves recall by a point at most. `eval offline --set NAME=VALUE` tries
//! others.

macro_rules! weights {
    ($($(#[$about:meta])* $name:ident = $value:expr,)+) => {
        model::defaults! {
            /// Weight of each kind of evidence.
            #[derive(Debug, Clone, PartialEq)]
            pub struct Weights {
                $($(#[$about])* pub $name: f32 = $value,)+
            }
        }

        impl Weights {
            /// Each weight with its name.
            pub fn by_name(&mut self) -> [(&'static str, &mut f32); [$(stringify!($name)),+].len()] {
                [$((stringify!($name), &mut self.$name)),+]
            }
        }
    };
}

weights! {
    /// How soon repetitions of a term stop counting (BM25).
    k1 = 1.2,
    /// How much a row's length lowers the weight of a term in it (BM25).
    b = 0.2,
    /// A row's own words.
    keyword = 0.65,
    /// The words of a turn and its neighbours together.
    near = 1.15,
    /// A row's own vector.
    vector = 0.29,
    /// Deviations above the mean cosine that are full evidence.
    far = 5.0,
    /// The best vectors of the sitting.
    sitting_vector = 0.23,
    /// A turn by a person whom the question names.
    speaker = 0.21,
    /// An answer of the assistant: added if the question says "you", deducted otherwise.
    reply = 0.12,
    /// A date that fits the question's.
    time = 0.3,
    /// A number or date, if the question asks for one.
    answer = 0.1,
    /// Deducted from questions, since they are no answers.
    question = 0.15,
    /// Weight of words of asking ("suggest", "interested"), relative to words of the subject.
    asking = 0.1,
    /// Weight of words without information ("happened", "anything"), relative to words of the subject.
    empty = 0.6,
    /// Fit of the time, if the question has no subject.
    moment = 4.0,
    /// Evidence of a memory for its source messages.
    memory = 0.25,
    /// The share of its strength that a message with a withdrawn statement loses.
    withdrawn = 0.5,
    /// Deducted from rows about a person who is not the question's subject.
    other = 0.2,
    /// Minimum likelihood with which a later statement supersedes an earlier one.
    overtake = -0.5,
    /// Number of rows up to which each row is ranked; of more rows, the sittings and memories with the most evidence.
    whole = 4000.0,
    /// Recency of a row; five times as much if the question asks about the present.
    fresh = 0.01,
}
