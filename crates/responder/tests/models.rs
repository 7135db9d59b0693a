//! The devices of the literature against the figures that were published of them. The tables of
//! docs/models.md are made here, so that they cannot differ from what the model says:
//! `WIREGAUGE_WRITE_TABLES=1 cargo test -p wiregauge-responder --test tests tables` writes them anew.

use crate::virtual_host;

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use virtual_host::{Seen, Work, run};
use wiregauge_responder::bus::{Direction, PROFILES, Profile};

/// A published figure: of a profile, what was done, the figure, and whether a number of the profile was taken from it.
struct Row {
    profile: &'static str,
    work: Work,
    published: f64,
    published_sd: Option<f64>,
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
    direction: Direction,
    transfer: u64,
    queue: usize,
    published: f64,
    use_: Use,
) -> Row {
    Row {
        profile,
        work: Work::stream(direction, transfer, queue),
        published,
        published_sd: None,
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

/// A row of the second table: mean and standard deviation of the RTT in ms. A figure that was printed as
/// a throughput has no deviation.
const fn exchange(
    profile: &'static str,
    r: usize,
    answer: u64,
    rtt_ms: f64,
    sd_ms: Option<f64>,
    use_: Use,
) -> Row {
    Row {
        profile,
        work: Work::exchange(answer, r + 1),
        published: rtt_ms,
        published_sd: sd_ms,
        use_,
        in_kernel: false,
    }
}

const MUSB: &str = "beaglebone-musb";
const EG20T: &str = "eg20t";
const PIC32: &str = "pic32mx";
const UHCI: &str = "at91sam3u-uhci";
const EHCI: &str = "at91sam3u-ehci";
const LINUX: &str = "stoffregen-linux";
const WINDOWS: &str = "stoffregen-windows";
const MAC: &str = "stoffregen-mac";

use Direction::{In, Out};

/// A. Ott, "USB and the Real World", Embedded Linux Conference Europe 2014: Mbit/s.
const OTT: &[Row] = &[
    stream(MUSB, In, 64, 1, 4.0, Predicted),
    stream(MUSB, In, 64, 32, 15.0, Fitted),
    stream(MUSB, In, 512, 32, 82.0, Fitted),
    stream(MUSB, In, 65_536, 32, 211.0, Predicted),
    in_kernel(stream(MUSB, In, 65_536, 32, 227.0, Predicted)),
    stream(MUSB, Out, 65_536, 1, 65.5, Predicted),
    stream(MUSB, Out, 65_536, 32, 65.5, Fitted),
    stream(EG20T, In, 65_536, 32, 305.0, Fitted),
    in_kernel(stream(EG20T, In, 65_536, 32, 328.0, Fitted)),
    stream(EG20T, Out, 65_536, 32, 255.0, Fitted),
    stream(PIC32, In, 64, 32, 8.2, Fitted),
    stream(PIC32, In, 65_536, 32, 8.6, Predicted),
];

/// J. Augustyn, A. Tutaj, "Evaluation and Optimisation of Communication Performance in a Hybrid
/// Measurement and Control System", tables 2 and 3: mean and standard deviation of the RTT in ms, requests
/// of 16 B. The last row is their best throughput, 924.8 kB/s, as an RTT.
const AUGUSTYN_TUTAJ: &[Row] = &[
    exchange(UHCI, 0, 48, 9.47, Some(7.48), Predicted),
    exchange(UHCI, 0, 100, 9.48, Some(7.29), Predicted),
    exchange(UHCI, 0, 1000, 11.1, Some(8.49), Predicted),
    exchange(UHCI, 0, 3500, 12.3, Some(7.91), Predicted),
    exchange(UHCI, 0, 8000, 18.8, Some(15.0), Predicted),
    exchange(EHCI, 0, 48, 8.13, Some(6.61), Fitted),
    exchange(EHCI, 0, 100, 8.36, Some(6.67), Predicted),
    exchange(EHCI, 0, 1000, 8.33, Some(7.25), Predicted),
    exchange(EHCI, 0, 2000, 8.33, Some(8.2), Predicted),
    exchange(EHCI, 0, 3500, 12.1, Some(8.2), Predicted),
    exchange(EHCI, 0, 4000, 12.2, Some(8.05), Predicted),
    exchange(EHCI, 0, 8000, 16.3, Some(12.3), Fitted),
    exchange(EHCI, 1, 48, 5.37, Some(2.89), Fitted),
    exchange(EHCI, 1, 100, 5.99, Some(3.35), Predicted),
    exchange(EHCI, 1, 1000, 6.66, Some(3.71), Predicted),
    exchange(EHCI, 1, 2000, 7.05, Some(2.59), Fitted),
    exchange(EHCI, 1, 4000, 14.3, Some(9.13), Predicted),
    exchange(EHCI, 1, 8000, 22.5, Some(15.4), Predicted),
    exchange(EHCI, 3, 48, 7.5, Some(4.13), Predicted),
    exchange(EHCI, 3, 100, 7.62, Some(1.87), Fitted),
    exchange(EHCI, 3, 1000, 7.37, Some(2.43), Predicted),
    exchange(EHCI, 3, 2000, 9.5, Some(2.56), Predicted),
    exchange(EHCI, 3, 4000, 18.2, Some(4.08), Fitted),
    exchange(EHCI, 3, 8000, 39.7, Some(8.53), Predicted),
    exchange(EHCI, 3, 3000, HEADLINE_RTT_MS, None, Predicted),
];

/// Four exchanges of 3000 B at 924.8 kB/s.
const HEADLINE_RTT_MS: f64 = 4.0 * 3000.0 / 924.8;

/// P. Stoffregen's benchmark, 2013: kB/s written one byte at a time.
const STOFFREGEN: &[Row] = &[
    stream(LINUX, Out, 1, 16, 53.0, Fitted),
    stream(WINDOWS, Out, 1, 1, 4.0, Fitted),
    stream(MAC, Out, 4096, 1, 860.0, Fitted),
];

fn profile(name: &str) -> &'static Profile {
    let found = PROFILES.iter().find(|profile| profile.name == name);
    found.unwrap_or_else(|| panic!("no profile {name}"))
}

fn rows() -> impl Iterator<Item = &'static Row> {
    OTT.iter().chain(AUGUSTYN_TUTAJ).chain(STOFFREGEN)
}

/// Mean and standard deviation of the RTT in ns, the first tenth left out.
fn rtt(seen: &Seen) -> (f64, f64) {
    let rtts = &seen.rtt_ns[seen.rtt_ns.len() / 10..];
    let count = rtts.len() as f64;
    let mean = rtts.iter().map(|rtt| *rtt as f64).sum::<f64>() / count;
    let squares = rtts.iter().map(|rtt| (*rtt as f64 - mean).powi(2));
    (mean, (squares.sum::<f64>() / count).sqrt())
}

/// What the model says of a row: the figure, and the standard deviation of an RTT.
fn modelled(row: &Row) -> (f64, f64) {
    let profile = profile(row.profile);
    let count = match row.work {
        Work::Stream { transfer, .. } if transfer >= 4096 => 100,
        Work::Stream { .. } => 1000,
        Work::Exchange { answer, .. } if answer > 2000 => 2_000,
        Work::Exchange { .. } => 5_000,
    };
    let mut device = profile.device;
    if row.in_kernel {
        device.transfer_ns = 0;
    }
    let seen = run(profile.bus, device, 1, row.work, count).remove(0);
    match row.work {
        Work::Stream { transfer, .. } => {
            let bytes_per_us = transfer as f64 / seen.period_ns() * 1e3;
            let is_kilobytes = STOFFREGEN.iter().any(|other| other.profile == row.profile);
            (bytes_per_us * if is_kilobytes { 1e3 } else { 8.0 }, 0.0)
        }
        Work::Exchange { .. } => {
            let (mean_ns, sd_ns) = rtt(&seen);
            (mean_ns / 1e6, sd_ns / 1e6)
        }
    }
}

fn error_percent(row: &Row) -> f64 {
    (modelled(row).0 / row.published - 1.0) * 100.0
}

/// Direction and size of the transfers of a row, and how many wait.
fn words(row: &Row, direction: Direction, transfer: u64, queue: usize) -> String {
    let direction = if direction == In { "IN" } else { "OUT" };
    let waiting = match queue {
        1 => "one at a time".into(),
        _ => format!("{queue} queued"),
    };
    match transfer {
        _ if row.in_kernel => "the same, from a queue in its kernel".into(),
        4096 => format!("{direction} 1 B, gathered to 4 KiB"),
        65_536 => format!("{direction} 64 KiB, {waiting}"),
        _ => format!("{direction} {transfer} B, {waiting}"),
    }
}

fn table(name: &str) -> String {
    let rows = || rows().filter(|row| row.profile == name);
    let first = rows().next().expect("a profile has figures");
    let unit = match STOFFREGEN.iter().any(|row| row.profile == name) {
        true => "kB/s",
        false => "Mbit/s",
    };
    let head = match first.work {
        Work::Stream { .. } => format!("| transfers | published, {unit} | model, {unit} | error | |"),
        Work::Exchange { .. } => {
            "| R | answer, B | published RTT, ms | model | error | published SD, ms | model | ratio | |"
                .into()
        }
    };
    let mut text = format!(
        "{head}\n|{}\n",
        " --- |".repeat(head.matches('|').count() - 1)
    );
    for row in rows() {
        let use_ = match row.use_ {
            Fitted => "fitted",
            Predicted => "predicted",
        };
        let (published, (model, sd)) = (row.published, modelled(row));
        let error = (model / published - 1.0) * 100.0;
        match row.work {
            Work::Stream {
                direction,
                transfer,
                queue,
            } => writeln!(
                text,
                "| {} | {published} | {model:.1} | {error:+.1} % | {use_} |",
                words(row, direction, transfer, queue)
            ),
            Work::Exchange { answer, depth, .. } => {
                let (published_sd, ratio) = match row.published_sd {
                    Some(of) => (format!("{of:.2}"), format!("{:.2}", sd / of)),
                    None => ("".into(), "".into()),
                };
                writeln!(
                    text,
                    "| {} | {answer} | {published:.2} | {model:.2} | {error:+.1} % | {published_sd} | {sd:.2} | {ratio} | {use_} |",
                    depth - 1
                )
            }
        }
        .expect("a string takes it");
    }
    text.replace("|  |", "| |")
}

/// Holds a table of docs/models.md to what the model says, or writes it.
pub fn hold_table(name: &str, table: &str) {
    /// Two tests shall not write the page at once.
    static PAGE: Mutex<()> = Mutex::new(());
    let _page = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let mut text = std::fs::read_to_string(path).expect("docs/models.md");
    let begin = format!("<!-- table {name} -->\n");
    let found = text.find(&begin);
    let from = found.unwrap_or_else(|| panic!("no table {name}")) + begin.len();
    let to = from + text[from..].find("<!-- end -->").expect("its end");
    if std::env::var_os("WIREGAUGE_WRITE_TABLES").is_some() {
        text.replace_range(from..to, table);
        std::fs::write(path, text).expect("docs/models.md is written");
    } else {
        assert_eq!(&text[from..to], table, "{name}");
    }
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_model() {
    for profile in PROFILES {
        hold_table(profile.name, &table(profile.name));
    }
}

#[test]
fn fitted_throughputs_are_met_within_three_percent() {
    for row in OTT
        .iter()
        .chain(STOFFREGEN)
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
fn every_mean_rtt_is_within_25_percent_and_every_deviation_within_a_factor_of_two() {
    let mut off = Vec::new();
    for row in AUGUSTYN_TUTAJ {
        let (mean, sd) = modelled(row);
        let error = mean / row.published - 1.0;
        let ratio = row.published_sd.map_or(1.0, |published| sd / published);
        if error.abs() > 0.25 || !(0.5..=2.0).contains(&ratio) {
            off.push(format!(
                "{} {:?}: mean {error:+.2}, SD x{ratio:.2}",
                row.profile, row.work
            ));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

#[test]
fn on_ehci_one_request_queued_ahead_shortens_the_rtt_itself() {
    let rtt = |r: usize, answer: u64| {
        let row = AUGUSTYN_TUTAJ.iter().find(|row| {
            matches!(row.work, Work::Exchange { answer: a, depth, .. } if a == answer && depth == r + 1)
                && row.profile == EHCI
        });
        let row = row.expect("a published figure");
        (modelled(row).0, row.published)
    };
    for answer in [48, 100, 1000] {
        let ((without, paper_without), (with, paper_with)) = (rtt(0, answer), rtt(1, answer));
        assert!(paper_with < paper_without);
        assert!(
            with < 0.95 * without,
            "{answer} B: {with} against {without} ms"
        );
    }
    // Where the bus is the bottleneck, it does not, in the paper as in the model.
    let ((without, paper_without), (with, paper_with)) = (rtt(0, 8000), rtt(1, 8000));
    assert!(paper_with > paper_without && with > without);
}

#[test]
fn a_host_with_a_tail_gives_the_same_rtts_to_the_bit_in_each_run() {
    let work = Work::exchange(1000, 2);
    let profile = profile(EHCI);
    let run = || {
        run(profile.bus, profile.device, 1, work, 2_000)
            .remove(0)
            .rtt_ns
    };
    let first = run();
    assert_eq!(first, run());
    // A tick of the clock lost shows as a tail.
    let long = first.iter().filter(|rtt| **rtt > 20_000_000).count();
    assert!((5..200).contains(&long), "{long}");
}

#[test]
fn most_figures_are_predictions() {
    let fitted = rows().filter(|row| row.use_ == Fitted).count();
    assert!(fitted * 2 < rows().count());
    let of_paper = AUGUSTYN_TUTAJ.iter().filter(|row| row.use_ == Fitted);
    assert!(of_paper.count() * 3 < AUGUSTYN_TUTAJ.len());
}
