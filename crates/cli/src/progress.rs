//! Progress on standard error, for work that may take more than a second.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a bar is drawn anew while nothing is counted.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// A bar for something counted; hidden without a viewer (`--quiet`, `--json`, or no terminal).
pub(crate) fn bar(shown: bool, what: &'static str, total: u64) -> ProgressBar {
    let target = if shown {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{prefix:>12} [{bar:16}] {pos}/{len}, {eta} left {msg}");
    bar.set_style(
        style
            .expect("the template is this program's own")
            .progress_chars("=> "),
    );
    bar.set_prefix(what);
    bar
}

/// A bar for bytes.
pub(crate) fn bytes(shown: bool, what: &'static str, total: u64) -> ProgressBar {
    let bar = bar(shown, what, total);
    let style =
        ProgressStyle::with_template("{prefix:>12} [{bar:16}] {bytes}/{total_bytes}, {eta} left {msg}");
    bar.set_style(
        style
            .expect("the template is this program's own")
            .progress_chars("=> "),
    );
    bar.enable_steady_tick(TICK);
    bar
}
