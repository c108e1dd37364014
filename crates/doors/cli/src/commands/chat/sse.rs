//! Server-sent events: the payloads of `data:` lines, from pieces that are cut anywhere.
//!
//! Owns: where a line ends. Never: what a payload means.

/// What has arrived of a line that is not whole yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The payloads that a piece completes.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(piece);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        String::from_utf8_lossy(&whole)
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|payload| payload.trim().to_owned())
            .collect()
    }
}
