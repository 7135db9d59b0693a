//! The host as it was found, read once before a run; never run on macOS.

use super::clock::clock_resolution_ns;
use super::processors::processors;
use super::scheduling;
use std::ffi::CStr;
use std::ptr::null_mut;
use wiregauge_record::HostState;

/// Reads the state of the host and of the calling thread, which is to be the measuring one. macOS has no frequency
/// governor and no limit of real-time threads.
pub fn host_state(memory_locked: bool) -> HostState {
    let uname = rustix::system::uname();
    let kernel = [uname.sysname(), uname.release(), uname.version()]
        .map(|part| part.to_string_lossy().into_owned())
        .join(" ");
    HostState {
        name: uname.nodename().to_string_lossy().into_owned(),
        kernel,
        cpu: text(c"machdep.cpu.brand_string")
            .unwrap_or_else(|| std::env::consts::ARCH.to_string()),
        processors: processors(),
        clock_source: format!("CLOCK_UPTIME_RAW, {} ns", clock_resolution_ns()),
        governor: None,
        load: Some(load_average()),
        hypervisor: number(c"kern.hv_vmm_present") == Some(1),
        policy: scheduling::policy(),
        affinity: scheduling::allowed(),
        memory_locked,
        rt_runtime_us: None,
    }
}

fn load_average() -> [f64; 3] {
    let mut load = [0.0; 3];
    // SAFETY: there is room for the three numbers that are asked for.
    unsafe { libc::getloadavg(load.as_mut_ptr(), 3) };
    load
}

fn value(name: &CStr) -> Option<([u8; 256], usize)> {
    let mut bytes = [0_u8; 256];
    let mut length = bytes.len();
    // SAFETY: the name ends with a zero, the buffer has the length that is passed, and nothing is set.
    let failed = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            bytes.as_mut_ptr().cast(),
            &mut length,
            null_mut(),
            0,
        )
    };
    (failed == 0).then_some((bytes, length.min(256)))
}

/// A number of the kernel (sysctl(3)), of four or eight bytes.
pub fn number(name: &CStr) -> Option<u64> {
    let (bytes, length) = value(name)?;
    match length {
        4 => Some(u64::from(u32::from_ne_bytes(*bytes.first_chunk()?))),
        8 => Some(u64::from_ne_bytes(*bytes.first_chunk()?)),
        _ => None,
    }
}

fn text(name: &CStr) -> Option<String> {
    let (bytes, length) = value(name)?;
    let text = CStr::from_bytes_until_nul(&bytes[..length]).ok()?;
    Some(text.to_string_lossy().trim().to_owned()).filter(|text| !text.is_empty())
}
