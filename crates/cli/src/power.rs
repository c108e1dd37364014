//! Power supply of the machine, as Linux reports it under `/sys/class/power_supply`.
//!
//! Owns: reading it. Never: decisions. Without a report, as on a server, the machine does not run on battery.

use std::path::Path;

use ports::runs::Power;

/// This machine.
#[derive(Debug)]
pub(crate) struct Machine;

impl Power for Machine {
    fn is_on_battery(&self) -> bool {
        is_discharging(Path::new("/sys/class/power_supply"))
    }
}

/// Whether a battery of the machine is discharging; batteries of a mouse or a headset do not count.
fn is_discharging(supplies: &Path) -> bool {
    let Ok(supplies) = std::fs::read_dir(supplies) else {
        return false;
    };
    supplies.flatten().any(|supply| {
        let says = |file, word| {
            let text = std::fs::read_to_string(supply.path().join(file));
            text.is_ok_and(|text| text.trim() == word)
        };
        says("type", "Battery") && !says("scope", "Device") && says("status", "Discharging")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_discharging_battery_of_the_machine_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!is_discharging(&folder.path().join("none")));
        let put = |supply: &str, file: &str, text: &str| {
            let supply = folder.path().join(supply);
            std::fs::create_dir_all(&supply).expect("made");
            std::fs::write(supply.join(file), format!("{text}\n")).expect("written");
        };
        put("mouse", "type", "Battery");
        put("mouse", "scope", "Device");
        put("mouse", "status", "Discharging");
        put("BAT0", "type", "Battery");
        put("BAT0", "status", "Charging");
        assert!(!is_discharging(folder.path()));
        put("BAT0", "status", "Discharging");
        assert!(is_discharging(folder.path()));
    }
}
