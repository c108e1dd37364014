//! Calibration of an embedding model's cosines to the scale of the model that the ranking was tuned
//! with.
//!
//! Owns: the texts that a model is measured with, and the scale. Never: making vectors.
//!
//! Models differ: the cosine of two unrelated texts is near 0.1 for one model. It is near 0.8 for
//! another, and hardly varies there. A fixed bound or weight would be meaningless, so every cosine
//! is first converted to one scale.

use model::dot;

/// Statements that are unrelated to the questions and to each other.
pub const STATEMENTS: [&str; 16] = [
    "The train to the coast was forty minutes late.",
    "My sister teaches chemistry in a small town.",
    "Please send me the file before Thursday.",
    "The soup needs more salt and a little lemon.",
    "Our dog is afraid of thunder.",
    "He painted the kitchen yellow last spring.",
    "The build fails because a header is missing.",
    "We watched a long film about whales.",
    "I slept badly and my back hurts.",
    "The rent goes up by thirty euros in May.",
    "She is learning to play the violin.",
    "It rained all day, so the match was put off.",
    "Thanks, that helps a lot.",
    "The old lamp in the hall is broken again.",
    "They sold their boat to a man from the harbour.",
    "A good tent weighs less than two kilos.",
];

/// Questions that no statement answers.
pub const QUESTIONS: [&str; 8] = [
    "What is the name of my cousin?",
    "When does the museum open?",
    "Which medicine does the neighbour take?",
    "How did we solve the problem with the invoice?",
    "Who recommended the mountain hut?",
    "What did I decide about the wedding?",
    "Where are the spare keys?",
    "How old is the company?",
];

model::defaults! {
    /// Mean and standard deviation of the cosines of unrelated texts. The default is that of the
    /// built-in table.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Cosines {
        mean: f32 = 0.140_374,
        deviation: f32 = 0.070_362,
    }
}

impl Cosines {
    /// The cosines of a model, from its unit vectors of [`QUESTIONS`] and [`STATEMENTS`]; none if they are not vectors of
    /// one size or do not differ.
    pub fn of<V: AsRef<[f32]>>(questions: &[V], statements: &[V]) -> Option<Self> {
        let size = questions.first()?.as_ref().len();
        let mut vectors = questions.iter().chain(statements);
        if !vectors.all(|vector| vector.as_ref().len() == size) {
            return None;
        }
        let rows = statements.len() as f32;
        let (mut mean, mut variance) = (0.0, 0.0);
        for question in questions {
            let cosines = statements
                .iter()
                .map(|statement| dot(question.as_ref(), statement.as_ref()));
            let of_question = cosines.clone().sum::<f32>() / rows;
            mean += of_question / questions.len() as f32;
            variance += cosines.map(|cosine| (cosine - of_question).powi(2)).sum::<f32>()
                / rows
                / questions.len() as f32;
        }
        let deviation = variance.sqrt();
        (deviation > 1e-4).then_some(Self { mean, deviation })
    }

    /// A cosine of this model, converted to the built-in table's scale.
    pub fn usual(self, cosine: f32) -> f32 {
        Self::default().at(self.deviations(cosine))
    }

    fn deviations(self, cosine: f32) -> f32 {
        (cosine - self.mean) / self.deviation
    }

    fn at(self, standing: f32) -> f32 {
        self.mean + standing * self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector of a model with a large common part in all vectors, as E5 has.
    fn crowded(vector: [f32; 3]) -> [f32; 4] {
        let all = [vector[0] * 0.4, vector[1] * 0.4, vector[2] * 0.4, 1.0];
        let length = dot(&all, &all).sqrt();
        all.map(|n| n / length)
    }

    #[test]
    fn a_crowded_models_cosines_are_converted_to_the_usual_scale() {
        let texts = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]];
        let questions = [[0.8, 0.6, 0.0], [0.0, 0.0, 1.0]];
        let (spread, near) = (
            Cosines::of(&questions, &texts).unwrap(),
            dot(&questions[0], &texts[2]),
        );
        let (texts, questions) = (texts.map(crowded), questions.map(crowded));
        let crowd = Cosines::of(&questions, &texts).unwrap();
        let crowded_near = dot(&questions[0], &texts[2]);
        assert!(crowd.mean > 0.8 && crowd.deviation < 0.1, "{crowd:?}");
        assert!((crowd.usual(crowded_near) - spread.usual(near)).abs() < 0.01);
        let ordinary = crowd.usual(crowd.mean);
        assert!((ordinary - Cosines::default().mean).abs() < 1e-6, "{ordinary}");
    }

    #[test]
    fn vectors_without_a_measure_give_no_calibration() {
        assert_eq!(Cosines::of::<[f32; 2]>(&[], &[[1.0, 0.0]]), None);
        assert_eq!(Cosines::of(&[vec![1.0]], &[vec![1.0, 0.0]]), None);
        assert_eq!(
            Cosines::of(&[[1.0, 0.0]], &[[1.0, 0.0], [1.0, 0.0]]),
            None,
            "all alike"
        );
    }
}
