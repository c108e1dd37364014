//! Drawings: the months of the time line, and a conversation's window.
//!
//! Owns: the shapes, and the positions in a window. Never: colours and the look of a knot (the style sheet has them).

use gateway::wire::conversation::{ContextStatsData, ViewItem};
use gateway::wire::survey::MonthItem;

use crate::words;

/// Maximum number of months on the time line; the earliest months are left out.
const MONTHS_MAX: usize = 120;
const KNOTS_MAX: usize = 8;

/// All months from the first to the last, also months without memories.
pub(crate) fn months(known: &[MonthItem]) -> Vec<MonthItem> {
    let mut all: Vec<MonthItem> = Vec::new();
    for month in known {
        while let Some((_, next)) = all.last().and_then(|last| month_and_next(&last.month)) {
            if next >= month.month || all.len() > 10 * MONTHS_MAX {
                break;
            }
            all.push(MonthItem {
                month: next,
                ..MonthItem::default()
            });
        }
        all.push(month.clone());
    }
    all.split_off(all.len().saturating_sub(MONTHS_MAX))
}

/// The number of knots for a number of memories: one for the first, and one more each time the number doubles.
pub(crate) fn knots(count: usize) -> usize {
    let bits = usize::BITS - count.leading_zeros();
    (bits as usize).min(KNOTS_MAX)
}

/// A month and the next one: `2026-03` and `2026-04`.
pub(crate) fn month_and_next(month: &str) -> Option<(String, String)> {
    let (year, number) = month.split_once('-')?;
    let (year, number): (u32, u32) = (year.parse().ok()?, number.parse().ok()?);
    let next = match number {
        12 => format!("{:04}-01", year + 1),
        _ => format!("{year:04}-{:02}", number + 1),
    };
    Some((format!("{year:04}-{number:02}"), next))
}

/// The width of a drawn window, in units of the drawing.
pub(crate) const WINDOW_WIDTH: usize = 1000;
/// The minimum width of a message, so that a person can see and press it.
const SLICE_MIN: usize = 3;

/// One message or the head in the drawing of a window.
pub(crate) struct WindowSlice {
    pub(crate) x: usize,
    pub(crate) width: usize,
    /// A class of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) label: String,
    pub(crate) anchor: String,
}

/// The drawing of a conversation's window: its messages and its limits.
pub(crate) struct DrawnWindow {
    pub(crate) slices: Vec<WindowSlice>,
    /// Marks of limits: position and label.
    pub(crate) marks: Vec<(usize, String)>,
    pub(crate) label: String,
    /// Tokens of all slices.
    pub(crate) used: usize,
}

/// Draws a view to the scale of the window; without a known window, to the scale of the view itself.
pub(crate) fn window(stats: &ContextStatsData, view: &[ViewItem]) -> DrawnWindow {
    let used = stats.head_tokens + view.iter().map(|item| item.tokens).sum::<usize>();
    let whole = stats.window_tokens.unwrap_or(used).max(used).max(1);
    let scale = |tokens: usize| tokens * WINDOW_WIDTH / whole;
    let head = (
        stats.head_tokens,
        "head",
        "System text and tools".to_owned(),
        "#view".to_owned(),
    );
    let items = view.iter().map(|item| {
        let class = class(item);
        (
            item.tokens,
            class,
            format!("{} {class}", item.id),
            format!("#{}", item.id),
        )
    });
    let mut x = 0;
    let slices = std::iter::once(head)
        .filter(|_| stats.head_tokens > 0)
        .chain(items);
    let slices = slices.map(|(count, class, name, anchor)| {
        let width = scale(count).max(SLICE_MIN);
        x += width;
        WindowSlice {
            x: x - width,
            width: width - 1,
            class,
            label: format!("{name}, {}", tokens(count)),
            anchor,
        }
    });
    let slices = slices.collect();
    // The limits of a view do not include the head.
    let bounds = [
        ("compacts at", stats.compacts_at_tokens),
        ("limit", stats.limit_tokens),
    ];
    let marks = bounds.into_iter().filter_map(|(name, bound)| {
        let bound = bound? + stats.head_tokens;
        let place = scale(bound).min(WINDOW_WIDTH - 1);
        Some((place, format!("{name} {}", words::number(bound))))
    });
    DrawnWindow {
        used,
        slices,
        marks: marks.collect(),
        label: format!(
            "{} of {} in view: {}",
            tokens(used),
            words::number(whole),
            words::count(view.len(), "message", "messages")
        ),
    }
}

/// The kind of a message, as a class of the style sheet.
pub(crate) fn class(item: &ViewItem) -> &'static str {
    if item.id.starts_with('n') {
        return "summary";
    }
    if item.pinned {
        return "pinned";
    }
    match &*item.role {
        "user" => "user",
        "assistant" => "assistant",
        "tool" => "tool",
        _ => "system",
    }
}

fn tokens(tokens: usize) -> String {
    words::count(tokens, "token", "tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_line_has_every_month_and_knots_grow_with_the_logarithm() {
        let month = |month: &str, facts| MonthItem {
            month: month.to_owned(),
            facts,
            ..MonthItem::default()
        };
        let drawn = months(&[month("2025-11", 1), month("2026-02", 5)]);
        let names: Vec<&str> = drawn.iter().map(|item| &*item.month).collect();
        assert_eq!(names, ["2025-11", "2025-12", "2026-01", "2026-02"]);
        let knotted: Vec<usize> = drawn.iter().map(|item| knots(item.facts)).collect();
        assert_eq!(knotted, [1, 0, 0, 3]);
        assert_eq!(knots(usize::MAX), KNOTS_MAX);
    }

    #[test]
    fn a_distant_first_month_draws_at_most_the_maximum_of_months() {
        let month = |month: &str| MonthItem {
            month: month.to_owned(),
            ..MonthItem::default()
        };
        assert!(months(&[month("0001-01"), month("2026-01")]).len() <= MONTHS_MAX);
    }
}
