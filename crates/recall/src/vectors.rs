//! The rows' vectors, one byte a number.
//!
//! Owns: quantising and comparing. Never: making vectors. The first vector decides the size;
//! vectors of another size count as missing.

use pulp::{Arch, NullaryFnOnce};

use crate::postings::Slot;

#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dims: usize,
    /// By slot, `dims` each.
    numbers: Vec<i8>,
    /// By slot, the value of one quantisation step; 0 without a vector.
    steps: Vec<f32>,
}

/// A quantised vector, one byte a number.
#[derive(Debug, Clone)]
pub(crate) struct Quantised {
    numbers: Vec<i8>,
    step: f32,
}

impl Quantised {
    /// None for a vector without direction.
    pub(crate) fn new(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|n| n * n).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0f32, |max, n| max.max(n.abs()));
        if !(length.is_finite() && length > f32::EPSILON) {
            return None;
        }
        let scale = 127.0 / largest;
        // Half a step more and cut: rounded without a call for each number.
        #[expect(clippy::cast_possible_truncation, reason = "at most 127 by construction")]
        let numbers = vector
            .iter()
            .map(|n| (n * scale + 0.5_f32.copysign(*n)) as i8)
            .collect();
        Some(Self {
            numbers,
            step: largest / 127.0 / length,
        })
    }
}

impl Vectors {
    pub(crate) fn put(&mut self, slot: Slot, vector: &Quantised) {
        if self.dims == 0 {
            self.dims = vector.numbers.len();
        }
        self.clear(slot);
        if vector.numbers.len() == self.dims {
            let at = slot as usize;
            self.steps[at] = vector.step;
            self.numbers[at * self.dims..(at + 1) * self.dims].copy_from_slice(&vector.numbers);
        }
    }

    /// Removes a slot's vector.
    pub(crate) fn clear(&mut self, slot: Slot) {
        let at = slot as usize;
        if self.steps.len() <= at {
            self.steps.resize(at + 1, 0.0);
        }
        let numbers = self.steps.len() * self.dims;
        if self.numbers.capacity() < numbers {
            // Doubling would leave up to half of the largest part of a corpus unused.
            let spare = numbers / 16;
            self.numbers.reserve_exact(numbers + spare - self.numbers.len());
        }
        if self.numbers.len() < numbers {
            self.numbers.resize(numbers, 0);
        }
        self.steps[at] = 0.0;
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<Quantised> {
        let at = slot as usize;
        let step = self.steps.get(at).copied().filter(|step| *step > 0.0)?;
        Some(Quantised {
            numbers: self.numbers[at * self.dims..(at + 1) * self.dims].to_vec(),
            step,
        })
    }

    /// The cosine of a row's vector and another; none if either is missing or their sizes differ.
    pub(crate) fn cosine(&self, slot: Slot, with: &Quantised) -> Option<f32> {
        let at = slot as usize;
        let step = self.steps.get(at).copied().filter(|step| *step > 0.0)?;
        if with.numbers.len() != self.dims {
            return None;
        }
        let row = &self.numbers[at * self.dims..(at + 1) * self.dims];
        Some(dot(row, &with.numbers) as f32 * step * with.step)
    }

    /// The cosine of each row's vector and another, by slot, negative infinity without a vector; none if their sizes differ.
    pub(crate) fn cosines(&self, with: &Quantised) -> Option<Vec<f32>> {
        let is_same_size = with.numbers.len() == self.dims && self.dims > 0;
        is_same_size.then(|| Arch::new().dispatch(Scan { rows: self, with }))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.numbers.capacity() + self.steps.capacity() * size_of::<f32>()
    }
}

/// One comparison with every row, for the widest instructions of the processor.
struct Scan<'a> {
    rows: &'a Vectors,
    with: &'a Quantised,
}

impl NullaryFnOnce for Scan<'_> {
    type Output = Vec<f32>;

    // A loop and not an iterator's closure, which would be compiled for any processor.
    #[expect(
        clippy::inline_always,
        reason = "it is compiled for the instructions of its caller"
    )]
    #[inline(always)]
    fn call(self) -> Vec<f32> {
        let Self { rows, with } = self;
        let mut cosines = vec![f32::NEG_INFINITY; rows.steps.len()];
        let vectors = rows.numbers.chunks_exact(rows.dims).zip(&rows.steps);
        for (cosine, (row, step)) in cosines.iter_mut().zip(vectors) {
            if *step > 0.0 {
                *cosine = dot(row, &with.numbers) as f32 * step * with.step;
            }
        }
        cosines
    }
}

/// The sum of the products.
#[expect(
    clippy::inline_always,
    reason = "it is compiled for the instructions of its caller"
)]
#[inline(always)]
fn dot(one: &[i8], other: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in one.iter().zip(other) {
        sum += i32::from(*a) * i32::from(*b);
    }
    sum
}
