//! The machine's memory, as far as this process may use it.
//!
//! Owns: reading it. Never: what it is used for.

use std::fs;

/// Memory of the machine or of the container, in bytes; none where the system has no such files.
pub(crate) fn memory_bytes() -> Option<usize> {
    // The second is the limit of a container's control group.
    let about = fs::read_to_string("/proc/meminfo").ok()?;
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").unwrap_or_default();
    smaller(&about, &limit)
}

fn smaller(about: &str, limit: &str) -> Option<usize> {
    let total = about.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = total.trim().strip_suffix(" kB")?.parse().ok()?;
    let limit = limit.trim().parse().unwrap_or(usize::MAX);
    Some(limit.min(kibibytes.saturating_mul(1024)))
}

#[cfg(test)]
mod tests {
    use super::smaller;

    #[test]
    fn a_container_may_use_less_than_the_machine_has() {
        let about = "MemTotal:       24573852 kB\nMemFree:        1 kB\n";
        assert_eq!(smaller(about, "max\n"), Some(24_573_852 << 10));
        assert_eq!(smaller(about, ""), Some(24_573_852 << 10));
        assert_eq!(smaller(about, "536870912\n"), Some(512 << 20));
        assert_eq!(smaller("", "536870912\n"), None);
    }
}
