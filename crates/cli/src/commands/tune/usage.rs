//! How to use a setting: the command that measures it again, and the calls of a program.

use super::task::{Kind, Task};
use serde_json::{Map, Value, json};
use wiregauge_record::{Connect, Direction, Protocol, Wait};
use wiregauge_tune::Candidate;
use wiregauge_wire::{MESSAGE_CHECK, REQUEST_HEADER, RESPONSE_HEADER};

/// The same setting in several languages.
#[derive(Clone, Debug)]
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
    pub prefix: Option<String>,
    /// What `wg.open` takes beside the address.
    pub open: Value,
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

fn of_exchanges(task: &Task, protocol: Protocol, at: &Candidate) -> Usage {
    let (out_bytes, in_bytes) = task.sizes(at);
    let depth = at.setting.depth;
    let mut command = vec![
        "wiregauge".to_owned(),
        "exchange".into(),
        task.address.clone(),
    ];
    let mut flag = |name: &str, value: String| command.extend([name.to_owned(), value]);
    match protocol {
        Protocol::Echo => {
            flag("--protocol", "echo".into());
            flag("--out", out_bytes.to_string());
        }
        Protocol::Wiregauge => {
            flag("--out", out_bytes.to_string());
            flag("--in", in_bytes.to_string());
        }
        Protocol::Lines
        | Protocol::Text
        | Protocol::Scpi
        | Protocol::Modbus
        | Protocol::GetStatus => {
            flag("--protocol", protocol.name().into());
            flag("--out", out_bytes.to_string());
            if in_bytes > 0 {
                flag("--in", in_bytes.to_string());
            }
        }
    }
    flag("--depth", depth.to_string());
    let wait = at.wait.name();
    let c_wait = format!("WG_WAIT_{}", wait.to_uppercase());
    // Where block was compared with others, it is part of the result.
    let names_wait = at.wait != Wait::Block || task.space.wait.len() > 1;
    if names_wait {
        flag("--wait", wait.into());
    }
    if at.connect == Connect::Each {
        flag("--connect", "each".into());
    }
    command.extend(task.shared_flags());

    // What is left of a frame for the program's own bytes.
    let room = |frame: u32, header: usize| (frame as usize).saturating_sub(header + MESSAGE_CHECK);
    let (request, reply, framing, c_framing, matlab_framing) = match protocol {
        Protocol::Wiregauge => (
            room(out_bytes, REQUEST_HEADER),
            room(in_bytes, RESPONSE_HEADER),
            "",
            "",
            "",
        ),
        Protocol::Echo => (
            out_bytes as usize,
            in_bytes as usize,
            ", framing=wg.Raw()",
            "wg_options_raw(options); ",
            ", 'Framing', 'raw'",
        ),
        // The newline is the framing's.
        Protocol::Lines
        | Protocol::Text
        | Protocol::Scpi
        | Protocol::Modbus
        | Protocol::GetStatus => (
            (out_bytes as usize).saturating_sub(1),
            (in_bytes as usize).saturating_sub(1),
            ", framing=wg.Terminator(b\"\\n\")",
            "wg_options_terminator(options, \"\\n\", 1); ",
            ", 'Framing', 'terminator'",
        ),
    };
    let address = &task.address;
    let py_wait = match names_wait {
        false => String::new(),
        true => format!(", wait=\"{wait}\""),
    };
    // A request without bytes of its own is a header: whatever the program has to say is longer.
    let (of, request) = match request {
        0 => (String::new(), "request_bytes".to_owned()),
        _ => (format!("requests of {request} B"), request.to_string()),
    };
    let overhead = in_bytes as usize - reply.min(in_bytes as usize);
    let replies = match protocol {
        Protocol::Wiregauge if reply > 0 => {
            format!("replies: {in_bytes} B less {overhead} B of header and check")
        }
        _ => String::new(),
    };
    let comment: Vec<String> = [of, replies]
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect();
    let of = match comment.is_empty() {
        true => String::new(),
        false => format!("  # {}", comment.join("; ")),
    };
    let python = format!(
        "device = wg.open(\"{address}\"{framing}{py_wait})\n\
         replies = device.exchange_many(requests, depth={depth}, reply_bytes={reply}){of}"
    );
    let set_wait = match names_wait {
        false => String::new(),
        true => format!("wg_options_wait(options, {c_wait}); "),
    };
    let c = format!(
        "{c_framing}{set_wait}wg_open(\"{address}\", options, &device);\n\
         wg_exchange_many(device, requests, count, {request}, replies, {reply}, NULL, NULL, {depth}, \
         &answered);"
    );
    let matlab_wait = match names_wait {
        false => String::new(),
        true => format!(", 'Wait', '{wait}'"),
    };
    let matlab_comment = match comment.is_empty() {
        true => String::new(),
        false => format!("  % {}", comment.join("; ")),
    };
    let matlab = format!(
        "{}\n\
         replies = dev.exchangeMany(requests, {reply}, {depth});{matlab_comment}",
        matlab_open(task, &format!("{matlab_framing}{matlab_wait}"))
    );
    let mut open = opened(task);
    if names_wait {
        open.insert("wait".into(), wait.into());
    }
    Usage {
        command,
        python,
        c,
        matlab,
        prefix: task.program_prefix(),
        open: open.into(),
        call: json!({ "depth": depth, "reply_bytes": reply }),
    }
}

/// The options of the link that a program names when it opens it.
fn opened(task: &Task) -> Map<String, Value> {
    let baud = task.baud().map(|baud| ("baud".to_owned(), baud.into()));
    baud.into_iter().collect()
}

/// How a MATLAB or Octave program opens the device; the options begin with a comma.
fn matlab_open(task: &Task, options: &str) -> String {
    let address = task.address.replace('\'', "''");
    let baud = task.baud().map(|baud| format!(", 'Baud', {baud}"));
    let baud = baud.unwrap_or_default();
    format!("dev = wiregauge.open('{address}'{options}{baud});")
}

fn of_stream(task: &Task, direction: Direction, at: &Candidate) -> Usage {
    let (transfer, queue) = (task.transfer(at), at.setting.depth);
    let mut command: Vec<String> = ["wiregauge", "stream", &task.address, "--direction"]
        .map(str::to_owned)
        .into();
    command.extend([
        direction.name().to_owned(),
        "--transfer".into(),
        transfer.to_string(),
        "--queue".into(),
        queue.to_string(),
    ]);
    command.extend(task.shared_flags());
    let address = &task.address;
    let (python, c, matlab) = match direction {
        Direction::Out => (
            format!("device.write_stream(data, transfer={transfer}, queue={queue})"),
            format!("wg_write_stream(device, data, bytes, {transfer}, {queue}, &taken);"),
            format!("taken = dev.writeStream(data, {transfer}, {queue});"),
        ),
        Direction::In | Direction::Both => (
            format!("device.read_stream(buffer, transfer={transfer}, queue={queue})"),
            format!("wg_read_stream(device, buffer, bytes, {transfer}, {queue}, &came);"),
            format!("data = dev.readStream(bytes, {transfer}, {queue});"),
        ),
    };
    Usage {
        command,
        python: format!("device = wg.open(\"{address}\")\n{python}"),
        c: format!("wg_open(\"{address}\", options, &device);\n{c}"),
        matlab: format!("{}\n{matlab}", matlab_open(task, "")),
        prefix: task.program_prefix(),
        open: opened(task).into(),
        call: json!({ "transfer": transfer, "queue": queue }),
    }
}
