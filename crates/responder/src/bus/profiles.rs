//! Devices of the literature, each as the few numbers that make the model come near what was
//! published of it. docs/models.md holds model against figure, and says where the model misses.

use super::host::{HostTiming, Span, Writes};
use super::timing::{BusTiming, DeviceTiming, NakRetry, PipeTiming, UsbModel};
use wiregauge_link::limits::Bus;

/// A device, the bus that it was measured on, and its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name used in options.
    pub name: &'static str,
    /// The device and its software.
    pub device_name: &'static str,
    /// The host: its system, its program, its host controller.
    pub host_name: &'static str,
    /// Who published the figures.
    pub source: &'static str,
    /// The figures from which its numbers were computed; all others are predicted.
    pub fitted_on: &'static str,
    /// Its speed.
    pub speed: Bus,
    /// The bus and the host.
    pub bus: BusTiming,
    /// The device.
    pub device: DeviceTiming,
}

impl Profile {
    /// The profile with this name.
    pub fn find(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// What it models.
    pub fn usb(&self) -> UsbModel {
        UsbModel {
            speed: self.speed,
            bus: self.bus,
            device: self.device,
        }
    }
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
    device_name: "BeagleBone Black, musb, FunctionFS",
    host_name: "Linux, EHCI; adds no time",
    source: "Ott 2014",
    fitted_on: "IN 64 B and 512 B, 32 queued; OUT 64 KiB, 32 queued",
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
    device_name: "Intel Atom E680 with EG20T, FunctionFS",
    host_name: "Linux, EHCI; adds no time",
    source: "Ott 2014",
    fitted_on: "all three figures, of 64 KiB",
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
    device_name: "Microchip PIC32MX795, M-Stack",
    host_name: "Linux; adds no time",
    source: "Ott 2014",
    fitted_on: "IN 64 B, 32 queued",
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

/// Windows 7 with MATLAB. Known: the shortest sleep is 1 ms while a program asks for that timer (MATLAB
/// does), and a thread that loses the processor gets it back at a tick of the clock, 64 a second. Fitted:
/// all others, to the figures that `fitted_on` lists.
const WINDOWS_MATLAB: HostTiming = HostTiming {
    write: Span::exactly(2_690_000),
    call: Span::between(230_000, 4_010_000),
    spin_ns: 1_760_000,
    poll: Span::exactly(1_000_000),
    lost_per_mille: 19,
    tick_ns: 15_625_000,
    again_per_mille: 320,
    writes: Writes::AsGiven,
};

/// The same device on a host controller that works by frames.
const AT91SAM3U_UHCI: Profile = Profile {
    name: "at91sam3u-uhci",
    device_name: "AT91SAM3U (Cortex-M3), CDC",
    host_name: "Windows 7, MATLAB, UHCI",
    source: "Augustyn and Tutaj, table 2",
    fitted_on: "nothing: all numbers are those of at91sam3u-ehci",
    speed: Bus::FullSpeed,
    bus: BusTiming {
        host: WINDOWS_MATLAB,
        ..BusTiming::of(Bus::FullSpeed)
    },
    device: DeviceTiming {
        transfer_ns: 0,
        to_host: AT91SAM3U,
        from_host: AT91SAM3U,
    },
};

/// A full-speed device gets to an EHCI controller through a hub only.
const AT91SAM3U_EHCI: Profile = Profile {
    name: "at91sam3u-ehci",
    device_name: "AT91SAM3U (Cortex-M3), CDC",
    host_name: "Windows 7, MATLAB, EHCI and a hub",
    source: "Augustyn and Tutaj, tables 2 and 3",
    fitted_on: "mean and SD of RTT: R = 0, 48 B and 8000 B; R = 1, 48 B and 2000 B; R = 3, 100 B and 4000 B",
    speed: Bus::FullSpeed,
    bus: BusTiming {
        host: WINDOWS_MATLAB,
        ..BusTiming::of(Bus::FullSpeed).behind_hub()
    },
    device: DeviceTiming {
        transfer_ns: 0,
        to_host: AT91SAM3U,
        from_host: AT91SAM3U,
    },
};

/// Stoffregen's board as it takes one byte a packet from Linux: 53 kB/s are 18.9 us a packet, of which
/// 9.3 us are the wire's. From Mac OS X full packets come, 860 kB/s: 74.4 us each, of
/// which 51.3 us are the wire's. But a frame holds whole packets only, 13 or 14, and gathered writes end at a
/// microframe: 0.165 us for each byte come nearest.
const TEENSY: DeviceTiming = DeviceTiming {
    transfer_ns: 0,
    to_host: READY,
    from_host: PipeTiming {
        packet_ns: 9_300,
        byte_ps: 165_000,
        ..READY
    },
};

const TEENSY_NAME: &str = "Teensy 3.0, CDC";
const STOFFREGEN: &str = "Stoffregen 2013, as reported by Hackaday";

/// Each write is a transfer, and 16 may be outstanding (cdc-acm.c: ACM_NW).
const STOFFREGEN_LINUX: Profile = Profile {
    name: "stoffregen-linux",
    device_name: TEENSY_NAME,
    host_name: "Ubuntu 12.04, cdc-acm, 16 writes outstanding",
    source: STOFFREGEN,
    fitted_on: "OUT 1 B",
    speed: Bus::FullSpeed,
    bus: BusTiming {
        host: HostTiming {
            writes: Writes::Each(16),
            ..HostTiming::NONE
        },
        ..BusTiming::of(Bus::FullSpeed).behind_hub()
    },
    device: TEENSY,
};

/// Writes are gathered while a transfer is outstanding.
const STOFFREGEN_MAC: Profile = Profile {
    name: "stoffregen-mac",
    host_name: "Mac OS X Lion, writes are gathered",
    bus: BusTiming {
        host: HostTiming {
            writes: Writes::Gathered,
            ..HostTiming::NONE
        },
        ..BusTiming::of(Bus::FullSpeed).behind_hub()
    },
    ..STOFFREGEN_LINUX
};

/// One write at a time, and the program learns of its end at the end of a microframe. The 4 kB/s are two
/// microframes for each: so the next write comes too late for the microframe that begins then.
const STOFFREGEN_WINDOWS: Profile = Profile {
    name: "stoffregen-windows",
    host_name: "Windows 7, usbser, one write at a time",
    bus: BusTiming {
        host: HostTiming {
            write: Span::exactly(125_000),
            writes: Writes::Each(1),
            ..HostTiming::NONE
        },
        ..BusTiming::of(Bus::FullSpeed).behind_hub()
    },
    ..STOFFREGEN_LINUX
};

/// All of them.
pub const PROFILES: &[Profile] = &[
    MUSB,
    EG20T,
    PIC32MX,
    AT91SAM3U_UHCI,
    AT91SAM3U_EHCI,
    STOFFREGEN_LINUX,
    STOFFREGEN_WINDOWS,
    STOFFREGEN_MAC,
];
