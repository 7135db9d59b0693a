//! The devices of the literature against the figures that were published of them. The tables of
//! docs/models.md are made here, so that they cannot differ from what the model says:
//! `WIREGAUGE_WRITE_TABLES=1 cargo test -p wiregauge-responder --test tests models` writes them anew.

use crate::virtual_host;

use std::fmt::Write;
use virtual_host::{Work, run};
use wiregauge_responder::bus::{Direction, PROFILES, Profile};

/// A published figure: of a profile, in words, what was done, the figure, and whether a number of
/// the profile was taken from it.
struct Row {
    profile: &'static str,
    words: &'static str,
    work: Work,
    published: f64,
    use_: Use,
    /// Sent from a queue in the device's kernel, that has the next transfer at hand.
    in_kernel: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Use {
    Fitted,
    Predicted,
}
use Use::{Fitted, Predicted};

const fn stream(
    profile: &'static str,
    words: &'static str,
    direction: Direction,
    transfer: u64,
    queue: usize,
    published: f64,
    use_: Use,
) -> Row {
    let work = Work::Stream {
        direction,
        transfer,
        queue,
    };
    Row {
        profile,
        words,
        work,
        published,
        use_,
        in_kernel: false,
    }
}

const fn in_kernel(row: Row) -> Row {
    Row {
        in_kernel: true,
        ..row
    }
}

const fn exchange(profile: &'static str, r: usize, answer: u64, trt_ms: f64, use_: Use) -> Row {
    Row {
        profile,
        words: "",
        work: Work::Exchange {
            out: 16,
            answer,
            depth: r + 1,
        },
        published: trt_ms,
        use_,
        in_kernel: false,
    }
}

const MUSB: &str = "beaglebone-musb";
const EG20T: &str = "eg20t";
const PIC32: &str = "pic32mx";
const UHCI: &str = "at91sam3u-uhci";
const EHCI: &str = "at91sam3u-ehci";

use Direction::{In, Out};

/// A. Ott, "USB and the Real World", Embedded Linux Conference Europe 2014: Mbit/s.
const OTT: &[Row] = &[
    stream(MUSB, "IN 64 B, one at a time", In, 64, 1, 4.0, Predicted),
    stream(MUSB, "IN 64 B, 32 queued", In, 64, 32, 15.0, Fitted),
    stream(MUSB, "IN 512 B, 32 queued", In, 512, 32, 82.0, Fitted),
    stream(
        MUSB,
        "IN 64 KiB, 32 queued",
        In,
        65_536,
        32,
        211.0,
        Predicted,
    ),
    in_kernel(stream(
        MUSB,
        "the same, from a queue in its kernel",
        In,
        65_536,
        32,
        227.0,
        Predicted,
    )),
    stream(
        MUSB,
        "OUT 64 KiB, one at a time",
        Out,
        65_536,
        1,
        65.5,
        Predicted,
    ),
    stream(MUSB, "OUT 64 KiB, 32 queued", Out, 65_536, 32, 65.5, Fitted),
    stream(EG20T, "IN 64 KiB, 32 queued", In, 65_536, 32, 305.0, Fitted),
    in_kernel(stream(
        EG20T,
        "the same, from a queue in its kernel",
        In,
        65_536,
        32,
        328.0,
        Fitted,
    )),
    stream(
        EG20T,
        "OUT 64 KiB, 32 queued",
        Out,
        65_536,
        32,
        255.0,
        Fitted,
    ),
    stream(PIC32, "IN 64 B, 32 queued", In, 64, 32, 8.2, Fitted),
    stream(
        PIC32,
        "IN 64 KiB, 32 queued",
        In,
        65_536,
        32,
        8.6,
        Predicted,
    ),
];

/// J. Augustyn, A. Tutaj, "Evaluation and Optimisation of Communication Performance in a Hybrid
/// Measurement and Control System", tables 2 and 3: mean TRT in ms, requests of 16 B.
const AUGUSTYN_TUTAJ: &[Row] = &[
    exchange(UHCI, 0, 48, 9.47, Fitted),
    exchange(UHCI, 0, 100, 9.48, Predicted),
    exchange(UHCI, 0, 1000, 11.1, Predicted),
    exchange(UHCI, 0, 3500, 12.3, Predicted),
    exchange(UHCI, 0, 8000, 18.8, Predicted),
    exchange(EHCI, 0, 48, 8.13, Fitted),
    exchange(EHCI, 0, 100, 8.36, Predicted),
    exchange(EHCI, 0, 1000, 8.33, Predicted),
    exchange(EHCI, 0, 2000, 8.33, Predicted),
    exchange(EHCI, 0, 3500, 12.1, Predicted),
    exchange(EHCI, 0, 4000, 12.2, Predicted),
    exchange(EHCI, 0, 8000, 16.3, Predicted),
    exchange(EHCI, 1, 48, 2.69, Predicted),
    exchange(EHCI, 1, 100, 2.99, Predicted),
    exchange(EHCI, 1, 1000, 3.33, Predicted),
    exchange(EHCI, 1, 2000, 3.53, Predicted),
    exchange(EHCI, 1, 4000, 7.16, Predicted),
    exchange(EHCI, 1, 8000, 11.3, Predicted),
    exchange(EHCI, 3, 48, 1.88, Predicted),
    exchange(EHCI, 3, 100, 1.90, Predicted),
    exchange(EHCI, 3, 1000, 1.84, Predicted),
    exchange(EHCI, 3, 2000, 2.37, Predicted),
    exchange(EHCI, 3, 4000, 4.56, Fitted),
    exchange(EHCI, 3, 8000, 9.92, Predicted),
];

fn profile(name: &str) -> &'static Profile {
    let found = PROFILES.iter().find(|profile| profile.name == name);
    found.unwrap_or_else(|| panic!("no profile {name}"))
}

fn modelled(row: &Row) -> f64 {
    let profile = profile(row.profile);
    let count = match row.work {
        Work::Stream { transfer, .. } if transfer > 4096 => 100,
        _ => 1000,
    };
    let mut device = profile.device;
    if row.in_kernel {
        device.transfer_ns = 0;
    }
    let seen = run(profile.bus, device, 1, row.work, count);
    match row.work {
        Work::Stream { transfer, .. } => transfer as f64 * 8.0 / seen[0].period_ns() * 1e3,
        Work::Exchange { .. } => seen[0].period_ns() / 1e6,
    }
}

fn error_percent(row: &Row) -> f64 {
    (modelled(row) / row.published - 1.0) * 100.0
}

fn table(name: &str) -> String {
    let rows = || {
        OTT.iter()
            .chain(AUGUSTYN_TUTAJ)
            .filter(|row| row.profile == name)
    };
    let head = match rows().next().map(|row| row.work) {
        Some(Work::Stream { .. }) => "| transfers | published, Mbit/s | model, Mbit/s | error | |",
        _ => "| R | answer, B | published TRT, ms | model TRT, ms | error | |",
    };
    let mut text = format!(
        "{head}\n|{}\n",
        " --- |".repeat(head.matches('|').count() - 1)
    );
    for row in rows() {
        let what = match row.work {
            Work::Stream { .. } => row.words.to_string(),
            Work::Exchange { answer, depth, .. } => format!("{} | {answer}", depth - 1),
        };
        let digits = match row.work {
            Work::Stream { .. } => 1,
            Work::Exchange { .. } => 2,
        };
        let use_ = if row.use_ == Fitted {
            "fitted"
        } else {
            "predicted"
        };
        let (published, model, error) = (row.published, modelled(row), error_percent(row));
        writeln!(
            text,
            "| {what} | {published} | {model:.digits$} | {error:+.1} % | {use_} |"
        )
        .expect("a string takes it");
    }
    text
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_model() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let mut text = std::fs::read_to_string(path).expect("docs/models.md");
    let write = std::env::var_os("WIREGAUGE_WRITE_TABLES").is_some();
    for profile in PROFILES {
        let begin = format!("<!-- table {} -->\n", profile.name);
        let from = text
            .find(&begin)
            .unwrap_or_else(|| panic!("no table {}", profile.name));
        let from = from + begin.len();
        let to = from + text[from..].find("<!-- end -->").expect("its end");
        let table = table(profile.name);
        if write {
            text.replace_range(from..to, &table);
        } else {
            assert_eq!(&text[from..to], table, "{}", profile.name);
        }
    }
    if write {
        std::fs::write(path, text).expect("docs/models.md is written");
    }
}

#[test]
fn fitted_figures_are_met_within_three_percent() {
    for row in OTT
        .iter()
        .chain(AUGUSTYN_TUTAJ)
        .filter(|row| row.use_ == Fitted)
    {
        let error = error_percent(row);
        assert!(
            error.abs() < 3.0,
            "{} {:?}: {error:+.1} %",
            row.profile,
            row.work
        );
    }
}

#[test]
fn most_figures_are_predictions() {
    let rows = || OTT.iter().chain(AUGUSTYN_TUTAJ);
    let fitted = rows().filter(|row| row.use_ == Fitted).count();
    assert!(fitted * 3 < rows().count());
}
