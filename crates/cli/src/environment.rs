//! The environment of the process: the only place that reads it.

#![expect(clippy::disallowed_methods, reason = "this file owns the environment")]

use std::path::{Path, PathBuf};

use model::Zone;

/// The value of a variable; `None` if it is unset or not Unicode.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Every variable that is Unicode.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The machine's time zone; UTC if it has none, as in most containers.
pub(crate) fn zone() -> Zone {
    zone_of(variable("TZ"), Path::new("/etc"))
}

/// The zone in the variable, else the system's: `localtime` links to it, or `timezone` has its name.
fn zone_of(variable: Option<String>, etc: &Path) -> Zone {
    let name = variable.or_else(|| {
        let link = std::fs::read_link(etc.join("localtime")).ok();
        let link = link.map(|link| link.to_string_lossy().into_owned());
        link.or_else(|| std::fs::read_to_string(etc.join("timezone")).ok())
    });
    let name = name.unwrap_or_default();
    let name = name.rsplit_once("zoneinfo/").map_or(&*name, |(_, name)| name);
    Zone::named(name.trim().trim_start_matches(':')).unwrap_or_default()
}

/// The person's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// The default root.
pub(crate) fn default_root() -> Option<PathBuf> {
    home().map(|home| home.join(".quipu"))
}

/// Path of this program; without `/proc`, the name that started it.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| std::env::args_os().next().map(PathBuf::from).ok_or(error))
}

#[cfg(test)]
mod tests {
    use super::zone_of;

    #[test]
    fn the_time_zone_comes_from_the_variable_or_the_system() {
        let etc = tempfile::tempdir().expect("a folder");
        let zone =
            |variable: Option<&str>| zone_of(variable.map(str::to_owned), etc.path()).name().to_owned();
        assert_eq!(zone(None), "UTC", "nothing says");
        std::fs::write(etc.path().join("timezone"), "Europe/Vienna\n").expect("is written");
        assert_eq!(zone(None), "Europe/Vienna");
        let link = etc.path().join("localtime");
        std::os::unix::fs::symlink("../usr/share/zoneinfo/America/New_York", link).expect("a link");
        for (variable, name) in [
            (None, "America/New_York"),
            (Some("Asia/Tokyo"), "Asia/Tokyo"),
            (Some(":/usr/share/zoneinfo/Europe/Berlin"), "Europe/Berlin"),
            (Some(""), "UTC"),
            (Some("nowhere"), "UTC"),
        ] {
            assert_eq!(zone(variable), name, "{variable:?}");
        }
    }
}
