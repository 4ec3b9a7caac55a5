//! The memory that the node and its workers may use: the machine's, or what their control group (of the second version)
//! may take of it.

use std::{fs, path::Path};

/// Assumed where neither can be read.
const UNKNOWN_MIB: u64 = 4096;
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// That memory in MiB.
pub(super) fn usable_mib() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo");
    let machine = machine.ok().and_then(|text| total_mib(&text));
    let groups = fs::read_to_string("/proc/self/cgroup");
    let groups = groups
        .ok()
        .and_then(|text| limit_mib(Path::new(CONTROL_GROUPS), &text));
    let known = machine.into_iter().chain(groups).min();
    known.unwrap_or(UNKNOWN_MIB)
}

/// The machine's memory, from `/proc/meminfo`.
fn total_mib(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let kib = lines.find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib = kib.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib / 1024)
}

/// The smallest limit of the control group and those around it, from `/proc/self/cgroup`.
fn limit_mib(groups: &Path, text: &str) -> Option<u64> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folders = Path::new(path).ancestors().map(|path| groups.join(path));
    let limits = folders.filter_map(|folder| {
        let text = fs::read_to_string(folder.join("memory.max")).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.min().map(|bytes| bytes >> 20)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{limit_mib, total_mib};

    #[test]
    fn the_machines_memory_is_read_in_mib() {
        let text = "MemTotal:       24562836 kB\nMemFree:         1000 kB\n";
        assert_eq!(total_mib(text), Some(23_987));
        assert_eq!(total_mib("MemFree: 1000 kB"), None);
    }

    #[test]
    fn the_smallest_limit_of_the_groups_around_counts() {
        let groups = tempfile::tempdir().unwrap();
        let inner = groups.path().join("system/headwater");
        fs::create_dir_all(&inner).unwrap();
        let line = "0::/system/headwater\n";
        assert_eq!(limit_mib(groups.path(), line), None);
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(groups.path().join("system/memory.max"), "1073741824\n").unwrap();
        assert_eq!(limit_mib(groups.path(), line), Some(1024));
        fs::write(inner.join("memory.max"), "536870912\n").unwrap();
        assert_eq!(limit_mib(groups.path(), line), Some(512));
        assert_eq!(
            limit_mib(groups.path(), "1:cpu:/system"),
            None,
            "control groups of version 1"
        );
    }
}
