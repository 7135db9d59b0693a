//! Replies to queries, as the engine takes them from a device that knows nothing of wiregauge; and queries, as a
//! responder takes them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wiregauge_fuzz::Recipe;
use wiregauge_record::{
    ModbusLine, Protocol, Queries, Query, ReplyEnd, ReplyLength, escape, unescape,
};
use wiregauge_responder::Application;
use wiregauge_session::{
    Codec, Config, Engine, Generator, Messages, Modbus, ModbusQueries, Outcome, TextQueries,
};

const MS: u64 = 1_000_000;

fuzz_target!(|bytes: &[u8]| {
    let mut recipe = Recipe::new(bytes);
    let which = recipe.byte().unwrap_or(0);
    let piece = 1 + usize::from(recipe.byte().unwrap_or(0));
    let datagram = which & 128 != 0;
    let end = match which % 7 {
        0 => ReplyEnd::Until(recipe.bytes(1 + usize::from(which / 32)).to_vec()),
        1 => ReplyEnd::Bytes(u32::from(recipe.number())),
        2 => ReplyEnd::Length(ReplyLength {
            bytes: 1 << (which / 8 % 3),
            big_endian: which & 64 != 0,
            offset: u32::from(recipe.byte().unwrap_or(0)),
            added: i32::from(recipe.number()) - 300,
        }),
        3 => ReplyEnd::IdleNs(2 * MS),
        4 => ReplyEnd::Scpi,
        5 => ReplyEnd::Modbus(ModbusLine::Tcp),
        _ => ReplyEnd::Modbus(ModbusLine::Rtu { silence_ns: MS }),
    };
    let rest = recipe.bytes(bytes.len());
    serve(which, rest, piece);
    assert_eq!(unescape(&escape(rest)).as_deref(), Ok(rest));
    if let Ok(text) = std::str::from_utf8(rest) {
        let _ = unescape(text);
    }
    let query = |bytes: &[u8]| Query {
        name: String::new(),
        bytes: bytes.to_vec(),
    };
    let queries = Queries {
        list: vec![
            query(&[1, 3, 0, 1, 0, 2]),
            query(&[1, 16, 0, 1, 0, 1, 2, 0, 9]),
        ],
        reply: end.clone(),
        expect: Some("^[a-f]".into()),
    };
    match end {
        ReplyEnd::Modbus(_) => {
            let codec = Modbus::new(0, &queries, datagram).expect("queries of Modbus");
            receive(codec, datagram, rest, piece, generate);
        }
        _ => {
            if let Ok(codec) = wiregauge_session::Query::new(&queries, datagram) {
                receive(codec, datagram, rest, piece, generate);
            }
        }
    }
    // The same from a program.
    let codec = match queries.reply {
        ReplyEnd::Modbus(line) => Some(Messages::Modbus(ModbusQueries::new(line, datagram))),
        ref end => TextQueries::new(end, datagram).ok().map(Messages::Text),
    };
    if let Some(codec) = codec {
        receive(codec, datagram, rest, piece, |codec, sequence, to| {
            codec.write(sequence, &queries.of(sequence).bytes, 0, to);
        });
    }
});

/// Appends a request that the protocol makes.
fn generate<C: Generator>(codec: &mut C, sequence: u64, to: &mut Vec<u8>) {
    let begin = to.len();
    to.resize(begin + codec.bytes_of(sequence), 0);
    codec.request(sequence, &mut to[begin..]);
}

/// Every exchange ends once, not before it began, whatever comes.
fn receive<C: Codec>(
    codec: C,
    datagram: bool,
    bytes: &[u8],
    piece: usize,
    write: impl Fn(&mut C, u64, &mut Vec<u8>),
) {
    let config = Config {
        datagram,
        timeout_ns: 10 * MS,
        batch: 1,
        span: 4,
        request_bytes: 260,
        answer_bytes: 260,
        staged: 4,
    };
    let mut engine = Engine::new(config, codec);
    let mut now_ns = 0;
    let mut ended = 0;
    for piece in bytes.chunks(piece) {
        while engine.has_room() {
            engine.stage(0, &write);
        }
        let count = engine.outgoing().len();
        engine.sent(now_ns, count);
        now_ns += 3 * MS;
        let count = piece.len().min(engine.space().len());
        engine.space()[..count].copy_from_slice(&piece[..count]);
        engine.received(now_ns, count);
        for later in [0, 3 * MS] {
            now_ns += later;
            while let Some(event) = engine.poll(now_ns) {
                if let wiregauge_session::Event::Ended(end) = event {
                    assert!(end.start_ns <= end.end_ns && end.end_ns <= now_ns);
                    let is_further = matches!(end.outcome, Outcome::Late | Outcome::Duplicated);
                    ended += u64::from(!is_further);
                }
            }
        }
    }
    let window = engine.window();
    assert_eq!(ended + u64::from(window.waiting()), window.started());
}

/// An instrument and a Modbus server use up what they are sent.
fn serve(which: u8, bytes: &[u8], piece: usize) {
    let (protocol, line) = match which % 3 {
        0 => (Protocol::Scpi, ModbusLine::Tcp),
        1 => (Protocol::Modbus, ModbusLine::Tcp),
        _ => (Protocol::Modbus, ModbusLine::Rtu { silence_ns: 0 }),
    };
    let mut application = Application::new(protocol, "fuzz", line).expect("it speaks this");
    let (mut held, mut answer) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(piece) {
        held.extend_from_slice(piece);
        loop {
            let used = application.take(&held, false, &mut answer);
            assert!(used <= held.len());
            if used == 0 || held.is_empty() {
                break;
            }
            held.drain(..used);
        }
        answer.clear();
        assert!(held.len() <= 64 << 10);
    }
}
