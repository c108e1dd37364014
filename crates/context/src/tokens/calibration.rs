//! Corrects the meter's counts by a backend's reported usage.
//!
//! Owns: the last report of a conversation, and the ratio of reports to counts for one model. Never: counting, and which
//! reports belong to which model; a host keeps one calibration for each.

/// Text of another script or kind, which weighs more than what was learned from, may come next.
const GROWTH_USED_MIN_PPM: u64 = 700_000;
const ONE_PPM: u64 = 1_000_000;
/// A ratio beyond these is no count of the same text: a backend that leaves out what it had cached, or that reports nothing.
const RATIO_PPM: std::ops::RangeInclusive<u64> = 250_000..=4_000_000;
/// A report whose ratio is so far from the last one's, as a share of it, is a stray one.
const STRAY_PPM: u64 = 250_000;
/// Stray reports in a row that are passed over; the next one is believed.
const STRAYS_MAX: u8 = 2;
/// Growths remembered.
const GROWTHS_MAX: usize = 6;
/// A growth that the meter counts lower teaches nothing: rounding and framing would outweigh the text.
const GROWTH_MIN: u64 = 200;

/// Turns a meter's counts into what the backend will report. Starts knowing nothing and then changes no count.
///
/// All counts are of a whole request: system text, tools and messages. A report must include the part that was read from a
/// cache; where a backend lists that apart, the caller adds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Of the last believed report.
    whole_ppm: Option<u64>,
    /// Reported growth per counted token; the oldest first.
    growths_ppm: Vec<u64>,
    /// The last believed report, while requests begin as that one did.
    anchor: Option<Point>,
    /// Where the next growth is measured from.
    growth_start: Option<Point>,
    strays: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    counted: u64,
    reported: u64,
}

impl Calibration {
    /// Learns that a request which the meter counted as `counted` tokens was `reported` tokens. Gives whether the report was
    /// believed.
    pub fn record(&mut self, counted: usize, reported: usize) -> bool {
        let point = Point {
            counted: as_u64(counted),
            reported: as_u64(reported),
        };
        let Some(whole_ppm) = ratio_ppm(point.reported, point.counted) else {
            return false;
        };
        let stray = self
            .whole_ppm
            .is_some_and(|last| whole_ppm.abs_diff(last) > scaled(last, STRAY_PPM, ONE_PPM));
        if stray && self.strays < STRAYS_MAX {
            self.strays += 1;
            return false;
        }
        if stray {
            self.growths_ppm.clear();
            self.growth_start = None;
        }
        self.strays = 0;
        self.whole_ppm = Some(whole_ppm);
        self.anchor = Some(point);
        self.learn_growth(point);
        true
    }

    fn learn_growth(&mut self, point: Point) {
        let start = *self.growth_start.get_or_insert(point);
        let Some(growth) = point.counted.checked_sub(start.counted) else {
            self.growth_start = Some(point);
            return;
        };
        if growth < GROWTH_MIN {
            return;
        }
        self.growth_start = Some(point);
        if let Some(ratio) = ratio_ppm(point.reported.saturating_sub(start.reported), growth) {
            if self.growths_ppm.len() == GROWTHS_MAX {
                self.growths_ppm.remove(0);
            }
            self.growths_ppm.push(ratio);
        }
    }

    /// The expected report of the backend for a request of `counted` tokens: the last report plus the later additions,
    /// at the ratio of earlier growth. Without a report, or if the request has become smaller than the reported one,
    /// the whole at the larger of both ratios.
    pub fn estimate(&self, counted: usize) -> usize {
        let counted = as_u64(counted);
        let tokens = match self.anchor {
            Some(anchor) if anchor.counted <= counted => {
                let new = scaled(counted - anchor.counted, self.growth_ppm(), ONE_PPM);
                anchor.reported.saturating_add(new)
            }
            _ => scaled(counted, self.whole_ratio_ppm(), ONE_PPM),
        };
        usize::try_from(tokens).unwrap_or(usize::MAX)
    }

    /// Requests no longer begin as the reported one did: the conversation was compacted, or rewound. The ratios stay.
    pub fn forget_usage(&mut self) {
        self.anchor = None;
        self.growth_start = None;
    }

    /// After a compaction, the rest can be any mix of the head and the growth.
    fn whole_ratio_ppm(&self) -> u64 {
        let growth_ppm = if self.growths_ppm.is_empty() {
            0
        } else {
            self.growth_ppm()
        };
        self.whole_ppm.map_or(ONE_PPM, |whole| whole.max(growth_ppm))
    }

    /// The median of growths, of an even number the upper one. Before any is known, the next may weigh as little as the whole
    /// did, or as much as the meter counts.
    fn growth_ppm(&self) -> u64 {
        let mut sorted = self.growths_ppm.clone();
        sorted.sort_unstable();
        let unlearned = || {
            self.whole_ppm
                .map_or(ONE_PPM, |whole| whole.max(whole.midpoint(ONE_PPM)))
        };
        sorted
            .get(sorted.len() / 2)
            .map_or_else(unlearned, |growth| (*growth).max(GROWTH_USED_MIN_PPM))
    }
}

/// Millionths; nothing if it is no plausible ratio.
fn ratio_ppm(reported: u64, counted: u64) -> Option<u64> {
    let ratio = (counted > 0).then(|| scaled(reported, ONE_PPM, counted))?;
    RATIO_PPM.contains(&ratio).then_some(ratio)
}

fn as_u64(tokens: usize) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// `value` × `times` ÷ `by`, rounded up; `by` is never 0.
fn scaled(value: u64, times: u64, by: u64) -> u64 {
    let exact = (u128::from(value) * u128::from(times)).div_ceil(u128::from(by));
    u64::try_from(exact).unwrap_or(u64::MAX)
}
