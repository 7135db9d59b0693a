//! This computer's memory: how much is free, and how large the caches are.

use std::fs;
use std::path::Path;

/// Size of the largest cache of the first processor, if the system tells.
pub fn last_level_cache_bytes() -> Option<u64> {
    largest_cache(Path::new("/sys/devices/system/cpu/cpu0/cache"))
}

fn largest_cache(folder: &Path) -> Option<u64> {
    let caches = fs::read_dir(folder).ok()?;
    caches
        .filter_map(|cache| fs::read_to_string(cache.ok()?.path().join("size")).ok())
        .filter_map(|size| cache_size(size.trim()))
        .max()
}

/// `32768K`, as the kernel writes it (drivers/base/cacheinfo.c).
fn cache_size(text: &str) -> Option<u64> {
    let kib: u64 = text.strip_suffix('K')?.parse().ok()?;
    Some(kib << 10).filter(|&bytes| bytes > 0)
}

/// Bytes that can be had without swapping, by the kernel's estimate (proc_meminfo(5)).
pub fn available_bytes() -> Option<u64> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_words_are_understood() {
        assert_eq!(cache_size("32768K"), Some(32 << 20));
        for text in ["", "0K", "32M", "K", "-1K"] {
            assert_eq!(cache_size(text), None, "{text}");
        }
        let meminfo = "MemTotal:  24684344 kB\nMemAvailable:   22918912 kB\nBuffers: 1 kB\n";
        assert_eq!(available(meminfo), Some(22_918_912 << 10));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn the_largest_cache_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(largest_cache(folder.path()), None);
        for (index, size) in [("index0", "48K\n"), ("index3", "32768K\n"), ("x", "?")] {
            fs::create_dir(folder.path().join(index)).unwrap();
            fs::write(folder.path().join(index).join("size"), size).unwrap();
        }
        assert_eq!(largest_cache(folder.path()), Some(32 << 20));
        assert_eq!(largest_cache(Path::new("/nowhere")), None);
    }
}
