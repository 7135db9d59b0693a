//! A loop over a sound card without the engine: what the device says, block by block.
//!
//! `alsa_loop ADDRESS RATE CHANNELS NOTIFY RING PRELOAD BLOCKS [sleep|spin|MARGIN_NS]` (sizes in frames)

use std::sync::atomic::AtomicBool;
use wiregauge::closed_loop::{Alsa, LoopDevice};
use wiregauge_record::{Aim, LoopPoint, LoopWait, Xrun};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.len() < 7 {
        eprintln!(
            "usage: alsa_loop ADDRESS RATE CHANNELS NOTIFY RING PRELOAD BLOCKS [sleep|spin|MARGIN_NS]"
        );
        std::process::exit(2);
    }
    if let Err(error) = run(&words) {
        eprintln!("error: {error}");
        std::process::exit(3);
    }
}

fn run(words: &[String]) -> Result<(), wiregauge::LinkError> {
    let number = |at: usize| words[at].parse::<u32>().expect("a number");
    let frame = number(2) * 2;
    let point = LoopPoint {
        index: 0,
        rate_hz: number(1).into(),
        channels: number(2),
        notify_bytes: number(3) * frame,
        ring_bytes: u64::from(number(4) * frame),
        preload_bytes: u64::from(number(5) * frame),
        aim: Aim::Hold,
    };
    let how = match words.get(7).map(String::as_str) {
        None | Some("sleep") => LoopWait::Sleep,
        Some("spin") => LoopWait::Spin,
        Some(margin) => LoopWait::Hybrid {
            margin_ns: margin.parse().expect("nanoseconds"),
        },
    };
    let mut card = Alsa::open(&words[0])?;
    card.start(&point, true)?;
    println!("{:?}", card.detail().settings);
    let halt = AtomicBool::new(false);
    let blocks = number(6) as usize;
    let mut rows = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        let Some(arrived) = card.wait(how, &halt)? else {
            break;
        };
        let (input, output) = card.block();
        output.copy_from_slice(input);
        rows.push((arrived, card.submit()?));
    }
    let end = card.stop();
    for (number, (arrived, submitted)) in rows.iter().enumerate() {
        if number < 12 || submitted.xrun != Xrun::None && number < 40 {
            let (due, seen, done) = (arrived.due_ns, arrived.seen_ns, submitted.done_ns);
            let (wake, work) = (seen - due, done - seen);
            println!(
                "{number}: due {due} wake {wake} work {work} {}",
                submitted.xrun.name()
            );
        }
    }
    let wakes = rows
        .iter()
        .map(|(arrived, _)| arrived.seen_ns - arrived.due_ns);
    println!("longest wake {:?}", wakes.max());
    println!(
        "over {} under {} first {:?}",
        end.overruns,
        end.underruns,
        end.stalls.first()
    );
    println!("{:?}", card.verified());
    Ok(())
}
