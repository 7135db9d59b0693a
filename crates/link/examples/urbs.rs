//! Prints the URBs of one USB device as usbmon tells them: `urbs BUS ADDRESS SECONDS`. Needs the
//! usbmon module and read permission on /dev/usbmonBUS.

use std::process::ExitCode;
use std::time::Duration;
use wiregauge_link::host::{UrbTimes, UsbMon};

fn main() -> ExitCode {
    let numbers: Vec<u16> = std::env::args().skip(1).flat_map(|a| a.parse()).collect();
    let [bus, address, seconds] = numbers[..] else {
        eprintln!("usage: urbs BUS ADDRESS SECONDS");
        return ExitCode::from(2);
    };
    let mut mon = match UsbMon::start(bus, address as u8) {
        Ok(mon) => mon,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    println!("{}", mon.describe());
    let mut seen: Vec<UrbTimes> = Vec::new();
    for _ in 0..u32::from(seconds) * 50 {
        std::thread::sleep(Duration::from_millis(20));
        mon.take(|urb| seen.push(urb));
    }
    let finished = mon.finish();
    seen.extend(finished.urbs);
    let zero = seen.iter().map(|urb| urb.submit_ns).min().unwrap_or(0);
    println!("endpoint status  bytes  submitted us  took us");
    for urb in &seen {
        println!(
            "    0x{:02x} {:>6} {:>6} {:>13.1} {:>8.1}",
            urb.endpoint,
            urb.status,
            urb.length,
            (urb.submit_ns - zero) as f64 / 1e3,
            (urb.complete_ns - urb.submit_ns) as f64 / 1e3
        );
    }
    println!("{} URBs, lost: {:?}", seen.len(), finished.losses);
    ExitCode::SUCCESS
}
