//! A loop run beside the figures of an application note about the same loop on other hardware.

use super::table::Table;
use wiregauge_quantity::{TimeUnit, megasamples};
use wiregauge_record::{Aim, LoopPath, LoopSummary};

/// Figures printed in the literature.
struct Published {
    path: &'static str,
    rate_hz: u64,
    channels: u32,
    buffer_kb: f64,
    notify_kb: f64,
    latency_ms: f64,
}

/// The cards' driver writes into the GPU's memory and reads out of it: the host's is not on the way.
const RDMA: &str = "Spectrum: Linux, GPU by RDMA";

/// By way of the host's memory, as every way here.
const VIA_CPU: &str = "Spectrum: Windows, GPU via CPU";

/// Spectrum Instrumentation, application note "Closed Loop Test using a PC Digitizer and AWG": the
/// smallest latency that ran without overrun or underrun for a minute.
const PUBLISHED: &[Published] = &[
    published("Spectrum: Windows, CPU", 500, 1, 768.0, 256.0, 0.790),
    published("Spectrum: Windows, CPU", 250, 1, 360.0, 120.0, 0.740),
    published("Spectrum: Windows, CPU", 125, 1, 240.0, 80.0, 0.980),
    published("Spectrum: Windows, CPU", 62, 1, 240.0, 60.0, 1.97),
    published("Spectrum: Windows, CPU", 500, 2, 1536.0, 256.0, 0.790),
    published("Spectrum: Windows, CPU", 250, 4, 1536.0, 256.0, 0.790),
    published("Spectrum: Linux, CPU", 500, 1, 2048.0, 256.0, 2.1),
    published("Spectrum: Linux, CPU", 250, 1, 1024.0, 128.0, 2.1),
    published("Spectrum: Linux, CPU", 125, 1, 512.0, 64.0, 2.1),
    published("Spectrum: Linux, CPU", 62, 1, 512.0, 32.0, 2.1),
    published("Spectrum: Linux, CPU", 500, 2, 4096.0, 256.0, 2.1),
    published("Spectrum: Linux, CPU", 250, 4, 4096.0, 256.0, 2.1),
    published(RDMA, 500, 1, 2662.0, 256.0, 2.6),
    published(RDMA, 250, 1, 1331.0, 128.0, 2.6),
    published(RDMA, 125, 1, 640.0, 64.0, 2.6),
    published(RDMA, 62, 1, 640.0, 64.0, 5.2),
    published(RDMA, 500, 2, 5222.0, 256.0, 2.6),
    published(RDMA, 250, 4, 5222.0, 256.0, 2.6),
    published(VIA_CPU, 500, 1, 3072.0, 1024.0, 3.1),
    published(VIA_CPU, 250, 1, 1536.0, 512.0, 3.1),
    published(VIA_CPU, 125, 1, 750.0, 256.0, 3.1),
];

const fn published(
    path: &'static str,
    megasamples: u64,
    channels: u32,
    buffer_kb: f64,
    notify_kb: f64,
    latency_ms: f64,
) -> Published {
    // The lowest rate of the note is 62.5 MS/s.
    let rate_hz = match megasamples {
        62 => 62_500_000,
        whole => whole * 1_000_000,
    };
    Published {
        path,
        rate_hz,
        channels,
        buffer_kb,
        notify_kb,
        latency_ms,
    }
}

/// The rates of the note, and the numbers of channels at each.
pub(super) fn published_rates() -> String {
    let mut cells: Vec<(u64, u32)> = PUBLISHED
        .iter()
        .map(|row| (row.rate_hz, row.channels))
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let names = cells.iter().map(|&(rate_hz, channels)| {
        let s = if channels == 1 { "" } else { "s" };
        format!("{} MS/s ({channels} channel{s})", megasamples(rate_hz))
    });
    names.collect::<Vec<String>>().join(", ")
}

/// The note's own columns, with its rows of the same rate and channels; nothing where it has none.
pub(super) fn beside_published(points: &[LoopSummary]) -> Option<Table> {
    let mut table = Table::new(
        "Comparison with Spectrum's application note (whose kB are KiB of 1,024 B)",
        &[
            "on",
            "MS/s",
            "channels",
            "MB/s per direction",
            "software buffer KiB",
            "notify KiB",
            "latency ms",
        ],
    );
    let mut cells: Vec<(u64, u32)> = Vec::new();
    for point in points {
        let cell = (point.point.rate_hz, point.point.channels);
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    for (rate_hz, channels) in cells {
        let theirs: Vec<&Published> = PUBLISHED
            .iter()
            .filter(|row| row.rate_hz == rate_hz && row.channels == channels)
            .collect();
        if theirs.is_empty() {
            continue;
        }
        let mine = points
            .iter()
            .filter(|point| (point.point.rate_hz, point.point.channels) == (rate_hz, channels));
        for point in mine {
            let (how, bytes) = match point.point.aim {
                Aim::Curve => ("lowest without a stall", point.needed_bytes),
                Aim::Hold if point.overruns + point.underruns == 0 => {
                    ("held", Some(point.point.preload_bytes))
                }
                Aim::Hold => continue,
            };
            let how = match point.point.path {
                LoopPath::Cpu => format!("this host: {how}"),
                path => format!("this host, {path}: {how}"),
            };
            let Some(bytes) = bytes else {
                continue;
            };
            table.row(vec![
                how,
                megasamples(point.point.rate_hz),
                channels.to_string(),
                format!("{:.0}", point.point.bytes_s() / 1e6),
                format!("{:.0}", bytes as f64 / 1024.0),
                format!("{:.0}", f64::from(point.point.notify_bytes) / 1024.0),
                TimeUnit::Milli.show(point.point.time_ns(bytes)),
            ]);
        }
        for row in theirs {
            table.row(vec![
                row.path.into(),
                megasamples(row.rate_hz),
                channels.to_string(),
                format!(
                    "{:.0}",
                    row.rate_hz as f64 * f64::from(channels) * 2.0 / 1e6
                ),
                format!("{:.0}", row.buffer_kb),
                format!("{:.0}", row.notify_kb),
                format!("{:.3}", row.latency_ms),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_latency_is_the_published_buffer_at_its_rate_as_far_as_both_were_rounded() {
        for row in PUBLISHED {
            let bytes_s = row.rate_hz as f64 * f64::from(row.channels) * 2.0;
            let ms = row.buffer_kb * 1024.0 / bytes_s * 1e3;
            // One row of the note is at odds with itself: 512 kB at 62.5 MS/s last for 4.2 ms, not 2.1.
            let odd = (row.path, row.rate_hz) == ("Spectrum: Linux, CPU", 62_500_000);
            let off = (ms / row.latency_ms - if odd { 2.0 } else { 1.0 }).abs();
            assert!(off < 0.05, "{}: {ms} or {}", row.path, row.latency_ms);
            assert!(row.notify_kb <= row.buffer_kb);
        }
    }
}
