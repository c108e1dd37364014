//! Corrects the meter's counts by a backend's reported usage.
//!
//! Owns: the last report of a conversation, and the ratio of reports to counts for one model. Never: counting, and
//! matching reports to models; a host keeps one calibration for each.

/// Minimum ratio for new text: it may have another script or kind with more tokens than the reported text.
const GROWTH_USED_MIN_PPM: u64 = 700_000;
const ONE_PPM: u64 = 1_000_000;
/// Plausible ratios. Beyond them the backend omits cached tokens, or reports nothing.
const RATIO_PPM: std::ops::RangeInclusive<u64> = 250_000..=4_000_000;
/// Maximum change of the ratio since the last report, as a share of it; beyond it the report is an outlier.
const STRAY_PPM: u64 = 250_000;
/// Maximum number of outliers in a row that are ignored; the next one is accepted.
const STRAYS_MAX: u8 = 2;
/// Maximum number of remembered growths.
const GROWTHS_MAX: usize = 6;
/// Minimum counted growth; in a smaller one, rounding and framing would outweigh the text.
const GROWTH_MIN: u64 = 200;

/// Converts a meter's counts into the backend's expected report. Without any report it changes no count.
///
/// All counts are of a whole request: system text, tools and messages. A report must include the tokens read from a
/// cache; if a backend lists those separately, the caller adds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Ratio of the last accepted report.
    whole_ppm: Option<u64>,
    /// Reported growth per counted token, oldest first.
    growths_ppm: Vec<u64>,
    /// The last accepted report, while requests share its beginning.
    anchor: Option<Point>,
    /// The start of the next measured growth.
    growth_start: Option<Point>,
    strays: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    counted: u64,
    reported: u64,
}

impl Calibration {
    /// Records that a request of `counted` tokens by the meter had `reported` tokens. Returns whether the report was
    /// accepted.
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

    /// The backend's expected report for a request of `counted` tokens: the last report plus the later additions, at
    /// the ratio of earlier growth. Without a report, or if the request has become smaller than the reported one, the
    /// whole at the larger of both ratios.
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

    /// Drops the last report, because requests no longer share its beginning: the conversation was compacted, or
    /// rewound. The ratios stay.
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

    /// The upper median of the growths. Before the first growth, new text may have as few tokens as the ratio of the
    /// whole suggests, or as many as the meter counts.
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

/// The ratio in millionths; none if it is not plausible.
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
