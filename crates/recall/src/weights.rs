//! Every number of the ranking that was tuned, in one place.
//!
//! Owns: the weights and how they were found. Never: their use (`evidence`, `fuse`).
//!
//! They were found by coordinate ascent on the even LoCoMo conversations, the even questions of a LongMemEval set and
//! four written talks (`eval offline`), then rounded; the rest was only reported on. `memory` and `fresh` were set by
//! hand. The ranking is flat around them: a third more or less of any one moves recall by a point at most.
//! `eval offline --set NAME=VALUE` tries others.

macro_rules! weights {
    ($($(#[$about:meta])* $name:ident = $value:expr,)+) => {
        model::defaults! {
            /// How much each kind of evidence counts.
            #[derive(Debug, Clone, PartialEq)]
            pub struct Weights {
                $($(#[$about])* pub $name: f32 = $value,)+
            }
        }

        impl Weights {
            /// Each weight with its name.
            pub fn named(&mut self) -> [(&'static str, &mut f32); [$(stringify!($name)),+].len()] {
                [$((stringify!($name), &mut self.$name)),+]
            }
        }
    };
}

weights! {
    /// How soon repetitions of a term stop counting (BM25).
    k1 = 1.2,
    /// How much long rows must have more of a term (BM25).
    b = 0.2,
    /// The same for sittings.
    sitting_b = 0.7,
    /// A row's own words.
    keyword = 0.65,
    /// The words of a turn and its neighbours together.
    near = 1.05,
    /// Neighbours this many words away count half.
    near_words = 40.0,
    /// The words of the whole sitting.
    sitting_keyword = 0.1,
    /// A row's own vector.
    vector = 0.29,
    /// This many deviations above the mean cosine are full evidence.
    far = 5.0,
    /// The best vectors of the sitting.
    sitting_vector = 0.23,
    /// A turn of someone the question is about.
    speaker = 0.21,
    /// An answer of the assistant: added where the question says "you", deducted where it does not.
    reply = 0.12,
    /// A date that fits the question's.
    time = 0.3,
    /// A number or date where the question asks for one.
    answer = 0.1,
    /// A question is not an answer: deducted for questions.
    question = 0.15,
    /// Weight of words of asking ("suggest", "interested"), relative to words of the subject.
    asking = 0.1,
    /// Weight of words without information ("happened", "anything"), relative to words of the subject.
    empty = 0.6,
    /// Fit of the time, if the question names nothing else.
    moment = 4.0,
    /// Substance of a row, if the question names nothing to search for.
    substance = 0.5,
    /// Evidence of a memory for the messages it was made from.
    memory = 0.25,
    /// The share of its strength that a message loses of which its person took a statement back.
    withdrawn = 0.5,
    /// Deducted from rows about a person who is not the question's subject.
    other = 0.2,
    /// How sure it must be that a later statement overtakes an earlier one.
    overtake = -0.5,
    /// How recent a row is; five times as much where the question asks how things are now.
    fresh = 0.01,
}
