//! The host as it was found, read once before a run.

use super::clock::clock_resolution_ns;
use super::power_plan::power_plan;
use super::{allowed, priority};
use windows_registry::LOCAL_MACHINE;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{ALL_PROCESSOR_GROUPS, GetActiveProcessorCount};
use wiregauge_record::HostState;

/// Reads the state of the host and of the calling thread, which is to be the measuring one. Windows has no load
/// average and no limit of real-time threads.
pub fn host_state(memory_locked: bool) -> HostState {
    HostState {
        name: name(),
        kernel: kernel(),
        cpu: cpu().unwrap_or_else(|| std::env::consts::ARCH.to_string()),
        processors: processors(),
        // Without the interval of the timer interrupt, which any program can change between two runs.
        clock_source: format!("QueryPerformanceCounter, {} ns", clock_resolution_ns()),
        governor: power_plan(),
        load: None,
        hypervisor: hypervisor(),
        policy: priority::policy(),
        affinity: allowed(),
        memory_locked,
        rt_runtime_us: None,
    }
}

fn processors() -> u32 {
    // SAFETY: it takes a number and returns one.
    unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) }.max(1)
}

fn name() -> String {
    let mut name = [0_u16; 256];
    let mut length = name.len() as u32;
    // SAFETY: the buffer has the length that is passed, which becomes that of the name.
    let read = unsafe {
        GetComputerNameExW(
            ComputerNamePhysicalDnsHostname,
            name.as_mut_ptr(),
            &mut length,
        )
    };
    match read {
        0 => std::env::var("COMPUTERNAME").unwrap_or_default(),
        _ => String::from_utf16_lossy(&name[..(length as usize).min(name.len())]),
    }
}

/// Unlike GetVersionEx, it does not call a newer Windows an older one.
fn kernel() -> String {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the pointer is valid for the call, and the structure says how large it is.
    unsafe { RtlGetVersion(&mut version) };
    let (major, minor) = (version.dwMajorVersion, version.dwMinorVersion);
    format!("Windows {major}.{minor}.{}", version.dwBuildNumber)
}

fn cpu() -> Option<String> {
    let processor = LOCAL_MACHINE.open(r"HARDWARE\DESCRIPTION\System\CentralProcessor\0");
    let name = processor.and_then(|key| key.get_string("ProcessorNameString"));
    let name = name.ok()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The bit by which hypervisors show themselves to a guest (CPUID leaf 1, ECX bit 31). A Windows that runs under Hyper-V
/// for its own protection (virtualization-based security) sees it too. Processors other than x86 have no such bit.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> bool {
    // Newer compilers take it for safe.
    #[allow(unused_unsafe)]
    // SAFETY: every processor of this architecture has CPUID and its leaf 1.
    let leaf = unsafe { std::arch::x86_64::__cpuid(1) };
    leaf.ecx >> 31 & 1 == 1
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_a_name_a_version_and_a_processor() {
        let state = host_state(false);
        assert!(!state.name.is_empty() && !state.cpu.is_empty(), "{state:?}");
        assert!(state.kernel.starts_with("Windows "), "{}", state.kernel);
        assert!(state.processors as usize >= state.affinity.len());
        assert!(state.clock_source.starts_with("QueryPerformanceCounter, "));
        assert!(state.policy.contains("PRIORITY_CLASS"), "{}", state.policy);
    }
}
