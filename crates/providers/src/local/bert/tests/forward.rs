//! A textbook BERT forward pass, one text at a time and in f64: slow, plain, and independent of candle.

use std::collections::BTreeMap;

type Rows = Vec<Vec<f64>>;

/// A model with random weights.
pub(in crate::local::bert) struct Tiny {
    pub(in crate::local::bert) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

impl Tiny {
    pub(in crate::local::bert) const HIDDEN: usize = 8;
    pub(in crate::local::bert) const LAYERS: usize = 2;
    pub(in crate::local::bert) const HEADS: usize = 2;
    pub(in crate::local::bert) const INNER: usize = 16;
    pub(in crate::local::bert) const POSITIONS: usize = 16;
    pub(in crate::local::bert) const EPS: f64 = 1e-12;
    /// The two layers of a cross-encoder's head; each family has other names for them.
    pub(in crate::local::bert) const HEAD_DENSE: &str = "head.dense";
    pub(in crate::local::bert) const HEAD_OUT: &str = "head.out";

    pub(in crate::local::bert) fn random(seed: u64, vocabulary: usize) -> Self {
        let (hidden, inner) = (Self::HIDDEN, Self::INNER);
        let mut shapes = vec![
            (
                "embeddings.word_embeddings.weight".to_owned(),
                vec![vocabulary, hidden],
            ),
            (
                "embeddings.position_embeddings.weight".to_owned(),
                vec![Self::POSITIONS, hidden],
            ),
            (
                "embeddings.token_type_embeddings.weight".to_owned(),
                vec![2, hidden],
            ),
        ];
        let mut norms = vec!["embeddings.LayerNorm".to_owned()];
        for layer in 0..Self::LAYERS {
            let at = |name: &str| format!("encoder.layer.{layer}.{name}");
            let linears = [
                ("attention.self.query", hidden, hidden),
                ("attention.self.key", hidden, hidden),
                ("attention.self.value", hidden, hidden),
                ("attention.output.dense", hidden, hidden),
                ("intermediate.dense", inner, hidden),
                ("output.dense", hidden, inner),
            ];
            for (name, outputs, inputs) in linears {
                shapes.push((at(&format!("{name}.weight")), vec![outputs, inputs]));
                shapes.push((at(&format!("{name}.bias")), vec![outputs]));
            }
            norms.extend([at("attention.output.LayerNorm"), at("output.LayerNorm")]);
        }
        for norm in norms {
            shapes.push((format!("{norm}.weight"), vec![hidden]));
            shapes.push((format!("{norm}.bias"), vec![hidden]));
        }
        for (name, outputs) in [(Self::HEAD_DENSE, hidden), (Self::HEAD_OUT, 1)] {
            shapes.push((format!("{name}.weight"), vec![outputs, hidden]));
            shapes.push((format!("{name}.bias"), vec![outputs]));
        }
        let mut state = seed;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        };
        let tensors = shapes.into_iter().map(|(name, shape)| {
            // A bias is the same for every text, so a large one would hide their differences.
            let size = if name.ends_with("bias") { 0.1 } else { 1.0 };
            let values = (0..shape.iter().product()).map(|_| size * random()).collect();
            (name, (shape, values))
        });
        Self {
            tensors: tensors.collect(),
        }
    }

    fn get(&self, name: &str) -> &[f32] {
        &self.tensors[name].1
    }

    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        self.get(name)[row * Self::HIDDEN..][..Self::HIDDEN]
            .iter()
            .map(|x| f64::from(*x))
            .collect()
    }

    fn linear(&self, name: &str, rows: &Rows) -> Rows {
        let (weights, bias) = (
            self.get(&format!("{name}.weight")),
            self.get(&format!("{name}.bias")),
        );
        let one = |row: &Vec<f64>| {
            let dot = |w: &[f32]| w.iter().zip(row).map(|(w, x)| f64::from(*w) * x).sum::<f64>();
            bias.iter()
                .zip(weights.chunks(row.len()))
                .map(|(b, w)| f64::from(*b) + dot(w))
                .collect()
        };
        rows.iter().map(one).collect()
    }

    fn norm(&self, name: &str, rows: &Rows, residual: &Rows) -> Rows {
        let (weights, bias) = (
            self.get(&format!("{name}.weight")),
            self.get(&format!("{name}.bias")),
        );
        let one = |(row, residual): (&Vec<f64>, &Vec<f64>)| {
            let row: Vec<f64> = row.iter().zip(residual).map(|(a, b)| a + b).collect();
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let spread = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let scale = |((x, w), b): ((&f64, &f32), &f32)| {
                (x - mean) / (spread + Self::EPS).sqrt() * f64::from(*w) + f64::from(*b)
            };
            row.iter().zip(weights).zip(bias).map(scale).collect()
        };
        rows.iter().zip(residual).map(one).collect()
    }

    fn attention(&self, layer: &str, rows: &Rows) -> Rows {
        let [queries, keys, values] = ["query", "key", "value"]
            .map(|name| self.linear(&format!("{layer}.attention.self.{name}"), rows));
        let size = Self::HIDDEN / Self::HEADS;
        let mut mixed = vec![vec![0.0; Self::HIDDEN]; rows.len()];
        for head in 0..Self::HEADS {
            let part = head * size..(head + 1) * size;
            for (query, mixed) in queries.iter().zip(&mut mixed) {
                let score = |key: &Vec<f64>| {
                    let dot: f64 = part.clone().map(|i| query[i] * key[i]).sum();
                    (dot / (size as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = keys.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for i in part.clone() {
                    mixed[i] = scores
                        .iter()
                        .zip(&values)
                        .map(|(s, value)| s / total * value[i])
                        .sum();
                }
            }
        }
        self.linear(&format!("{layer}.attention.output.dense"), &mixed)
    }

    /// The pooled vector, of any length.
    #[expect(clippy::cast_possible_truncation, reason = "the product computes in f32")]
    pub(in crate::local::bert) fn embed(
        &self,
        ids: &[usize],
        first_token: bool,
        position_offset: usize,
    ) -> Vec<f32> {
        let rows = self.rows(ids, &vec![0; ids.len()], position_offset);
        let pooled = if first_token { &rows[..1] } else { &rows[..] };
        (0..Self::HIDDEN)
            .map(|i| pooled.iter().map(|row| row[i]).sum::<f64>() as f32)
            .collect()
    }

    /// The score of a pair; `kinds` says for each token whether it belongs to the query or to the passage.
    #[expect(clippy::cast_possible_truncation, reason = "the product computes in f32")]
    pub(in crate::local::bert) fn score(
        &self,
        ids: &[usize],
        kinds: &[usize],
        position_offset: usize,
    ) -> f32 {
        let mut rows = self.rows(ids, kinds, position_offset);
        rows.truncate(1);
        let mut read = self.linear(Self::HEAD_DENSE, &rows);
        read.iter_mut().flatten().for_each(|x| *x = x.tanh());
        let logit = self.linear(Self::HEAD_OUT, &read)[0][0];
        (1.0 / (1.0 + (-logit).exp())) as f32
    }

    /// The last layer's vector of each token.
    pub(in crate::local::bert) fn rows(
        &self,
        ids: &[usize],
        kinds: &[usize],
        position_offset: usize,
    ) -> Rows {
        let embedded: Rows = ids
            .iter()
            .enumerate()
            .map(|(place, id)| {
                let word = self.row("embeddings.word_embeddings.weight", *id);
                let kind = self.row("embeddings.token_type_embeddings.weight", kinds[place]);
                let place = self.row("embeddings.position_embeddings.weight", place + position_offset);
                word.iter()
                    .zip(kind)
                    .zip(place)
                    .map(|((a, b), c)| a + b + c)
                    .collect()
            })
            .collect();
        let zeros = vec![vec![0.0; Self::HIDDEN]; ids.len()];
        let mut rows = self.norm("embeddings.LayerNorm", &embedded, &zeros);
        for layer in (0..Self::LAYERS).map(|layer| format!("encoder.layer.{layer}")) {
            let attended = self.attention(&layer, &rows);
            rows = self.norm(&format!("{layer}.attention.output.LayerNorm"), &attended, &rows);
            let mut inner = self.linear(&format!("{layer}.intermediate.dense"), &rows);
            inner.iter_mut().flatten().for_each(|x| *x = gelu(*x));
            let outer = self.linear(&format!("{layer}.output.dense"), &inner);
            rows = self.norm(&format!("{layer}.output.LayerNorm"), &outer, &rows);
        }
        rows
    }
}

/// x · Φ(x), with Φ integrated by Simpson's rule instead of an approximation of erf.
fn gelu(x: f64) -> f64 {
    const STEPS: u32 = 200;
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let width = x / f64::from(STEPS);
    let weight = |i: u32| {
        if i == 0 || i == STEPS {
            1.0
        } else {
            f64::from(2 + i % 2 * 2)
        }
    };
    let integral: f64 = (0..=STEPS)
        .map(|i| weight(i) * density(f64::from(i) * width))
        .sum();
    x * (0.5 + integral * width / 3.0)
}
