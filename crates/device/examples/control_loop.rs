//! Holds a plant at a set point, a thousand times a second: `control_loop ADDRESS`, where `wiregauge serve`
//! or a board answers. What it answers is taken for the measurement.

use wiregauge_device::{ControlPlan, Cycle, CycleStatus, Device, DeviceOptions};
use wiregauge_link::LinkError;

fn control(address: &str) -> Result<String, LinkError> {
    let mut device = Device::open(address, &DeviceOptions::default())?;
    let plan = ControlPlan {
        period_ns: 1_000_000,
        ..ControlPlan::default()
    };
    let mut step = |_cycle: u64, newest: Option<&[u8]>, command: &mut [u8]| {
        let measured = newest.and_then(<[u8]>::first_chunk);
        let measured = measured.map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        let next = measured + 0.1 * (20.0 - measured);
        command[..4].copy_from_slice(&next.to_le_bytes());
        Some(4)
    };
    let mut cycles = vec![Cycle::default(); 3_000];
    let ran = device.control(&plan, &mut step, &mut cycles);
    let cycles = &cycles[..ran.map_err(|(_, error)| error)?];
    let late = cycles.iter().map(|it| it.start_ns - it.intended_ns).max();
    let is_bad = |it: &&Cycle| it.status != CycleStatus::Ok;
    let bad = cycles.iter().filter(is_bad).count();
    let latest_us = late.unwrap_or(0) / 1_000;
    Ok(format!(
        "{bad} cycles not in time; the latest began {latest_us} us late"
    ))
}

fn main() -> std::process::ExitCode {
    let address = std::env::args().nth(1);
    match control(&address.unwrap_or("tcp://127.0.0.1:7700".into())) {
        Ok(said) => println!("{said}"),
        Err(error) => {
            eprintln!("{error}");
            return std::process::ExitCode::from(3);
        }
    }
    std::process::ExitCode::SUCCESS
}
