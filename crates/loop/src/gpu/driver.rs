//! CUDA's driver: loaded when it is asked for, a GPU opened, its kernels compiled. Every call is checked, and
//! what the driver says is put into words. Nothing of CUDA is needed to build this, nor to run without it.

use crate::platform::CUDA;
use cudarc::driver::sys;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use sys::CUctx_flags_enum::CU_CTX_SCHED_SPIN;
use sys::CUdevice_attribute_enum as Attribute;
use sys::cudaError_enum as Code;
use wiregauge_link::{LinkError, LinkErrorKind};

/// The kernels, for every GPU from compute capability 5.0 on: the driver compiles them for its own.
const KERNELS: &str = concat!(include_str!("kernels.ptx"), "\0");

/// Everything that is called. cudarc panics at a call that the driver does not have, so they are asked for
/// before.
const CALLS: &[&str] = &[
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxSetFlags_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemcpyNode",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphExecMemcpyNodeSetParams",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuInit",
    "cuLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// Bytes of what the driver's compiler says.
const LOG_BYTES: usize = 4096;

/// A GPU, opened for the calling thread, with its kernels.
pub(super) struct Driver {
    device: sys::CUdevice,
    module: sys::CUmodule,
    /// The context that all calls of this thread are for.
    pub(super) context: sys::CUcontext,
    /// One pass over a block.
    pub(super) pass: sys::CUfunction,
    /// The kernel that watches for blocks.
    pub(super) persist: sys::CUfunction,
    /// Its processors.
    pub(super) multiprocessors: u32,
    /// Threads of a block at most.
    pub(super) threads: u32,
    /// True if it can promise that all blocks of a launch run at once.
    pub(super) cooperative: bool,
    /// True if the driver ends kernels that run for some seconds, because a display hangs on it.
    pub(super) impatient: bool,
    /// True if kernels can use the host's memory.
    pub(super) maps_host: bool,
    /// What it is called.
    pub(super) name: String,
    /// Its compute capability, such as 9.0.
    pub(super) capability: String,
    /// The newest CUDA that the driver knows, such as 12.8.
    pub(super) cuda: String,
    /// Its place on the bus, as sysfs writes it.
    pub(super) bus: Option<String>,
}

impl Driver {
    /// Loads the driver and opens the GPU of that number, for the calling thread.
    pub(super) fn open(number: u32) -> Result<Driver, LinkError> {
        load()?;
        let doing = format!("cannot open GPU {number}");
        // SAFETY: the library is there and has the call.
        check(unsafe { sys::cuInit(0) }, &doing)?;
        let mut count = 0;
        // SAFETY: writes a number.
        check(unsafe { sys::cuDeviceGetCount(&mut count) }, &doing)?;
        if i64::from(number) >= i64::from(count) {
            let (said, hint) = match count {
                0 => ("the driver finds no GPU".to_string(), NO_GPU.to_string()),
                1 => (
                    "there is one GPU, number 0".into(),
                    "--gpu-device 0".to_string(),
                ),
                _ => (
                    format!("there are {count} GPUs, from number 0"),
                    format!("use --gpu-device 0 to {}", count - 1),
                ),
            };
            return Err(LinkError::new(LinkErrorKind::NotFound, doing, said).hint(hint));
        }
        let mut device = 0;
        // SAFETY: writes a number; there is a device of this one.
        let got = unsafe { sys::cuDeviceGet(&mut device, number as c_int) };
        check(got, &doing)?;
        let attribute = |which| attribute(device, which);
        let of_capability = |which| attribute(which).unwrap_or(0);
        let mut driver = Driver {
            device,
            module: ptr::null_mut(),
            context: ptr::null_mut(),
            pass: ptr::null_mut(),
            persist: ptr::null_mut(),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1),
            threads: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?.max(1),
            cooperative: attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
            impatient: attribute(Attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)? != 0,
            maps_host: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY)? != 0,
            name: name(device).unwrap_or_else(|| "unnamed GPU".into()),
            capability: format!(
                "{}.{}",
                of_capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                of_capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
            ),
            cuda: cuda_version(),
            bus: bus(device),
        };
        driver.enter(&doing)?;
        driver.compile()?;
        Ok(driver)
    }

    /// Makes the GPU's primary context that of this thread. Waiting for the GPU spins: it is short.
    fn enter(&mut self, doing: &str) -> Result<(), LinkError> {
        let flags = CU_CTX_SCHED_SPIN as c_uint;
        // SAFETY: plain calls with a device that exists; the context is written before it is used.
        unsafe {
            check(
                sys::cuDevicePrimaryCtxSetFlags_v2(self.device, flags),
                doing,
            )?;
            check(
                sys::cuDevicePrimaryCtxRetain(&mut self.context, self.device),
                doing,
            )?;
            check(sys::cuCtxSetCurrent(self.context), doing)
        }
    }

    /// Has the driver compile the kernels for its GPU.
    fn compile(&mut self) -> Result<(), LinkError> {
        let doing = format!("cannot compile the kernels for {}", self.name);
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut::<c_void>(LOG_BYTES),
        ];
        // SAFETY: the text ends with a zero; the log is as long as given and outlives the call.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut self.module,
                KERNELS.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        check(loaded, &doing).map_err(|error| {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            match log.to_string_lossy().trim() {
                "" => error,
                log => error.hint(format!("report an issue with this text: {log}")),
            }
        })?;
        self.pass = self.function(c"wiregauge_pass", &doing)?;
        self.persist = self.function(c"wiregauge_persist", &doing)?;
        Ok(())
    }

    fn function(&self, name: &CStr, doing: &str) -> Result<sys::CUfunction, LinkError> {
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a zero.
        let got = unsafe { sys::cuModuleGetFunction(&mut function, self.module, name.as_ptr()) };
        check(got, doing).map(|()| function)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if is_hung() {
            return;
        }
        // SAFETY: what was made above and nothing else, once; what was not made is null.
        unsafe {
            if !self.module.is_null() {
                sys::cuModuleUnload(self.module);
            }
            if !self.context.is_null() {
                sys::cuCtxSetCurrent(ptr::null_mut());
                sys::cuDevicePrimaryCtxRelease_v2(self.device);
            }
        }
    }
}

/// What to try where there is no GPU.
const NO_GPU: &str = "install an NVIDIA GPU and its driver: `nvidia-smi` shows both (a container needs --gpus \
                      all). Without --gpu the CPU does the work";

/// Loads the library and looks whether it has all that is called.
fn load() -> Result<(), LinkError> {
    let doing = "cannot load the CUDA driver for --gpu";
    // SAFETY: loads NVIDIA's library, whose start-up code has no conditions.
    if !unsafe { sys::is_culib_present() } {
        // SAFETY: the same; this time for what the loader says.
        let said = match unsafe { libloading::Library::new(CUDA) } {
            _ if cfg!(target_feature = "crt-static") => {
                format!("this wiregauge is statically linked and cannot load {CUDA}")
            }
            Ok(_) => format!("{CUDA} loads now, but was not found before"),
            Err(error) => format!("{CUDA} cannot be loaded ({})", said_by_loader(&error)),
        };
        return Err(LinkError::new(LinkErrorKind::NotFound, doing, said).hint(NO_GPU));
    }
    // SAFETY: the library is there, as was just seen.
    let library = unsafe { sys::culib() };
    for call in CALLS {
        // SAFETY: it is looked for, never called as this type.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(call.as_bytes()) };
        if let Err(error) = found {
            let said = format!("{CUDA} does not have {call} ({})", said_by_loader(&error));
            return Err(LinkError::new(LinkErrorKind::NotFound, doing, said)
                .hint("use a driver for CUDA 12.0 or newer (525 or later)"));
        }
    }
    Ok(())
}

/// The loader's own words stand behind those of the crate.
fn said_by_loader(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

fn attribute(device: sys::CUdevice, which: Attribute) -> Result<u32, LinkError> {
    let mut value = 0;
    // SAFETY: writes a number of a device that exists.
    let got = unsafe { sys::cuDeviceGetAttribute(&mut value, which, device) };
    check(got, "cannot query the GPU")?;
    Ok(value.try_into().unwrap_or(0))
}

fn name(device: sys::CUdevice) -> Option<String> {
    text(|at, len| {
        // SAFETY: writes at most so many bytes with a zero at the end.
        unsafe { sys::cuDeviceGetName(at, len, device) }
    })
}

/// As sysfs writes it: lower case, four digits of domain.
fn bus(device: sys::CUdevice) -> Option<String> {
    let bus = text(|at, len| {
        // SAFETY: writes at most so many bytes with a zero at the end.
        unsafe { sys::cuDeviceGetPCIBusId(at, len, device) }
    })?;
    Some(bus.to_lowercase())
}

fn text(ask: impl FnOnce(*mut c_char, c_int) -> sys::CUresult) -> Option<String> {
    let mut bytes = [0_u8; 256];
    let got = ask(bytes.as_mut_ptr().cast(), bytes.len() as c_int);
    let text = CStr::from_bytes_until_nul(&bytes).ok()?;
    (got == Code::CUDA_SUCCESS).then(|| text.to_string_lossy().into_owned())
}

fn cuda_version() -> String {
    let mut version = 0;
    // SAFETY: writes a number.
    match unsafe { sys::cuDriverGetVersion(&mut version) } {
        Code::CUDA_SUCCESS => format!("{}.{}", version / 1000, version % 1000 / 10),
        _ => "unknown".into(),
    }
}

/// An error of what was being done, in the driver's words.
#[inline]
pub(super) fn check(result: sys::CUresult, doing: &str) -> Result<(), LinkError> {
    match result {
        Code::CUDA_SUCCESS => Ok(()),
        code => Err(failed(code, doing)),
    }
}

#[cold]
fn failed(code: sys::CUresult, doing: &str) -> LinkError {
    let words = |ask: unsafe fn(sys::CUresult, *mut *const c_char) -> sys::CUresult| {
        let mut text = ptr::null();
        // SAFETY: gives a text of the driver's own, which stays, or null.
        unsafe {
            let got = ask(code, &mut text);
            (got == Code::CUDA_SUCCESS && !text.is_null())
                .then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    let name = words(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", code as u32));
    let said = match words(sys::cuGetErrorString) {
        Some(text) => format!("{name}: {text}"),
        None => name,
    };
    let (kind, hint) = match code {
        Code::CUDA_ERROR_NO_DEVICE | Code::CUDA_ERROR_STUB_LIBRARY => {
            (LinkErrorKind::NotFound, NO_GPU)
        }
        Code::CUDA_ERROR_DEVICE_UNAVAILABLE => (
            LinkErrorKind::Busy,
            "retry later, or use another --gpu-device: a program has exclusive use of this GPU (`nvidia-smi -q \
             -d COMPUTE`)",
        ),
        Code::CUDA_ERROR_OUT_OF_MEMORY => (
            LinkErrorKind::Io,
            "use a smaller --notify or --ring, or a GPU with more free memory (`nvidia-smi`)",
        ),
        Code::CUDA_ERROR_OPERATING_SYSTEM => (
            LinkErrorKind::PermissionDenied,
            "get permission for /dev/nvidia*, and raise the limit of locked memory (`ulimit -l`)",
        ),
        Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | Code::CUDA_ERROR_NO_BINARY_FOR_GPU
        | Code::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        | Code::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => (
            LinkErrorKind::Io,
            "install all parts of the driver in the same version, for a GPU from Maxwell (2014) on; restart \
             after an update",
        ),
        Code::CUDA_ERROR_LAUNCH_TIMEOUT => (
            LinkErrorKind::Timeout,
            "use a GPU without a display: with a display, the driver ends kernels that run for seconds",
        ),
        _ => (
            LinkErrorKind::Io,
            "use another --gpu path; for details see NVRM lines in `dmesg`",
        ),
    };
    LinkError::new(kind, doing, said).hint(hint)
}

/// Set when a kernel could not be ended: what frees memory would wait for it for ever, so nothing is freed.
/// The driver does it when the process ends.
static HUNG: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From now on nothing of the GPU is given back.
pub(super) fn give_up() {
    HUNG.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// True if a kernel could not be ended.
pub(super) fn is_hung() -> bool {
    HUNG.load(std::sync::atomic::Ordering::Relaxed)
}
