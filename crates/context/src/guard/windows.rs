//! Windows of known models.
//!
//! Owns: the table (`windows.txt`). Never: a guess for an unknown model.

/// Prefixes of models' names, without the names of routers and vendors, with their windows in tokens. The longest match
/// decides. Vendors' published values; for models with a wider window at a higher price or on request, the common one.
const WINDOWS: &str = include_str!("windows.txt");

/// The window of the named model in tokens, if it is known. Case, routers and vendors in front, and the text after the
/// family do not matter: `openrouter/openai/gpt-5-mini:free`, `us.anthropic.claude-opus-4`, `llama3.1:8b`.
pub fn known_window(model: &str) -> Option<usize> {
    let name = model.trim().to_lowercase();
    let starts = name
        .match_indices(['/', '.', ':'])
        .map(|(at, mark)| at + mark.len());
    let tails = std::iter::once(0).chain(starts).map(|start| &name[start..]);
    let fit = |tail: &str| {
        let rows = WINDOWS.lines().filter_map(|row| row.split_once(' '));
        let fits = rows.filter(|(family, _)| {
            tail.strip_prefix(*family)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        fits.max_by_key(|(family, _)| family.len())
    };
    tails.filter_map(fit).find_map(|(_, window)| window.parse().ok())
}
