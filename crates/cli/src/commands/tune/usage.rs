//! How to use a setting: the command that measures it again, and the calls of a program.

use super::task::{Kind, Task};
use serde_json::{Map, Value, json};
use wiregauge_record::{Connect, Direction, Protocol, Wait};
use wiregauge_tune::Candidate;
use wiregauge_wire::{MESSAGE_CHECK, REQUEST_HEADER, RESPONSE_HEADER};

/// The same setting in several languages.
pub struct Usage {
    /// Words of a command that measures it.
    pub command: Vec<String>,
    /// A Python program's calls.
    pub python: String,
    /// A C program's calls.
    pub c: String,
    /// A MATLAB or Octave program's calls.
    pub matlab: String,
    /// What starts a program with the host settings of the search; `None` where there were none.
    pub start: Option<String>,
    /// What `wg.open` takes beside the address.
    pub open: Map<String, Value>,
    /// What a device's `exchange_many`, or `read_stream` and `write_stream`, take.
    pub call: Value,
}

/// How to use a setting.
pub fn of(task: &Task, at: &Candidate) -> Usage {
    match &task.kind {
        Kind::Exchanges(of) => of_exchanges(task, of.protocol, at),
        Kind::Stream(of) => of_stream(task, of.direction, at),
    }
}

/// How a device is opened.
#[derive(Default)]
struct Opening {
    /// Arguments after the address, each behind a comma.
    python: String,
    /// Calls before `wg_open`, each with a space behind it.
    c: String,
    /// Arguments after the address, each behind a comma.
    matlab: String,
    /// Arguments of `wg.open`.
    open: Map<String, Value>,
}

impl Opening {
    fn new(task: &Task, protocol: Protocol, at: &Candidate) -> Opening {
        let mut opening = Opening::default();
        match protocol {
            Protocol::Wiregauge => {}
            Protocol::Echo => opening.add(["framing=wg.Raw()", "raw(options)", "'Framing', 'raw'"]),
            // The newline is the framing's.
            _ => opening.add([
                "framing=wg.Terminator(b\"\\n\")",
                "terminator(options, \"\\n\", 1)",
                "'Framing', 'terminator'",
            ]),
        }
        if names_wait(task, at) {
            let wait = at.wait.name();
            opening.add([
                &format!("wait=\"{wait}\""),
                &format!("wait(options, WG_WAIT_{})", wait.to_uppercase()),
                &format!("'Wait', '{wait}'"),
            ]);
            opening.open.insert("wait".into(), wait.into());
        }
        if let Some(baud) = task.baud() {
            opening.add([
                &format!("baud={baud}"),
                &format!("baud(options, {baud})"),
                &format!("'Baud', {baud}"),
            ]);
            opening.open.insert("baud".into(), baud.into());
        }
        opening
    }

    fn add(&mut self, [python, c, matlab]: [&str; 3]) {
        self.python += &format!(", {python}");
        self.c += &format!("wg_options_{c}; ");
        self.matlab += &format!(", {matlab}");
    }

    /// With the calls that follow, in Python, C and MATLAB.
    fn usage(self, task: &Task, command: Vec<String>, calls: [String; 3], call: Value) -> Usage {
        let Opening {
            python,
            c,
            matlab,
            open,
        } = self;
        let [in_python, in_c, in_matlab] = calls;
        let address = &task.address;
        let quoted = address.replace('\'', "''");
        Usage {
            command,
            python: format!("device = wg.open(\"{address}\"{python})\n{in_python}"),
            c: format!("{c}wg_open(\"{address}\", options, &device);\n{in_c}"),
            matlab: format!("dev = wiregauge.open('{quoted}'{matlab});\n{in_matlab}"),
            start: task.program_prefix(),
            open,
            call,
        }
    }
}

/// Where block was compared with others, it is part of the result.
fn names_wait(task: &Task, at: &Candidate) -> bool {
    at.wait != Wait::Block || task.space.wait.len() > 1
}

/// The command of this name with these flags and those that all runs of the search had.
fn command(task: &Task, name: &str, flags: &[(&str, String)]) -> Vec<String> {
    let mut words = vec!["wiregauge".to_owned(), name.into(), task.address.clone()];
    for (flag, value) in flags {
        words.extend([(*flag).to_owned(), value.clone()]);
    }
    words.extend(task.shared_flags());
    words
}

fn of_exchanges(task: &Task, protocol: Protocol, at: &Candidate) -> Usage {
    let (out_bytes, in_bytes) = task.sizes(at);
    let depth = at.setting.depth;
    let mut flags = Vec::new();
    if protocol != Protocol::Wiregauge {
        flags.push(("--protocol", protocol.name().to_owned()));
    }
    flags.push(("--out", out_bytes.to_string()));
    // An echo has the size of its request.
    if protocol != Protocol::Echo && in_bytes > 0 {
        flags.push(("--in", in_bytes.to_string()));
    }
    flags.push(("--depth", depth.to_string()));
    if names_wait(task, at) {
        flags.push(("--wait", at.wait.name().to_owned()));
    }
    if at.connect == Connect::Each {
        flags.push(("--connect", "each".to_owned()));
    }
    // What a frame has besides the program's own bytes.
    let (out_frame, in_frame) = match protocol {
        Protocol::Wiregauge => (
            REQUEST_HEADER + MESSAGE_CHECK,
            RESPONSE_HEADER + MESSAGE_CHECK,
        ),
        Protocol::Echo => (0, 0),
        _ => (1, 1),
    };
    let request = (out_bytes as usize).saturating_sub(out_frame);
    let reply = (in_bytes as usize).saturating_sub(in_frame);
    // A request without bytes of its own is a header: whatever the program has to say is longer.
    let requests = (request > 0).then(|| format!("requests of {request} B"));
    let replies = (protocol == Protocol::Wiregauge && reply > 0)
        .then(|| format!("replies: {in_bytes} B less {in_frame} B of header and check"));
    let sizes: Vec<String> = requests.into_iter().chain(replies).collect();
    let comment = |sign: &str| match sizes.is_empty() {
        true => String::new(),
        false => format!("  {sign} {}", sizes.join("; ")),
    };
    let request = match request {
        0 => "request_bytes".to_owned(),
        bytes => bytes.to_string(),
    };
    let calls = [
        format!(
            "replies = device.exchange_many(requests, depth={depth}, reply_bytes={reply}){}",
            comment("#")
        ),
        format!(
            "wg_exchange_many(device, requests, count, {request}, replies, {reply}, NULL, NULL, {depth}, &answered);"
        ),
        format!(
            "replies = dev.exchangeMany(requests, {reply}, {depth});{}",
            comment("%")
        ),
    ];
    let call = json!({ "depth": depth, "reply_bytes": reply });
    let command = command(task, "exchange", &flags);
    Opening::new(task, protocol, at).usage(task, command, calls, call)
}

fn of_stream(task: &Task, direction: Direction, at: &Candidate) -> Usage {
    let (transfer, queue) = (task.transfer(at), at.setting.depth);
    let flags = [
        ("--direction", direction.name().to_owned()),
        ("--transfer", transfer.to_string()),
        ("--queue", queue.to_string()),
    ];
    let calls = match direction {
        Direction::Out => [
            format!("device.write_stream(data, transfer={transfer}, queue={queue})"),
            format!("wg_write_stream(device, data, bytes, {transfer}, {queue}, &taken);"),
            format!("taken = dev.writeStream(data, {transfer}, {queue});"),
        ],
        Direction::In | Direction::Both => [
            format!("device.read_stream(buffer, transfer={transfer}, queue={queue})"),
            format!("wg_read_stream(device, buffer, bytes, {transfer}, {queue}, &came);"),
            format!("data = dev.readStream(bytes, {transfer}, {queue});"),
        ],
    };
    let call = json!({ "transfer": transfer, "queue": queue });
    let command = command(task, "stream", &flags);
    Opening::new(task, Protocol::Wiregauge, at).usage(task, command, calls, call)
}
