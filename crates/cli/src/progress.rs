//! Progress on standard error, for work that may take more than a second.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Interval of redrawing a bar without progress.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// A bar for counted items; hidden without a viewer (`--quiet`, `--json`, or no terminal).
pub(crate) fn bar(shown: bool, what: &'static str, total: u64) -> ProgressBar {
    let target = if shown {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    bar.set_style(style("{prefix:>12} [{bar:16}] {pos}/{len}, {eta} left {msg}"));
    bar.set_prefix(what);
    bar
}

/// A bar for bytes.
pub(crate) fn bytes(shown: bool, what: &'static str, total: u64) -> ProgressBar {
    let bar = bar(shown, what, total);
    bar.set_style(style(
        "{prefix:>12} [{bar:16}] {bytes}/{total_bytes}, {eta} left {msg}",
    ));
    bar.enable_steady_tick(TICK);
    bar
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is this program's own");
    style.progress_chars("=> ")
}
