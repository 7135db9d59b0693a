//! firmware/common as Rust sees it: the very C that goes to the boards, compiled for this computer, so that it can be
//! held to docs/vectors/v1.json, to the responder of `wiregauge serve`, and to a fuzzer.

pub mod differential;
pub mod recipe;
pub mod rp2040;

use std::ffi::CString;

#[repr(C)]
struct Shim {
    _private: [u8; 0],
}

// firmware/host/shim.c
unsafe extern "C" {
    fn shim_new(
        name: *const std::ffi::c_char,
        max_out: u32,
        max_in: u32,
        max_transfer: u32,
        message_room: u32,
        clock: bool,
        application: bool,
        key: *const u8,
    ) -> *mut Shim;
    fn shim_free(shim: *mut Shim);
    fn shim_waiting() -> u32;
    fn shim_peers() -> u32;
    fn shim_begin(shim: *mut Shim);
    fn shim_take(shim: *mut Shim, bytes: *const u8, n: usize, ticks: u64) -> usize;
    fn shim_give(shim: *mut Shim, to: *mut u8, room: usize) -> usize;
    fn shim_owes(shim: *const Shim) -> bool;
    fn shim_sinks(shim: *const Shim) -> bool;
    fn shim_sources(shim: *const Shim) -> bool;
    fn shim_overrun(shim: *mut Shim, source: bool);
    fn shim_udp_take(
        shim: *mut Shim,
        address: *const u8,
        datagram: *const u8,
        n: usize,
        ticks: u64,
        now_ms: u32,
        to: *mut u8,
        room: usize,
    ) -> usize;
    fn shim_udp_give(
        shim: *mut Shim,
        address: *mut u8,
        now_ms: u32,
        to: *mut u8,
        room: usize,
    ) -> usize;
    fn shim_sink_take(
        shim: *mut Shim,
        bytes: *const u8,
        n: usize,
        header: *mut u8,
        found: *mut bool,
    ) -> usize;
    fn shim_sink_end(shim: *mut Shim, counts: *mut u64);
    fn shim_crc(bytes: *const u8, n: usize) -> u16;
    fn shim_is_header(header: *const u8) -> bool;
    fn shim_siphash(key: *const u8, bytes: *const u8, n: u8) -> u64;
    // firmware/host/small.c
    fn small_new() -> *mut Shim;
    fn small_free(sink: *mut Shim);
    fn small_take(
        sink: *mut Shim,
        bytes: *const u8,
        n: usize,
        header: *mut u8,
        found: *mut bool,
    ) -> usize;
    fn small_end(sink: *mut Shim, counts: *mut u64);
}

/// The time on the device's clock, whenever it is asked.
pub const TICKS: u64 = 0x0102_0304_0506_0708;

#[unsafe(no_mangle)]
extern "C" fn shim_ticks() -> u64 {
    TICKS
}

/// Sender of a datagram: IP address and port.
pub type Address = [u8; 18];

/// What a device is; see `wg_device`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub name: &'static str,
    /// Largest request frame.
    pub max_out: u32,
    /// Largest response frame.
    pub max_in: u32,
    /// Largest transfer of a stream; 0: any.
    pub max_transfer: u32,
    /// Room for a message and its check; 0: MESSAGE is not offered.
    pub message_room: u32,
    /// Whether it has a clock, which always says [`TICKS`].
    pub clock: bool,
    /// Whether an application answers messages: with their bytes in reverse. Else they are echoed.
    pub application: bool,
    /// The key of its tokens.
    pub key: [u8; 16],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "firmware",
            max_out: 4096,
            max_in: 4096,
            max_transfer: 0,
            message_room: 4096,
            clock: true,
            application: false,
            key: [7; 16],
        }
    }
}

/// Answers that may wait in a responder, as it was compiled.
pub fn waiting() -> usize {
    // SAFETY: it returns a constant.
    unsafe { shim_waiting() as usize }
}

/// Addresses that are remembered as proved, as it was compiled.
pub fn peers() -> usize {
    // SAFETY: it returns a constant.
    unsafe { shim_peers() as usize }
}

/// `wg_crc` of all of `bytes`.
pub fn crc(bytes: &[u8]) -> u16 {
    // SAFETY: it reads that many bytes.
    unsafe { shim_crc(bytes.as_ptr(), bytes.len()) }
}

/// `wg_is_header`.
pub fn is_header(header: &[u8; 16]) -> bool {
    // SAFETY: it reads 16 bytes.
    unsafe { shim_is_header(header.as_ptr()) }
}

/// `wg_siphash` of at most 255 bytes.
pub fn siphash(key: &[u8; 16], bytes: &[u8]) -> u64 {
    let n = u8::try_from(bytes.len()).expect("255 bytes at most");
    // SAFETY: it reads a key of 16 bytes, and that many bytes.
    unsafe { shim_siphash(key.as_ptr(), bytes.as_ptr(), n) }
}

/// A `wg_responder`, a `wg_udp` and a `wg_sink` of one device, each at rest.
pub struct Responder {
    shim: *mut Shim,
}

// SAFETY: the C keeps nothing outside of what the pointer points to.
unsafe impl Send for Responder {}

impl Responder {
    /// A device at rest.
    pub fn new(settings: &Settings) -> Self {
        let name = CString::new(settings.name).expect("a name without NUL");
        // SAFETY: the C copies the name and the key.
        let shim = unsafe {
            shim_new(
                name.as_ptr(),
                settings.max_out,
                settings.max_in,
                settings.max_transfer,
                settings.message_room,
                settings.clock,
                settings.application,
                settings.key.as_ptr(),
            )
        };
        Self { shim }
    }

    /// `wg_begin`, once more.
    pub fn begin(&mut self) {
        // SAFETY: the pointer is valid until it is dropped.
        unsafe { shim_begin(self.shim) }
    }

    /// `wg_take`.
    pub fn take(&mut self, bytes: &[u8], ticks: u64) -> usize {
        // SAFETY: the pointer is valid, and it reads that many bytes.
        unsafe { shim_take(self.shim, bytes.as_ptr(), bytes.len(), ticks) }
    }

    /// `wg_give`, appended to `to`; returns how many bytes.
    pub fn give(&mut self, room: usize, to: &mut Vec<u8>) -> usize {
        let begin = to.len();
        to.resize(begin + room, 0xEE);
        // SAFETY: the pointer is valid, and it writes at most that many bytes.
        let given = unsafe { shim_give(self.shim, to[begin..].as_mut_ptr(), room) };
        assert!(given <= room);
        assert!(to[begin + given..].iter().all(|byte| *byte == 0xEE));
        to.truncate(begin + given);
        given
    }

    /// `wg_owes`.
    pub fn owes(&self) -> bool {
        // SAFETY: the pointer is valid until it is dropped.
        unsafe { shim_owes(self.shim) }
    }

    /// `wg_sinks`.
    pub fn sinks(&self) -> bool {
        // SAFETY: the pointer is valid until it is dropped.
        unsafe { shim_sinks(self.shim) }
    }

    /// `wg_sources`.
    pub fn sources(&self) -> bool {
        // SAFETY: the pointer is valid until it is dropped.
        unsafe { shim_sources(self.shim) }
    }

    /// `wg_overrun`.
    pub fn overrun(&mut self, source: bool) {
        // SAFETY: the pointer is valid until it is dropped.
        unsafe { shim_overrun(self.shim, source) }
    }

    /// `wg_udp_take`; empty: nothing is sent.
    pub fn take_datagram(
        &mut self,
        from: &Address,
        datagram: &[u8],
        now_ms: u32,
        room: usize,
    ) -> Vec<u8> {
        let mut answer = vec![0xEE; room];
        // SAFETY: the pointer is valid, it reads the address and that many bytes, and writes at most `room`.
        let given = unsafe {
            shim_udp_take(
                self.shim,
                from.as_ptr(),
                datagram.as_ptr(),
                datagram.len(),
                TICKS,
                now_ms,
                answer.as_mut_ptr(),
                room,
            )
        };
        assert!(given <= room);
        answer.truncate(given);
        answer
    }

    /// `wg_udp_give`.
    pub fn give_datagram(&mut self, now_ms: u32, room: usize) -> Option<(Address, Vec<u8>)> {
        let mut bytes = vec![0xEE; room];
        let mut whom = [0; 18];
        // SAFETY: the pointer is valid, and it writes an address and at most `room` bytes.
        let given = unsafe {
            shim_udp_give(
                self.shim,
                whom.as_mut_ptr(),
                now_ms,
                bytes.as_mut_ptr(),
                room,
            )
        };
        assert!(given <= room);
        bytes.truncate(given);
        (given > 0).then_some((whom, bytes))
    }

    /// `wg_sink_take`: the bytes used, and the header that they end with, if there is one.
    pub fn sink_take(&mut self, bytes: &[u8]) -> (usize, Option<[u8; 16]>) {
        let mut header = [0; 16];
        let mut found = false;
        // SAFETY: the pointer is valid, it reads that many bytes and writes a header.
        let used = unsafe {
            shim_sink_take(
                self.shim,
                bytes.as_ptr(),
                bytes.len(),
                header.as_mut_ptr(),
                &mut found,
            )
        };
        assert!(used <= bytes.len());
        (used, found.then_some(header))
    }

    /// `wg_sink_end`: received, lost, duplicated, corrupted and stray bytes.
    pub fn sink_end(&mut self) -> [u64; 5] {
        let mut counts = [0; 5];
        // SAFETY: the pointer is valid, and it writes five numbers.
        unsafe { shim_sink_end(self.shim, counts.as_mut_ptr()) };
        counts
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        // SAFETY: the pointer is valid, and not used again.
        unsafe { shim_free(self.shim) }
    }
}

/// The sink of whole words, which devices with little flash have.
pub struct SmallSink {
    sink: *mut Shim,
}

impl Default for SmallSink {
    fn default() -> Self {
        // SAFETY: it asks for memory, and ends the program if there is none.
        let sink = unsafe { small_new() };
        Self { sink }
    }
}

impl SmallSink {
    /// `wg_sink_take`: the bytes used, and the header that they end with, if there is one.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<[u8; 16]>) {
        let mut header = [0; 16];
        let mut found = false;
        // SAFETY: the pointer is valid, it reads that many bytes and writes a header.
        let used = unsafe {
            small_take(
                self.sink,
                bytes.as_ptr(),
                bytes.len(),
                header.as_mut_ptr(),
                &mut found,
            )
        };
        assert!(used <= bytes.len());
        (used, found.then_some(header))
    }

    /// `wg_sink_end`: received, lost, duplicated, corrupted and stray bytes.
    pub fn end(&mut self) -> [u64; 5] {
        let mut counts = [0; 5];
        // SAFETY: the pointer is valid, and it writes five numbers.
        unsafe { small_end(self.sink, counts.as_mut_ptr()) };
        counts
    }
}

impl Drop for SmallSink {
    fn drop(&mut self) {
        // SAFETY: the pointer is valid, and not used again.
        unsafe { small_free(self.sink) }
    }
}
