//! The screen of `quipu top`.
//!
//! Owns: where each thing stands. It fits 80 columns and 24 lines; a smaller terminal shows the beginning.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Table};
use text::counted;
use wire::cache::{ConversationItem, RequestItem, UpstreamItem};

use super::TopScreen;
use crate::commands::cache::{count, millis, percent, words};
use crate::commands::upkeep::{index_word, near_limit};
use crate::output::size;

/// Model servers that have a line.
const UPSTREAMS_MAX: u16 = 3;
/// Requests of the chosen conversation that have a line.
const REQUESTS: u16 = 5;
/// Width of the bar of hits.
const BAR: usize = 20;

pub(super) fn draw(frame: &mut Frame<'_>, watch: &mut TopScreen) {
    let upstreams = watch
        .seen
        .cache
        .upstreams
        .len()
        .clamp(1, usize::from(UPSTREAMS_MAX));
    let [head, gauges, cache, conversations, requests, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(6),
        Constraint::Length(u16::try_from(upstreams).unwrap_or(UPSTREAMS_MAX) + 2),
        Constraint::Min(4),
        Constraint::Length(REQUESTS + 3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let [memory, queue] = Layout::horizontal([Constraint::Fill(1); 2]).areas(gauges);
    draw_head(frame, head, watch);
    block(frame, memory, "Memory", memory_lines(watch));
    block(frame, queue, "Queue", queue_lines(watch));
    block(frame, cache, "Cache", cache_lines(watch));
    draw_conversations(frame, conversations, watch);
    draw_requests(frame, requests, watch);
    draw_foot(frame, foot, watch);
}

fn block(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'_>>) {
    let framed = Paragraph::new(lines).block(Block::bordered().title(format!(" {title} ")));
    frame.render_widget(framed, area);
}

impl TopScreen {
    fn tone(&self, colour: Color) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        if self.coloured { style.fg(colour) } else { style }
    }
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, watch: &TopScreen) {
    let health = &watch.seen.health;
    let state = match (&watch.trouble, health.problems.len()) {
        (Some(_), _) => Span::styled("no answer", watch.tone(Color::Red)),
        (None, 0) => Span::styled("healthy", watch.tone(Color::Green)),
        (None, some) => Span::styled(counted(some, "problem", "problems"), watch.tone(Color::Red)),
    };
    let name = Span::styled(
        format!("quipu {}  ", health.version),
        Style::new().add_modifier(Modifier::BOLD),
    );
    let left = Line::from(vec![name, state, Span::raw(format!("  {}", watch.root))]);
    let keys = "↑↓ choose  q quit";
    let [main, side] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(18)]).areas(area);
    frame.render_widget(left, main);
    frame.render_widget(Line::from(keys).right_aligned(), side);
}

fn memory_lines(watch: &TopScreen) -> Vec<Line<'static>> {
    let health = &watch.seen.health;
    let index = &health.index;
    vec![
        Line::from(format!(
            "{}, {} broken",
            counted(health.files, "file", "files"),
            health.broken_files.len()
        )),
        Line::from(format!(
            "index {}, {}",
            index_word(&index.health),
            counted(index.rows, "row", "rows")
        )),
        Line::from(format!("{} on disk", size(index.bytes_on_disk))),
        Line::from(format!(
            "{} not yet in an episode",
            counted(health.buffered_messages, "message", "messages")
        )),
    ]
}

fn queue_lines(watch: &TopScreen) -> Vec<Line<'static>> {
    let health = &watch.seen.health;
    let (tasks, runs) = (health.tasks, health.runs.unwrap_or_default());
    let alarm = |bad: bool, text: String| {
        let style = if bad { watch.tone(Color::Red) } else { Style::new() };
        Line::styled(text, style)
    };
    let rebuilding = health.rebuilding.map_or_else(
        || "no rebuild".to_owned(),
        |far| format!("rebuilding: {} of {}", far.done, far.total),
    );
    vec![
        alarm(
            tasks.failed + tasks.stuck > 0,
            format!(
                "tasks  {} waiting, {} running, {} failed",
                tasks.queued, tasks.processing, tasks.failed
            ),
        ),
        alarm(
            runs.dead_letters > 0,
            format!(
                "runs   {} waiting, {} running, {} failed",
                runs.queued, runs.running, runs.dead_letters
            ),
        ),
        Line::from(rebuilding),
        Line::from(near_limit(health.near_limit)),
    ]
}

fn cache_lines(watch: &TopScreen) -> Vec<Line<'static>> {
    let upstreams = &watch.seen.cache.upstreams;
    if upstreams.is_empty() {
        return vec![Line::from(
            "no requests yet: `quipu serve --upstream URL` stands before a model server",
        )];
    }
    upstreams
        .iter()
        .take(usize::from(UPSTREAMS_MAX))
        .map(upstream)
        .collect()
}

fn upstream(it: &UpstreamItem) -> Line<'static> {
    let ratio = it.hit_ratio.unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the bar's width"
    )]
    let full = (ratio * BAR as f64).round() as usize;
    let bar = "█".repeat(full) + &"░".repeat(BAR - full);
    Line::from(format!(
        "{bar} {:>5} hit, {} requests, first token {}, {}",
        percent(it.hit_ratio),
        it.requests,
        millis(it.first_token_ms_p50),
        it.upstream.trim_start_matches("http://")
    ))
}

const HEAD: Style = Style::new().add_modifier(Modifier::UNDERLINED);

fn draw_conversations(frame: &mut Frame<'_>, area: Rect, watch: &mut TopScreen) {
    let conversations = &watch.seen.cache.conversations;
    let title = format!("Conversations, the newest {}", conversations.len());
    if conversations.is_empty() {
        let how = "none yet: point a client at this server's /v1, or type `quipu chat`";
        return block(frame, area, "Conversations", vec![Line::from(how)]);
    }
    let rows = conversations.iter().map(|it| {
        let last = it.requests.first();
        Row::new([
            it.conversation.clone(),
            it.requests.len().to_string(),
            last.map_or_else(String::new, |last| last.prompt_tokens.to_string()),
            last.map_or_else(String::new, |last| count(last.cached_tokens)),
            last.map_or_else(String::new, |last| millis(last.first_token_ms)),
            last.map_or_else(String::new, why),
        ])
    });
    let widths = [
        Constraint::Fill(2),
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(11),
        Constraint::Fill(3),
    ];
    let table = Table::new(rows, widths)
        .header(
            Row::new([
                "conversation", "requests", "prompt", "cached", "first token", "why",
            ])
            .style(HEAD),
        )
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(Block::bordered().title(format!(" {title} ")));
    frame.render_stateful_widget(table, area, &mut watch.chosen);
}

/// The requests of the chosen conversation, newest first.
fn draw_requests(frame: &mut Frame<'_>, area: Rect, watch: &TopScreen) {
    let chosen = watch.chosen.selected().unwrap_or(0);
    let Some(ConversationItem {
        conversation,
        upstream,
        requests,
    }) = watch.seen.cache.conversations.get(chosen)
    else {
        return block(frame, area, "Requests", Vec::new());
    };
    let rows = requests.iter().take(usize::from(REQUESTS)).map(|it| {
        Row::new([
            it.at.get(11..19).unwrap_or(&it.at).to_owned(),
            it.prompt_tokens.to_string(),
            count(it.cached_tokens),
            it.injected_tokens.to_string(),
            millis(it.first_token_ms),
            why(it),
        ])
    });
    let widths = [
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(11),
        Constraint::Fill(1),
    ];
    let title = format!(" {conversation} at {} ", upstream.trim_start_matches("http://"));
    let table = Table::new(rows, widths)
        .header(Row::new(["at", "prompt", "cached", "memory", "first token", "why"]).style(HEAD))
        .block(Block::bordered().title(title));
    frame.render_widget(table, area);
}

/// Why a request cost what it cost.
fn why(request: &RequestItem) -> String {
    let class = request.class.as_deref().map_or("-", words);
    match request.reasons.as_slice() {
        [] => class.to_owned(),
        reasons => format!("{class} ({})", reasons.join("; ")),
    }
}

/// The first thing that is wrong, with its remedy.
fn draw_foot(frame: &mut Frame<'_>, area: Rect, watch: &TopScreen) {
    let wrong = watch.trouble.as_ref().or(watch.seen.health.problems.first());
    if let Some(wrong) = wrong {
        frame.render_widget(Line::styled(wrong.as_str(), watch.tone(Color::Red)), area);
    }
}
