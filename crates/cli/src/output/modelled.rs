//! The link in a few numbers, and what follows for other settings, as tables and sentences.

use super::style::{CAUTION, HEADING, RESET};
use std::io::{self, Write};
use wiregauge_compare::link_name;
use wiregauge_explain::{Modelled, Predicted};
use wiregauge_model::{Figures, How, Setting, StageCost, response_size};
use wiregauge_quantity::{RateUnit, TimeUnit, grouped};
use wiregauge_report::tables::{Columns, Table};
use wiregauge_stats::Estimate;

/// Each model of a run.
pub fn print(out: &mut impl Write, models: &[Modelled], links: bool) -> io::Result<()> {
    for modelled in models {
        let name = name(modelled, links);
        if let Some(why) = &modelled.why_not {
            let of = name
                .strip_prefix(", ")
                .map_or_else(String::new, |of| format!(" for {of}"));
            writeln!(out, "\n{CAUTION}no model{RESET}{of}: {why}")?;
            continue;
        }
        let Some(figures) = modelled.figures() else {
            continue;
        };
        let stream = modelled.way.is_some();
        writeln!(out, "\n{HEADING}Link model{name}{RESET}")?;
        let numbers = numbers(&figures, stream, modelled.limit_bytes_s);
        if !numbers.rows.is_empty() {
            write!(out, "{}", numbers.text())?;
        }
        if figures.slowest.is_some() {
            writeln!(
                out,
                "  slowest stage: the one of host, wire and device that takes longest; it limits at high {}",
                if stream { "queues" } else { "depths" }
            )?;
        }
        for words in &modelled.words {
            writeln!(out, "  - {words}")?;
        }
    }
    Ok(())
}

/// What is predicted, if anything was asked for.
pub fn predicted(out: &mut impl Write, models: &[Modelled], links: bool) -> io::Result<()> {
    for modelled in models.iter().filter(|m| !m.predictions.is_empty()) {
        let stream = modelled.way.is_some();
        let all = &modelled.predictions;
        let unit = TimeUnit::fitting(all.iter().map(|p| p.trt_ns.value).fold(f64::MAX, f64::min));
        let rates = || all.iter().flat_map(|p| [p.out_bytes_s, p.in_bytes_s]);
        let rate = RateUnit::fitting(rates().fold(0.0, f64::max));
        let (time, one) = match stream {
            true => ("per transfer", "time"),
            false => ("TRT", "RTT"),
        };
        let mut columns = Columns::<&Predicted>::new();
        settings(&mut columns, stream, |predicted| predicted.at);
        columns.add(time, |p| unit.show(p.trt_ns.value));
        columns.some("low", |p| Some(unit.show(p.trt_ns.low?)));
        columns.some("high", |p| Some(unit.show(p.trt_ns.high?)));
        columns.some(one, |p| Some(unit.show(p.rtt_ns.as_ref()?.value)));
        columns.some("low", |p| Some(unit.show(p.rtt_ns.as_ref()?.low?)));
        columns.some("high", |p| Some(unit.show(p.rtt_ns.as_ref()?.high?)));
        if stream {
            columns.add(rate.name(), |p| rate.show(p.out_bytes_s.max(p.in_bytes_s)));
        } else {
            columns.add(format!("OUT {}", rate.name()), |p| rate.show(p.out_bytes_s));
            // Without a size there is no rate.
            columns.some(format!("IN {}", rate.name()), |p| {
                (p.at.in_bytes > 0).then(|| rate.show(p.in_bytes_s))
            });
        }
        columns.add("coverage", |p| match p.trt_ns.claimed() {
            Some(share) => format!("{} %", (share * 1000.0).round() / 10.0),
            None => "none".into(),
        });
        let table = columns.of_rows("", all);
        writeln!(
            out,
            "\n{HEADING}Predicted{}, means in {}{RESET}",
            name(modelled, links),
            unit.name()
        )?;
        write!(out, "{}", table.text())?;
        if modelled.is_doubtful() {
            writeln!(
                out,
                "  {CAUTION}note:{RESET} the model does not fit this link, or its points do not determine it (see \
                 above): measure the setting instead of relying on this prediction"
            )?;
        }
        at_limit(out, modelled)?;
        let mut hows: Vec<&How> = Vec::new();
        for predicted in all {
            if !hows.contains(&&predicted.trt_ns.how) {
                hows.push(&predicted.trt_ns.how);
            }
        }
        for how in hows {
            match how {
                How::Beyond { beyond } => {
                    let depth = if stream { "queue" } else { "depth" };
                    writeln!(
                        out,
                        "  {CAUTION}no prediction interval:{RESET} {}",
                        beyond.say(depth)
                    )?;
                }
                _ => writeln!(
                    out,
                    "  coverage: the share of settings, in the same range and under the same conditions, whose \
                     measured value lies between low and high; {how}"
                )?,
            }
        }
    }
    Ok(())
}

/// Which predictions are the physical limit of the link instead of the model's.
fn at_limit(out: &mut impl Write, modelled: &Modelled) -> io::Result<()> {
    let Some(limit) = modelled.limit_bytes_s else {
        return Ok(());
    };
    let rate = RateUnit::fitting(limit);
    for predicted in modelled.predictions.iter().filter(|p| p.at_limit) {
        let at = predicted.at;
        let setting = match modelled.way {
            Some(_) => format!(
                "transfer {} B, queue {}",
                at.out_bytes.max(at.in_bytes),
                at.depth
            ),
            None => at.to_string(),
        };
        writeln!(
            out,
            "  {CAUTION}note:{RESET} {setting}: the model alone exceeds the limit of {} {}, so the figures are those of \
             the limit",
            rate.show(limit),
            rate.name()
        )?;
    }
    Ok(())
}

fn name(modelled: &Modelled, links: bool) -> String {
    let mut name = String::new();
    if let (Some(direction), Some(way)) = (modelled.direction, modelled.way) {
        name += &format!(", {}", direction.words_of(way));
    }
    if links {
        name += &format!(", {}", link_name(modelled.link, modelled.together));
    }
    name
}

/// One row a figure, each with its unit, because they have little in common.
fn numbers(figures: &Figures, stream: bool, limit: Option<f64>) -> Table {
    let mut table = Table::new("", &["figure", "value", "95 % from", "to", "unit"]);
    let one = if stream {
        "per transfer"
    } else {
        "per exchange"
    };
    let depth = if stream { "queue" } else { "depth" };
    if let Some(base) = &figures.base {
        let fixed = format!("fixed time {one} ({depth} {})", figures.base_depth);
        stage(&mut table, base, fixed, "time per byte", figures.together);
    }
    if let Some(slowest) = &figures.slowest {
        let fixed = format!("slowest stage: fixed time {one}");
        let byte = match figures.overlap {
            true => "slowest stage: or, if longer, time per byte",
            false => "slowest stage: time per byte",
        };
        stage(&mut table, slowest, fixed, byte, figures.together);
    }
    for (most, way) in [(&figures.out_bytes_s, "OUT"), (&figures.in_bytes_s, "IN")] {
        if let Some(most) = most {
            let unit = RateUnit::fitting(most.value);
            let is_beyond = limit.is_some_and(|limit| most.value > limit);
            let bound = if is_beyond { " (beyond the limit)" } else { "" };
            row(
                &mut table,
                format!("maximum throughput {way}{bound}"),
                most,
                unit.name(),
                |v| unit.show(v),
            );
        }
    }
    for saturation in &figures.saturation {
        let (out, in_) = (saturation.out_bytes, saturation.in_bytes);
        let sizes = match stream {
            true => format!("{} B", grouped(out.max(in_).into())),
            false => format!("OUT {} B, {}", grouped(out.into()), response_size(in_)),
        };
        row(
            &mut table,
            format!("saturation {depth} at {sizes}"),
            &saturation.depth,
            "",
            |v| format!("{v:.1}"),
        );
    }
    table
}

/// The rows of a stage; `together`: a byte takes as long in either direction.
fn stage(table: &mut Table, cost: &StageCost, fixed: String, byte: &str, together: bool) {
    let unit = TimeUnit::fitting(cost.fixed_ns.value);
    row(table, fixed, &cost.fixed_ns, unit.name(), |v| unit.show(v));
    let bytes = match together {
        true => vec![(&cost.in_ns_a_byte, "in either direction")],
        false => vec![(&cost.out_ns_a_byte, "OUT"), (&cost.in_ns_a_byte, "IN")],
    };
    for (a_byte, way) in bytes {
        if let Some(a_byte) = a_byte {
            let name = format!("{byte} {way}");
            row(table, name, a_byte, "ns", |v| format!("{v:.2}"));
        }
    }
}

/// What an interval with 0 in it leaves open is not said.
fn row(
    table: &mut Table,
    name: String,
    estimate: &Estimate,
    unit: &str,
    show: impl Fn(f64) -> String,
) {
    if estimate.low.is_some_and(|low| low <= 0.0) {
        return;
    }
    let bound = |bound: Option<f64>| bound.map_or("-".into(), &show);
    table.row(vec![
        name,
        show(estimate.value),
        bound(estimate.low),
        bound(estimate.high),
        unit.into(),
    ]);
}

/// The columns of a setting: of an exchange its sizes and depth, of a stream its transfer and queue.
fn settings<'a, Row: Copy + 'a>(
    columns: &mut Columns<'a, Row>,
    stream: bool,
    at: fn(Row) -> Setting,
) {
    if stream {
        columns.add("transfer B", move |row| {
            at(row).out_bytes.max(at(row).in_bytes)
        });
    } else {
        columns.add("OUT B", move |row| at(row).out_bytes);
        columns.add("IN B", move |row| match at(row).in_bytes {
            0 => "any".to_owned(),
            bytes => bytes.to_string(),
        });
    }
    let depth = if stream { "queue" } else { "depth" };
    columns.add(depth, move |row| at(row).depth);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_of_any_size_has_no_size_in_a_table() {
        let any = Setting {
            out_bytes: 16,
            in_bytes: 0,
            depth: 4,
        };
        let cells = |stream: bool| {
            let mut columns = Columns::<&Setting>::new();
            settings(&mut columns, stream, |at| *at);
            columns.of_rows("", [&any]).rows.remove(0)
        };
        assert_eq!(cells(false), ["16", "any", "4"]);
        assert_eq!(cells(true), ["16", "4"]);
    }

    #[test]
    fn a_figure_whose_interval_includes_0_is_not_said() {
        let mut table = Table::new("", &["figure", "value", "95 % from", "to", "unit"]);
        for low in [Some(0.0), Some(-3.0), Some(2.1), None] {
            let depth = Estimate {
                value: 49.0,
                low,
                high: low.map(|_| 185.0),
            };
            row(&mut table, "saturation depth".into(), &depth, "", |v| {
                format!("{v:.1}")
            });
        }
        let lows: Vec<&str> = table.rows.iter().map(|row| &row[2][..]).collect();
        assert_eq!(lows, ["2.1", "-"]);
    }
}
