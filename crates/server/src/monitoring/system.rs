//! Statistics of this process and its disk from the operating system (Linux, `/proc`).

use std::path::Path;

/// Memory of the machine, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    /// What programs could still take without others being pushed out.
    pub(crate) available: u64,
}

/// Swapped memory, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Swap {
    pub(crate) total: u64,
    pub(crate) used: u64,
    pub(crate) used_by_process: u64,
}

/// Bytes that the process had the disk read and write since it began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DiskTraffic {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// The device that a folder is on, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Volume {
    pub(crate) total: u64,
    /// What this process may still take.
    pub(crate) free: u64,
}

/// Resident memory of this process in bytes.
pub(crate) fn resident_size() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:").map(|kilobytes| kilobytes * 1024)
}

/// The part of it that is pages of mapped files, in bytes: page cache of the databases, which the system takes back when it needs memory.
pub(crate) fn mapped_resident_size() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/self/status").ok()?, "RssFile:").map(|kilobytes| kilobytes * 1024)
}

/// Memory of the machine; 0 where it is not told.
pub(crate) fn memory() -> Memory {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let size = |name| field(&text, name).map_or(0, |kilobytes| kilobytes * 1024);
    Memory { total: size("MemTotal:"), available: size("MemAvailable:") }
}

/// Swapped memory; 0 where it is not told.
pub(crate) fn swap() -> Swap {
    let of_machine = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of_process = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = |text: &str, name| field(text, name).map_or(0, |kilobytes| kilobytes * 1024);
    let total = size(&of_machine, "SwapTotal:");
    let used = total.saturating_sub(size(&of_machine, "SwapFree:"));
    Swap { total, used, used_by_process: size(&of_process, "VmSwap:") }
}

/// Traffic of this process; 0 where it is not told.
pub(crate) fn disk_traffic() -> DiskTraffic {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let size = |name| field(&text, name).unwrap_or_default();
    DiskTraffic { read: size("read_bytes:"), written: size("write_bytes:") }
}

/// The device of a folder, where it is told.
pub(crate) fn volume(folder: &Path) -> Option<Volume> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(Volume { total: found.f_blocks * found.f_frsize, free: found.f_bavail * found.f_frsize })
}

/// Processor time of this process on all cores, in seconds.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let ticks = cpu_ticks(&std::fs::read_to_string("/proc/self/stat").ok()?)?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// User and system time in the text of `/proc/self/stat`. The name of the program in it may have spaces and brackets.
fn cpu_ticks(text: &str) -> Option<u64> {
    // Fields 14 and 15; the first behind the name is the third.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Open files of this process, and how many it may have.
pub(crate) fn open_files() -> Option<(u64, u64)> {
    // The folder is open while it is listed.
    let open = (std::fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    Some((open, limit.unwrap_or(u64::MAX)))
}

/// The number behind a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_the_names_of_their_lines() {
        let text = "VmPeak:\t  9 kB\nVmRSS:\t  1234 kB\nread_bytes: 7\ncancelled_write_bytes: 8\n";
        assert_eq!(field(text, "VmRSS:"), Some(1234));
        assert_eq!(field(text, "read_bytes:"), Some(7));
        assert_eq!(field(text, "write_bytes:"), None);
    }

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let text = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0";
        assert_eq!(cpu_ticks(text), Some(300));
        assert_eq!(cpu_ticks("7 (a) S 1 2"), None);
        assert!(cpu_seconds().is_some_and(|seconds| seconds >= 0.0));
        let (open, limit) = open_files().unwrap();
        assert!(open >= 3 && open < limit, "{open} of {limit}");
    }

    #[test]
    fn a_device_has_no_more_free_than_it_has() {
        let volume = volume(Path::new(".")).unwrap();
        assert!(volume.total > 0 && volume.free <= volume.total);
        assert!(super::volume(Path::new("/no/such/folder")).is_none());
    }
}
