//! A device that is a plant, in virtual time: what its replies say, and what a loop through it does.

use wiregauge_control::{Noise, Plant, PlantModel, TransferFunction};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_responder::{Device, DeviceConfig, FaultRate, Faults, Model, Trust};
use wiregauge_wire as wire;
use wiregauge_wire::{HelloRequest, Kind, Request, Response, Status};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Bytes of a whole reply of a plant with one output.
const REPLY: u32 = 34 + 16;

fn plant(text: &str, noise: f64) -> PlantModel {
    let read = TransferFunction::parse("plant", 's', text).expect("a transfer function");
    let system = read.state_space().expect("proper");
    let noise = Noise::on_input(&system, noise);
    PlantModel::new(system, noise, Some(vec![(-10.0, 10.0)])).expect("a plant")
}

fn device(plant: PlantModel, model: Model, faults: Faults) -> Device {
    let config = DeviceConfig {
        model,
        faults,
        plant: Some(plant),
        ..DeviceConfig::default()
    };
    Device::new(config, Clock::start())
}

fn plain(text: &str) -> Device {
    device(plant(text, 0.0), Model::default(), Faults::default())
}

pub fn frame(kind: Kind, sequence: u32, payload: &[u8], in_bytes: u32) -> Vec<u8> {
    let mut header = [0; wire::REQUEST_HEADER];
    Request {
        kind,
        sequence,
        out_payload: payload.len() as u32,
        in_bytes,
    }
    .encode(&mut header);
    [&header[..], payload].concat()
}

fn message(bytes: &[u8], in_bytes: u32) -> Vec<u8> {
    let payload = [bytes, &wire::message_check(bytes)].concat();
    frame(Kind::Message, 7, &payload, in_bytes)
}

fn command(u: f64) -> Vec<u8> {
    message(&u.to_le_bytes(), REPLY)
}

/// A response and its payload.
type Answer = (Response, Vec<u8>);

/// What the device answers to a request that it gets at `now_ns`, when it is due.
fn answers(device: &mut Device, request: &[u8], now_ns: u64) -> Vec<Answer> {
    let mut bytes = Vec::new();
    let used = device.take_stream(request, now_ns, &mut bytes);
    assert_eq!(used, request.len());
    while let Some(due_ns) = device.next_due_ns() {
        bytes.extend(device.pop_due(due_ns).expect("it is due"));
    }
    let mut rest = &bytes[..];
    let mut answers = Vec::new();
    while !rest.is_empty() {
        let response = Response::decode(rest).expect("a response");
        let end = wire::RESPONSE_HEADER + response.in_payload as usize;
        answers.push((response, rest[wire::RESPONSE_HEADER..end].to_vec()));
        rest = &rest[end..];
    }
    answers
}

fn answer(device: &mut Device, request: &[u8], now_ns: u64) -> Answer {
    let answers: [Answer; 1] = (answers(device, request, now_ns).try_into()).expect("one answer");
    let [answer] = answers;
    answer
}

/// Time and output of a reply.
fn read((response, payload): &Answer) -> (u64, f64) {
    let said = (response.kind, response.status);
    assert_eq!(said, (Kind::Message, Status::Ok));
    let reply = wire::message_of(payload).expect("its check is right");
    let (time, output) = reply.split_first_chunk::<8>().expect("a time");
    let output = output.try_into().expect("one output");
    (u64::from_le_bytes(*time), f64::from_le_bytes(output))
}

fn exchanged(device: &mut Device, request: &[u8], now_ns: u64) -> (u64, f64) {
    let answer = answer(device, request, now_ns);
    read(&answer)
}

/// Holds the output that the reply to a command of 0 has.
fn hold_output(device: &mut Device, now_ns: u64, expected: f64) {
    let (_, y) = exchanged(device, &command(0.0), now_ns);
    assert!((y - expected).abs() < 1e-12, "{y}, not {expected}");
}

#[test]
fn a_reply_has_the_time_and_the_output_before_the_command_acts() {
    let mut device = plain("1/s");
    let begin = 12_345_678_901;
    assert_eq!(exchanged(&mut device, &command(2.0), begin), (begin, 0.0));
    let (time, y) = exchanged(&mut device, &command(-4.0), begin + S);
    assert_eq!(time, begin + S);
    assert!((y - 2.0).abs() < 1e-12, "{y}");
    let (_, y) = exchanged(&mut device, &command(0.0), begin + 2 * S);
    assert!((y + 2.0).abs() < 1e-12, "{y}");
}

#[test]
fn a_command_beyond_the_limits_is_clipped() {
    let mut device = plain("1/s");
    exchanged(&mut device, &command(1e6), 0);
    hold_output(&mut device, S, 10.0);
}

#[test]
fn a_reply_is_cut_to_the_size_that_was_requested_and_never_longer_than_it_is() {
    let mut device = plain("1/s");
    for (in_bytes, bytes) in [
        (0, 0),
        (34, 0),
        (35, 1),
        (42, 8),
        (50, 16),
        (51, 16),
        (900, 16),
    ] {
        let (response, payload) = answer(&mut device, &message(b"", in_bytes), 7);
        assert_eq!(response.in_payload, bytes + 2, "{in_bytes}");
        let reply = wire::message_of(&payload).expect("its check is right");
        let whole = [&7u64.to_le_bytes()[..], &0f64.to_le_bytes()].concat();
        assert_eq!(reply, &whole[..bytes as usize], "{in_bytes}");
    }
}

#[test]
fn what_is_no_command_is_answered_unsupported_and_changes_nothing() {
    let mut device = plain("1/s");
    exchanged(&mut device, &command(1.0), 0);
    let two = [2f64.to_le_bytes(); 2].concat();
    for wrong in [
        &two[..1],
        &two[..7],
        &two[..9],
        &two,
        &f64::NAN.to_le_bytes(),
        &f64::NEG_INFINITY.to_le_bytes(),
        &1e101f64.to_le_bytes(),
    ] {
        let (response, payload) = answer(&mut device, &message(wrong, REPLY), 1);
        let said = (response.kind, response.sequence, response.status);
        assert_eq!(said, (Kind::Message, 7, Status::Unsupported), "{wrong:?}");
        assert!(payload.is_empty());
    }
    hold_output(&mut device, S, 1.0);
}

#[test]
fn a_damaged_command_is_not_applied() {
    let mut device = plain("1/s");
    exchanged(&mut device, &command(1.0), 0);
    let mut damaged = command(5.0);
    damaged[20] ^= 1;
    // On a byte stream the damaged payload is searched for a header, and the next request ends that.
    let bytes = [damaged, command(1.0)].concat();
    let answers = answers(&mut device, &bytes, 1);
    let flags: Vec<u16> = answers.iter().map(|(response, _)| response.flags).collect();
    assert_eq!(flags, [wire::flags::OUT_CORRUPTED, 0]);
    assert_eq!(answers[0].0.in_payload, 0);
    hold_output(&mut device, S, 1.0);
}

#[test]
fn a_command_whose_reply_is_lost_is_applied() {
    let faults = Faults {
        drop: Some(FaultRate::Every(2)),
        ..Faults::default()
    };
    let mut device = device(plant("1/s", 0.0), Model::default(), faults);
    exchanged(&mut device, &command(1.0), 0);
    assert_eq!(answers(&mut device, &command(3.0), S).len(), 0);
    hold_output(&mut device, 2 * S, 4.0);
}

#[test]
fn exchanges_measure_the_link_as_ever_and_leave_the_plant_alone() {
    let mut device = plain("1/s");
    exchanged(&mut device, &command(1.0), 0);
    for (sequence, out, in_bytes) in [(1, 0, 32), (2, 48, 48), (3, 1000, 4000)] {
        let mut payload = vec![0; out];
        wire::fill_pattern(sequence, &mut payload);
        let request = frame(Kind::Exchange, sequence, &payload, in_bytes);
        let (response, payload) = answer(&mut device, &request, S / 2);
        assert_eq!((response.status, response.flags), (Status::Ok, 0));
        assert_eq!(payload.len() as u32, in_bytes - 32);
        assert_eq!(wire::check_pattern(sequence, &payload), None);
    }
    hold_output(&mut device, S, 1.0);
}

#[test]
fn a_hello_puts_the_plant_at_rest() {
    let mut device = plain("1/s");
    exchanged(&mut device, &command(1.0), 0);
    let hello = HelloRequest { token: [0; 8] }.encode();
    let (response, _) = answer(&mut device, &frame(Kind::Hello, 1, &hello, 104), S);
    assert_eq!((response.kind, response.status), (Kind::Hello, Status::Ok));
    for second in [5, 6] {
        let (_, y) = exchanged(&mut device, &message(b"", REPLY), second * S);
        assert_eq!(y, 0.0, "{second} s");
    }
}

#[test]
fn an_address_that_is_not_proven_gets_no_longer_reply_and_its_command_is_not_applied() {
    let mut device = plain("1/s");
    let mut asked = |request: &[u8], trust, now_ns| {
        let mut bytes = Vec::new();
        device.take_datagram(request, now_ns, trust, &mut bytes);
        let response = Response::decode(&bytes).ok();
        response.map(|response| (response.status, bytes))
    };
    // 26 B: not even the header of a response may be sent.
    assert_eq!(asked(&command(1.0), Trust::Unproved, 0), None);
    let (status, reply) = asked(&command(0.0), Trust::Proved, S).expect("an answer");
    assert_eq!(status, Status::Ok);
    let output = &reply[wire::RESPONSE_HEADER + 8..][..8];
    assert_eq!(output, 0f64.to_le_bytes());
}

#[test]
fn on_a_modelled_bus_the_plant_has_the_time_of_the_model() {
    let model = Model {
        service_ns: 300_000,
        jitter_ns: 200_000,
        bus: Some(Bus::FullSpeed),
        ..Model::default()
    };
    let text = "1000/(s^2+s)";
    let mut device = device(plant(text, 0.0), model, Faults::default());
    let mut twin = Plant::new(plant(text, 0.0), 99);
    let mut random = fastrand::Rng::with_seed(3);
    let (mut now, mut u) = (5 * MS, 0.0);
    for _ in 0..500 {
        now += random.u64(MS..9 * MS);
        let next = f64::from(random.i8(-9..9));
        let answer = answer(&mut device, &command(next), now);
        let (time, y) = read(&answer);
        // Alone, the request is taken when it has arrived: after the frame in which it was handed over.
        assert_eq!(time, answer.0.rx_ticks);
        assert!((now..now + 2 * MS).contains(&time), "{now} {time}");
        twin.apply(&[u]);
        twin.advance(time);
        assert_eq!([y], *twin.measure(), "at {time}");
        u = next;
    }
}

#[test]
fn a_busy_device_takes_a_command_when_it_has_answered_those_before() {
    let model = Model {
        service_ns: 10 * MS,
        ..Model::default()
    };
    let mut device = device(plant("1/s", 0.0), model, Faults::default());
    let two = [command(1.0), command(2.0)].concat();
    let answers = answers(&mut device, &two, S);
    let [first, second] = &answers[..] else {
        panic!("{answers:?}")
    };
    assert_eq!(read(first), (S, 0.0));
    let (time, y) = read(second);
    assert_eq!(second.0.rx_ticks, S);
    assert_eq!((time, second.0.tx_ticks), (S + 10 * MS, S + 20 * MS));
    assert!((y - 0.01).abs() < 1e-14, "{y}");
}

#[test]
fn a_stall_holds_up_the_command() {
    let faults = Faults {
        stall: Some((FaultRate::Every(2), 400 * MS)),
        ..Faults::default()
    };
    let mut device = device(plant("1/s", 0.0), Model::default(), faults);
    exchanged(&mut device, &command(1.0), 0);
    let (time, y) = exchanged(&mut device, &command(0.0), S);
    assert_eq!(time, S + 400 * MS);
    assert!((y - 1.4).abs() < 1e-12, "{y}");
    hold_output(&mut device, 2 * S, 1.4);
}

/// An integrator with noise of intensity 1 under u = -y/2, a period of 1 s; the command acts `delay_ns` after its
/// sample. Then x(k+1) = a x(k) + b x(k-1) + w(k): its variance is known.
#[test]
fn a_loop_through_the_device_has_the_variance_of_the_formula() {
    for delay_ns in [0, S / 4, S] {
        let mut device = device(plant("1/s", 1.0), Model::default(), Faults::default());
        let (count, mut last, mut sum) = (20_000u64, 0.0, 0.0);
        for period in 0..count {
            let now = period * S;
            let y = match delay_ns {
                // The command of the period before, and the sample, in one exchange.
                S => exchanged(&mut device, &command(-last / 2.0), now).1,
                _ => {
                    let (_, y) = exchanged(&mut device, &message(b"", REPLY), now);
                    exchanged(&mut device, &command(-y / 2.0), now + delay_ns);
                    y
                }
            };
            last = y;
            sum += y * y;
        }
        let share = delay_ns as f64 / S as f64;
        let (a, b) = (1.0 - (1.0 - share) / 2.0, -share / 2.0);
        let variance = (1.0 - b) / ((1.0 + b) * ((1.0 - b) * (1.0 - b) - a * a));
        // Of the sum of squares of a normal process: 2 variance^2 sum(correlation^2) / count.
        let (mut before, mut correlation) = (1.0, a / (1.0 - b));
        let mut squares = 1.0;
        for _ in 0..200 {
            squares += 2.0 * correlation * correlation;
            (before, correlation) = (correlation, a * correlation + b * before);
        }
        let deviation = (2.0 * squares / count as f64).sqrt();
        let error = sum / count as f64 / variance - 1.0;
        let holds = error.abs() < 4.0 * deviation;
        assert!(holds, "{share}: {error}, +-{deviation}");
    }
}
