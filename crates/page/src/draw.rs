//! Drawings: the time line as a quipu, and a conversation's window. The templates turn these numbers into SVG.
//!
//! Owns: places and sizes. Never: colours (the style sheet has them).

use wire::conversation::{ContextStatsData, ViewItem};
use wire::survey::MonthItem;

use crate::words;

/// Months on the time line; the earliest others are left out.
const MONTHS_MAX: usize = 120;
/// Between two cords: as far apart as fits a screen, within limits.
const GAP: (usize, usize) = (30, 72);
const SCREEN: usize = 900;
/// Left and right of all cords.
const MARGIN: usize = 24;
/// From the main cord to the first knot, and from knot to knot.
const FIRST_KNOT: usize = 30;
const NEXT_KNOT: usize = 9;
const KNOTS_MAX: usize = 8;

/// A month on the time line: a pendant cord with knots.
pub(crate) struct Cord {
    pub(crate) x: usize,
    /// Where the cord ends.
    pub(crate) end: usize,
    /// Knots of facts, then of episodes, from the top: their places.
    pub(crate) facts: Vec<usize>,
    pub(crate) episodes: Vec<usize>,
    /// Under the cord; empty except for January and the first.
    pub(crate) year: String,
    pub(crate) letter: String,
    pub(crate) label: String,
    pub(crate) address: String,
    pub(crate) is_chosen: bool,
}

/// The width of so many cords.
pub(crate) fn width(cords: usize) -> usize {
    2 * MARGIN + cords.saturating_sub(1) * gap(cords)
}

fn gap(cords: usize) -> usize {
    (SCREEN / cords.max(1)).clamp(GAP.0, GAP.1)
}

/// The height of the longest cord and the words below it.
pub(crate) fn height(cords: &[Cord]) -> usize {
    cords.iter().map(|cord| cord.end).max().unwrap_or_default() + 36
}

/// A cord for each month from the first to the last, also for those without memories.
pub(crate) fn cords(months: &[MonthItem], chosen: &str, address: impl Fn(&str) -> String) -> Vec<Cord> {
    let mut all: Vec<MonthItem> = Vec::new();
    for month in months {
        while let Some(next) = all.last().and_then(|last| next_month(&last.month)) {
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
    let from = all.len().saturating_sub(MONTHS_MAX);
    let shown_max = all.len() - from;
    let shown = all[from..].iter().enumerate();
    let cord = |(at, item): (usize, &MonthItem)| {
        let (facts, episodes) = (knots(item.facts), knots(item.episodes));
        let place = |knot: usize| FIRST_KNOT + knot * NEXT_KNOT;
        let between = usize::from(facts > 0 && episodes > 0);
        let first_episode = facts + between;
        let (year, number) = item.month.split_once('-').unwrap_or((&item.month, ""));
        let is_first = at == 0 || number == "01";
        Cord {
            x: MARGIN + at * gap(shown_max),
            end: place(first_episode + episodes) + 2,
            facts: (0..facts).map(place).collect(),
            episodes: (0..episodes).map(|knot| place(first_episode + knot)).collect(),
            year: if is_first { year.to_owned() } else { String::new() },
            letter: words::month_name(number).chars().take(1).collect(),
            label: format!(
                "{}: {}, {}",
                words::month(&item.month),
                words::count(item.facts, "fact", "facts"),
                words::count(item.episodes, "summary", "summaries")
            ),
            address: address(&item.month),
            is_chosen: item.month == chosen,
        }
    };
    shown.map(cord).collect()
}

/// One knot for the first memory, and one more each time their number doubles.
fn knots(count: usize) -> usize {
    let bits = usize::BITS - count.leading_zeros();
    (bits as usize).min(KNOTS_MAX)
}

fn next_month(month: &str) -> Option<String> {
    let (year, number) = month.split_once('-')?;
    let (year, number): (u32, u32) = (year.parse().ok()?, number.parse().ok()?);
    Some(match number {
        12 => format!("{:04}-01", year + 1),
        _ => format!("{year:04}-{:02}", number + 1),
    })
}

/// The width of a drawn window.
pub(crate) const WINDOW_WIDTH: usize = 1000;
/// A message is at least this wide, so that it can be seen and pressed.
const SLICE_MIN: usize = 3;

/// A piece of the window.
pub(crate) struct WindowSlice {
    pub(crate) x: usize,
    pub(crate) width: usize,
    /// A class of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) label: String,
    pub(crate) anchor: String,
}

/// A conversation's window: what fills it, and its limits.
pub(crate) struct DrawnWindow {
    pub(crate) slices: Vec<WindowSlice>,
    /// Places of marks, each with what it means.
    pub(crate) marks: Vec<(usize, String)>,
    pub(crate) label: String,
    /// Tokens of all slices.
    pub(crate) used: usize,
}

/// Draws the view to the scale of the window, or of itself if no request named a window yet.
pub(crate) fn window(stats: &ContextStatsData, view: &[ViewItem]) -> DrawnWindow {
    let used = stats.head_tokens + view.iter().map(|item| item.tokens).sum::<usize>();
    let whole = stats.window_tokens.unwrap_or(used).max(used).max(1);
    let scale = |tokens: usize| tokens * WINDOW_WIDTH / whole;
    let mut slices: Vec<WindowSlice> = Vec::new();
    let mut x = 0;
    let mut push = |tokens: usize, class: &'static str, label: String, anchor: String| {
        let width = scale(tokens).max(SLICE_MIN);
        slices.push(WindowSlice {
            x,
            width: width.saturating_sub(1).max(1),
            class,
            label,
            anchor,
        });
        x += width;
    };
    if stats.head_tokens > 0 {
        let label = format!("System text and tools, {}", tokens(stats.head_tokens));
        push(stats.head_tokens, "head", label, "#view".to_owned());
    }
    for item in view {
        let class = class(item);
        let label = format!("{} {}, {}", item.id, class, tokens(item.tokens));
        push(item.tokens, class, label, format!("#{}", item.id));
    }
    let at = |tokens: Option<usize>, what: &str| {
        tokens.map(|tokens| {
            (
                scale(tokens).min(WINDOW_WIDTH - 1),
                format!("{what} {}", words::number(tokens)),
            )
        })
    };
    let marks = [
        at(
            stats.compacts_at_tokens.map(|tokens| tokens + stats.head_tokens),
            "compacts at",
        ),
        at(
            stats.limit_tokens.map(|tokens| tokens + stats.head_tokens),
            "limit",
        ),
    ];
    DrawnWindow {
        used,
        slices,
        marks: marks.into_iter().flatten().collect(),
        label: format!(
            "{} of {} in view: {}",
            tokens(used),
            words::number(whole),
            words::count(view.len(), "message", "messages")
        ),
    }
}

/// What a message is, in a word that the style sheet knows too.
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
    fn the_time_line_has_every_month_between_and_knots_that_grow_slowly() {
        let month = |month: &str, facts, episodes| MonthItem {
            month: month.to_owned(),
            facts,
            episodes,
        };
        let months = [month("2025-11", 1, 1), month("2026-02", 5, 0)];
        let drawn = cords(&months, "2026-02", |month| format!("?{month}"));
        let labels: Vec<&str> = drawn.iter().map(|cord| &*cord.label).collect();
        assert_eq!(
            labels,
            [
                "November 2025: 1 fact, 1 summary",
                "December 2025: 0 facts, 0 summaries",
                "January 2026: 0 facts, 0 summaries",
                "February 2026: 5 facts, 0 summaries",
            ]
        );
        let knots: Vec<usize> = drawn.iter().map(|cord| cord.facts.len()).collect();
        assert_eq!(knots, [1, 0, 0, 3]);
        assert_eq!(
            (&*drawn[0].year, &*drawn[1].year, &*drawn[2].year),
            ("2025", "", "2026")
        );
        assert!(drawn[3].is_chosen && !drawn[0].is_chosen);
        assert_eq!(drawn.last().map(|cord| cord.x + MARGIN), Some(width(4)));
    }

    #[test]
    fn a_month_far_away_draws_no_endless_line() {
        let month = |month: &str| MonthItem {
            month: month.to_owned(),
            ..MonthItem::default()
        };
        assert!(cords(&[month("0001-01"), month("2026-01")], "", |_| String::new()).len() <= MONTHS_MAX);
    }
}
