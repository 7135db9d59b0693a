//! Holds a modelled plant at a set point, a thousand times a second: `control_loop ADDRESS`, where
//! `wiregauge serve` or a board answers. What the device answers is the measurement.

use std::process::ExitCode;
use wiregauge::LinkError;
use wiregauge::device::{ControlPlan, Cycle, CycleStatus, Device, DeviceOptions};

fn control(address: &str) -> Result<(), LinkError> {
    let mut device = Device::open(address, &DeviceOptions::default())?;
    let plan = ControlPlan {
        period_ns: 1_000_000,
        ..ControlPlan::default()
    };
    let mut step = |_cycle: u64, newest: Option<&[u8]>, command: &mut [u8]| {
        let measured = newest.and_then(|reply| reply.first_chunk()).copied();
        let measured = measured.map_or(0.0, f32::from_le_bytes);
        let next = measured + 0.1 * (20.0 - measured);
        command[..4].copy_from_slice(&next.to_le_bytes());
        Some(4)
    };
    let mut cycles = vec![Cycle::default(); 3_000];
    let count = device
        .control(&plan, &mut step, &mut cycles)
        .map_err(|(_, error)| error)?;
    let late = cycles[..count]
        .iter()
        .filter(|cycle| cycle.status != CycleStatus::Ok);
    let worst = cycles[..count]
        .iter()
        .map(|cycle| cycle.start_ns - cycle.intended_ns)
        .max();
    let latest = worst.unwrap_or(0) / 1_000;
    println!(
        "{count} cycles, {} not in time; the latest began {latest} us late",
        late.count()
    );
    Ok(())
}

fn main() -> ExitCode {
    let address = std::env::args()
        .nth(1)
        .unwrap_or("tcp://127.0.0.1:7700".into());
    match control(&address) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
