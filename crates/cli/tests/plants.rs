//! `wiregauge serve --plant`, commanded through an open device: the device that programs open in every language.

use crate::common;

use common::Desk;
use wiregauge_control::{Noise, Plant, PlantModel, TransferFunction};
use wiregauge_device::{Device, DeviceOptions};

const SERVO: &str = "1000/(s^2+s)";

/// A plant without noise, to compare with.
fn twin(text: &str) -> Plant {
    let read = TransferFunction::parse("plant", 's', text).expect("a transfer function");
    let system = read.state_space().expect("proper");
    let noise = Noise::on_input(&system, 0.0);
    let limits = Some(vec![(-2.0, 2.0)]);
    Plant::new(PlantModel::new(system, noise, limits).expect("a plant"), 1)
}

fn open(address: &str) -> Device {
    let options = DeviceOptions {
        timeout: std::time::Duration::from_secs(20),
        ..DeviceOptions::default()
    };
    Device::open(address, &options).expect("it opens")
}

/// Sends a command; time and output of the reply.
fn exchanged(device: &mut Device, command: &[u8]) -> (u64, f64) {
    let reply = device.exchange(command, Some(16)).expect("a reply").payload;
    let (time, output) = reply.split_first_chunk::<8>().expect("a time");
    let output = output.try_into().expect("one output");
    (u64::from_le_bytes(*time), f64::from_le_bytes(output))
}

#[test]
fn a_program_closes_a_loop_with_the_plant_on_every_kind_of_link() {
    let desk = Desk::new();
    for address in [
        "tcp://:0".into(),
        "tcp://:0 --service-time 200us --jitter 300us".into(),
        "udp://:0".into(),
        format!("unix://{}", desk.text("s")),
        "pty: --bus full-speed".into(),
    ] {
        let flags = format!("{address} --plant {SERVO} --input-limits -2..2");
        let server = desk.serve(&flags);
        let mut device = open(&server.address);
        let mut twin = twin(SERVO);
        let mut before_ns = 0;
        for period in 0..40 {
            // A controller of a kind: commands within and beyond the limits.
            let command = f64::from(period % 7) - 3.0;
            let (time_ns, y) = exchanged(&mut device, &command.to_le_bytes());
            assert!(
                time_ns > before_ns,
                "{address}: {time_ns} after {before_ns}"
            );
            twin.advance(time_ns);
            assert_eq!([y], *twin.measure(), "{address}, period {period}");
            twin.apply(&[command]);
            before_ns = time_ns;
        }
    }
}

#[test]
fn a_responder_says_what_it_simulates() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0 --plant 1000/(s^2+s) --noise 0.5 --input-limits -10..10");
    let says = "simulating the plant 1000/(s^2+s) (2 states), noise of intensity 0.5 at its input, commands clipped \
                to -10..10";
    server.process.until_said("what it simulates", |_, stderr| {
        stderr.contains(says).then_some(())
    });
    let run = desk.measure(&server.address, "--count 3");
    let link = serde_json::to_string(&run.file).expect("JSON");
    assert!(link.contains("simulated plant"), "{link}");
}

#[test]
fn a_plant_that_cannot_be_served_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.refuses(
        "serve",
        2,
        "
        tcp://:0 --plant 1/(s                       => cannot read '1/(s': ')' expected at the end
        tcp://:0 --plant s^2/(s+1)                  => is improper
        tcp://:0 --plant (s+1)/(s+2)                => (D is not 0); add the actuator's or the sensor's dynamics
        tcp://:0 --plant 1/(s-1e15)                 => too much within 1 ns
        tcp://:0 --noise 1                          => --plant
        tcp://:0 --input-limits 0..1                => --plant
        tcp://:0 --plant 1/s --noise -1             => not a valid intensity
        tcp://:0 --plant 1/s --input-limits 1..-1   => use LOW..HIGH
        tcp://:0 --plant 1/s --protocol echo        => --plant requires --protocol wiregauge
        tcp://:0 --plant 1/s --protocol modbus      => --plant requires --protocol wiregauge
        tcp://:0 --plant 1/s --protocol scpi        => --plant requires --protocol wiregauge
        can://vcan0 --request-id 7e0 --response-id 7e8 --plant 1/s => hint: on CAN use --isotp
        ",
    );
}
