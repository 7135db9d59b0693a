//! The firmware beside the responder of `wiregauge serve`: the same bytes, the same answers. And datagrams: a stranger
//! hears no more than it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_firmware_host::differential::{
    FLUSH, Giving, MAX_FRAME, assert_same, of_firmware, of_rust, settings,
};
use wiregauge_firmware_host::{Responder, recipe};

fuzz_target!(|bytes: &[u8]| {
    let (knobs, rest) = bytes.split_at(bytes.len().min(5));
    let knob = |at: usize| usize::from(knobs.get(at).copied().unwrap_or(0));
    let sources = knob(0) % 2 == 1;
    let mut stream = recipe::cook(rest, MAX_FRAME, sources);
    stranger(&stream, 1 + knob(1) * 3);
    stream.extend([0; FLUSH]);
    let giving = match sources {
        true => Giving::Always,
        false => Giving::WhenFull,
    };
    let pieces = [1 + knob(1), 1 + knob(2)];
    let rooms = [1 + knob(3), 1 + knob(4)];
    let firmware = of_firmware(&stream, &pieces, &rooms, giving);
    assert_same(&of_rust(&stream, &[1]), &firmware);
});

fn stranger(said: &[u8], piece: usize) {
    let mut device = Responder::new(&settings());
    for datagram in said.chunks(piece) {
        let answer = device.take_datagram(&[9; 18], datagram, 0, 1472);
        assert!(answer.len() <= datagram.len());
    }
    assert!(device.give_datagram(0, 1472).is_none());
}
