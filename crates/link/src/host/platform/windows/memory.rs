//! This computer's memory: how much is free, and how large the caches are.

use windows_sys::Win32::System::SystemInformation::{
    GetLogicalProcessorInformation, GlobalMemoryStatusEx, MEMORYSTATUSEX, RelationCache,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
};

/// Bytes of memory that are free.
pub fn available_bytes() -> Option<u64> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..MEMORYSTATUSEX::default()
    };
    // SAFETY: the pointer is valid for the call, and the structure says how large it is.
    let read = unsafe { GlobalMemoryStatusEx(&mut status) };
    (read != 0).then_some(status.ullAvailPhys)
}

/// Size of the largest cache, if the system tells.
pub fn last_level_cache_bytes() -> Option<u64> {
    let size = size_of::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION>();
    let mut bytes = 0;
    // SAFETY: with no room it only writes the number of bytes that it needs.
    unsafe { GetLogicalProcessorInformation(std::ptr::null_mut(), &mut bytes) };
    let mut entries =
        vec![SYSTEM_LOGICAL_PROCESSOR_INFORMATION::default(); (bytes as usize).div_ceil(size)];
    let mut bytes = (entries.len() * size) as u32;
    // SAFETY: there is room for the number of bytes that it is given.
    if unsafe { GetLogicalProcessorInformation(entries.as_mut_ptr(), &mut bytes) } == 0 {
        return None;
    }
    entries.truncate(bytes as usize / size);
    let caches = entries
        .iter()
        .filter(|entry| entry.Relationship == RelationCache)
        // SAFETY: an entry of this relationship describes a cache.
        .map(|entry| u64::from(unsafe { entry.Anonymous.Cache.Size }));
    caches.max().filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_and_the_cache_have_plausible_sizes() {
        let free = available_bytes().expect("a size");
        assert!(free > 1 << 20, "{free}");
        if let Some(cache) = last_level_cache_bytes() {
            assert!((1 << 12..1 << 34).contains(&cache), "{cache}");
        }
    }
}
