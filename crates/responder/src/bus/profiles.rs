//! Devices of the literature, each as the few numbers that make the model come near what was
//! published of it. docs/models.md holds model against figure, and says where the model misses.

use super::timing::{BusTiming, DeviceTiming, HostTiming, NakRetry, PipeTiming};
use wiregauge_link::limits::Bus;

/// A device, the bus that it was measured on, and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name used in options.
    pub name: &'static str,
    /// Which device this is, and in whose hands.
    pub about: &'static str,
    /// Its speed.
    pub speed: Bus,
    /// The bus and the host.
    pub bus: BusTiming,
    /// The device.
    pub device: DeviceTiming,
}

const READY: PipeTiming = PipeTiming {
    packet_ns: 0,
    byte_ps: 0,
    buffers: 1,
    nak_retry: NakRetry::AtOnce,
};

/// A. Ott, "USB and the Real World", ELCE 2014: 15 Mbit/s of 64 B and 82 Mbit/s of 512 B, 32
/// transfers queued, are 34.1 and 50.0 us a transfer, of which 2.0 and 9.5 us are the wire's. That
/// is 30.8 us for each transfer and 18.7 ns for each byte. OUT, 65.5 Mbit/s are two packets of 512 B
/// in each microframe: a double-buffered FIFO whose host asks again in the next microframe.
const MUSB: Profile = Profile {
    name: "beaglebone-musb",
    about: "BeagleBone Black, musb, FunctionFS (Ott 2014)",
    speed: Bus::HighSpeed,
    bus: BusTiming::of(Bus::HighSpeed),
    device: DeviceTiming {
        transfer_ns: 30_800,
        to_host: PipeTiming {
            byte_ps: 18_700,
            ..READY
        },
        from_host: PipeTiming {
            byte_ps: 18_700,
            buffers: 2,
            nak_retry: NakRetry::NextFrame,
            ..READY
        },
    },
};

/// Ott 2014: 64 KiB IN at 328 Mbit/s from a queue in the device's kernel are ten packets of 512 B in
/// each microframe: up to 3.0 us for each on top of the wire's 9.45 us. Through FunctionFS 305
/// Mbit/s, which is 119 us more for each transfer. OUT, 255 Mbit/s are eight packets in each
/// microframe.
const EG20T: Profile = Profile {
    name: "eg20t",
    about: "Intel Atom E680 with EG20T, FunctionFS (Ott 2014)",
    speed: Bus::HighSpeed,
    bus: BusTiming::of(Bus::HighSpeed),
    device: DeviceTiming {
        transfer_ns: 119_000,
        to_host: PipeTiming {
            packet_ns: 3_000,
            ..READY
        },
        from_host: PipeTiming {
            packet_ns: 5_500,
            ..READY
        },
    },
};

/// Ott 2014: 8.2 Mbit/s of 64 B are 16 packets a frame, 62.5 us each, of which 51.3 us are the
/// wire's.
const PIC32MX: Profile = Profile {
    name: "pic32mx",
    about: "Microchip PIC32MX795, M-Stack (Ott 2014)",
    speed: Bus::FullSpeed,
    bus: BusTiming::of(Bus::FullSpeed),
    device: DeviceTiming {
        transfer_ns: 0,
        to_host: PipeTiming {
            packet_ns: 9_000,
            ..READY
        },
        from_host: PipeTiming {
            packet_ns: 9_000,
            ..READY
        },
    },
};

/// J. Augustyn, A. Tutaj, table 3, R = 3, 4000 B: 4.56 ms for 64 packets, 71 us each, of which 51.3
/// us are the wire's and 2.9 us the split's.
const AT91SAM3U: PipeTiming = PipeTiming {
    packet_ns: 19_000,
    ..READY
};

/// Table 2, R = 0, 48 B: 9.47 ms, of which 2 ms are the bus's; the rest is Windows 7 with MATLAB.
const AT91SAM3U_UHCI: Profile = Profile {
    name: "at91sam3u-uhci",
    about: "AT91SAM3U, CDC, Windows 7 and MATLAB on UHCI (Augustyn and Tutaj)",
    speed: Bus::FullSpeed,
    bus: BusTiming {
        host: HostTiming {
            delay_ns: 7_470_000,
            spread_ns: 1_000_000,
        },
        ..BusTiming::of(Bus::FullSpeed)
    },
    device: DeviceTiming {
        transfer_ns: 0,
        to_host: AT91SAM3U,
        from_host: AT91SAM3U,
    },
};

/// Table 2, R = 0, 48 B: 8.13 ms, nearly all of it Windows 7 with MATLAB. A full-speed device gets
/// to an EHCI controller through a hub only.
const AT91SAM3U_EHCI: Profile = Profile {
    name: "at91sam3u-ehci",
    about: "AT91SAM3U, CDC, Windows 7 and MATLAB on EHCI behind a hub (Augustyn and Tutaj)",
    speed: Bus::FullSpeed,
    bus: BusTiming {
        host: HostTiming {
            delay_ns: 7_480_000,
            spread_ns: 1_000_000,
        },
        ..BusTiming::of(Bus::FullSpeed).behind_hub()
    },
    device: DeviceTiming {
        transfer_ns: 0,
        to_host: AT91SAM3U,
        from_host: AT91SAM3U,
    },
};

/// All of them.
pub const PROFILES: &[Profile] = &[MUSB, EG20T, PIC32MX, AT91SAM3U_UHCI, AT91SAM3U_EHCI];
