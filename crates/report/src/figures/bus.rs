//! Frames of a bus as rows, packets as bars.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Entry, Key};
use super::look::{INK, MUTED, SERIES};
use wiregauge_capture::{BarKind, Picture, Speed};

/// Height of a row in pixels.
const ROW: u32 = 15;

/// In this order they are drawn, and stand in the legend: the shortest packets on top.
pub(crate) const BUS_KINDS: [(BarKind, &str, &str); 7] = [
    (BarKind::DataIn, "data IN", SERIES[0]),
    (BarKind::DataOut, "data OUT", SERIES[2]),
    (BarKind::Token, "token", SERIES[3]),
    (BarKind::Ack, "ACK, NYET", MUTED),
    // Vermilion: the red of these colours.
    (BarKind::Nak, "NAK", SERIES[4]),
    (BarKind::Sof, "start of frame", INK),
    (BarKind::Other, "other", SERIES[5]),
];

/// Draws the frames of a capture.
pub fn of_bus(picture: &Picture) -> Figure {
    let bars = || picture.rows.iter().flat_map(|row| &row.bars);
    let mut kinds = BUS_KINDS.to_vec();
    kinds.retain(|(kind, ..)| bars().any(|bar| bar.kind == *kind));
    let entries = kinds.iter();
    let entries = entries.map(|(_, name, colour)| Key::Area(colour, 1.0).named(*name));
    let legend: Vec<Entry> = entries.collect();
    let rows = picture.rows.len().max(1);
    // The first frame on top.
    let labels: Vec<String> = picture
        .rows
        .iter()
        .rev()
        .map(|row| format!("{:.3}", row.begin_ns as f64 / 1e6))
        .collect();
    let canvas = Canvas::new(ROW * rows as u32 + 80, &legend);
    let frame_ns = picture.frame_ns as f64;
    let x = Axis::elapsed("Time in the frame", frame_ns);
    let y = Axis::slots("Start of the frame (ms)", &labels);
    let frame = canvas.frame(canvas.place(), "", x, y);
    // A packet is drawn at least half a pixel wide.
    let narrow = frame.x_step(0.5);
    for (kind, name, colour) in &kinds {
        frame.open(&name.replace([' ', ','], "-"));
        for (number, row) in picture.rows.iter().enumerate() {
            let bottom = (rows - 1 - number) as f64;
            for bar in row.bars.iter().filter(|bar| bar.kind == *kind) {
                let begin = bar.begin_ns as f64;
                if begin > frame_ns {
                    continue;
                }
                let end = (begin + (bar.length_ns as f64).max(narrow)).min(frame_ns);
                frame.bar((begin, end), (bottom + 0.12, bottom + 0.88), colour, 1.0);
            }
        }
        frame.close();
    }
    let (name, unit) = match picture.speed {
        Speed::High => ("microframe", "125 us"),
        _ => ("frame", "1 ms"),
    };
    let caption = format!(
        "Each row is a {name} of {unit}, from left to right, the first on top; each bar is a packet on the wire. Orange: the \
         device was not ready (NAK). White: the bus is idle."
    );
    canvas.finish("bus-frames", "Packets in the frames of a USB bus", &caption)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_capture::{Bar, FrameRow};

    #[test]
    fn each_packet_is_a_bar_and_naks_are_orange() {
        let bar = |begin_ns, kind| Bar {
            begin_ns,
            length_ns: 5_000,
            kind,
        };
        let picture = Picture {
            speed: Speed::Full,
            frame_ns: 1_000_000,
            rows: vec![
                FrameRow {
                    begin_ns: 0,
                    bars: vec![
                        bar(0, BarKind::Sof),
                        bar(10_000, BarKind::Token),
                        bar(16_000, BarKind::Nak),
                    ],
                },
                FrameRow {
                    begin_ns: 1_000_000,
                    bars: vec![bar(0, BarKind::Sof)],
                },
            ],
        };
        let svg = of_bus(&picture).svg;
        assert!(
            svg.contains("<g class=\"NAK\">\n<path fill=\"#d55f03\""),
            "{svg}"
        );
        assert!(svg.contains(">NAK<") && svg.contains(">token<"), "{svg}");
        assert!(!svg.contains(">data IN<"), "{svg}");
    }

    #[test]
    fn no_frames_are_an_empty_figure() {
        let picture = Picture {
            speed: Speed::High,
            frame_ns: 125_000,
            rows: Vec::new(),
        };
        assert!(of_bus(&picture).svg.starts_with("<svg"));
    }
}
