//! Prints every interval of this crate for many series, so that another program can count how often they
//! contain the truth (verify/coverage.py, verify/false_alarms.py, verify/tails.py).
//!
//! Standard input is a sequence of requests: a line of text, then the values that it announces, 8 bytes
//! each, little-endian. Each request is answered by a line of JSON.
//!
//! | request | values | answer |
//! | --- | --- | --- |
//! | `summary N LIMIT...` | N | distribution; for each limit the share below it and that of the missed cycles |
//! | `compare FAMILY TIMEOUT N BEFORE AFTER` | N for each run of both sides | differences, each as one of so many |
//! | `tail N LIMIT...` | N | the fitted tail, or why there is none; for each limit how often it is exceeded |
//! | `levels N ONE_IN...` | N | the same; for each of them the value that one in so many exceeds |
//! | `buffer N RATE BYTES LOSS...` | N gaps in ns | for each loss probability the buffer at that rate |

use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::str::FromStr;
use wiregauge_stats::{
    Backlog, Confidence, CycleRule, Cycles, Estimate, Events, Responses, Series, difference,
};

/// Percentiles that are compared.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Values that a series holds exactly.
const EXACT: usize = 1 << 20;

const SURE: Confidence = Confidence::NINETY_FIVE;

fn main() -> io::Result<()> {
    let mut input = io::BufReader::new(io::stdin().lock());
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let answer = {
            let words: Vec<&str> = line.split_whitespace().collect();
            answer(&words, &mut input)?
        };
        writeln!(output, "{answer}")?;
        line.clear();
    }
    output.flush()
}

fn answer(words: &[&str], input: &mut impl Read) -> io::Result<Value> {
    let invalid = || io::Error::other(format!("not a request: {words:?}"));
    let (&kind, numbers) = words.split_first().ok_or_else(invalid)?;
    let (&first, others) = numbers.split_first().ok_or_else(invalid)?;
    Ok(match kind {
        "summary" => summary(&values(input, number(first)?)?, &all(others)?),
        "tail" => tail(&values(input, number(first)?)?, &all(others)?),
        "levels" => levels(&values(input, number(first)?)?, &all(others)?),
        "compare" => {
            let [timeout, n, before, after] = all(others)?[..] else {
                return Err(invalid());
            };
            let family = Confidence::NINETY_FIVE.shared_by(number(first)?);
            let mut side = |runs: u64| -> io::Result<Vec<Run>> {
                (0..runs)
                    .map(|_| Ok(Run::new(&values(input, n as usize)?, timeout)))
                    .collect()
            };
            let (before, after) = (side(before)?, side(after)?);
            compare(&before, &after, family)
        }
        "buffer" => {
            let [rate, bytes, losses @ ..] = others else {
                return Err(invalid());
            };
            let gaps = values(input, number(first)?)?;
            buffer(&gaps, number(rate)?, number(bytes)?, &all(losses)?)
        }
        _ => return Err(invalid()),
    })
}

fn number<T: FromStr>(word: &str) -> io::Result<T> {
    word.parse()
        .map_err(|_| io::Error::other(format!("not a number: {word}")))
}

fn all<T: FromStr>(words: &[&str]) -> io::Result<Vec<T>> {
    words.iter().map(|word| number(word)).collect()
}

fn values(input: &mut impl Read, n: usize) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; 8 * n];
    input.read_exact(&mut bytes)?;
    let whole = bytes.as_chunks::<8>().0;
    Ok(whole
        .iter()
        .map(|&bytes| u64::from_le_bytes(bytes))
        .collect())
}

fn responses(values: &[u64]) -> Responses {
    let mut responses = Responses::new();
    values.iter().for_each(|&value| responses.push(value));
    responses
}

fn summary(values: &[u64], limits: &[u64]) -> Value {
    let responses = responses(values);
    let together = responses.together();
    let missed = |&limit: &u64| {
        let mut cycles = Cycles::new(CycleRule {
            // No response is as long as a period: each is one cycle.
            period: u64::MAX,
            deadline: limit,
            between: None,
            outstanding: 1,
        });
        values.iter().for_each(|&value| cycles.replay(value, true));
        cycles.finish(together, SURE).share
    };
    let series = responses.series();
    let below: Vec<_> = limits
        .iter()
        .map(|&limit| series.share_below(limit, 0))
        .collect();
    let missed: Vec<_> = limits.iter().map(missed).collect();
    json!({ "distribution": series.distribution(), "below": below, "missed": missed })
}

fn tail(values: &[u64], limits: &[f64]) -> Value {
    let tail = responses(values).tail();
    let exceeding: Option<Vec<_>> = tail.as_ref().ok().map(|tail| {
        let limits = limits.iter();
        limits
            .map(|&limit| tail.exceeding(limit, f64::INFINITY, SURE))
            .collect()
    });
    json!({ "tail": tail.as_ref().ok(), "refused": tail.as_ref().err(), "exceeding": exceeding })
}

fn levels(values: &[u64], rarities: &[f64]) -> Value {
    let tail = responses(values).tail();
    let levels: Option<Vec<Option<f64>>> = tail.as_ref().ok().map(|tail| {
        let carried = |&&one_in: &&f64| tail.carries(one_in).is_ok();
        let level = |one_in: &f64| {
            Some(one_in)
                .filter(carried)
                .and_then(|&n| tail.level(n, SURE))
        };
        rarities.iter().map(level).collect()
    });
    json!({ "tail": tail.as_ref().ok(), "refused": tail.as_ref().err(), "levels": levels })
}

/// A run of exchanges; those of at least the timeout were lost.
struct Run {
    times: Series,
    lost: Events,
}

impl Run {
    fn new(values: &[u64], timeout: u64) -> Run {
        let mut run = Run {
            times: Series::with_exact_limit(EXACT),
            lost: Events::with_exact_limit(EXACT),
        };
        for &value in values {
            let is_lost = value >= timeout;
            run.lost.push(is_lost);
            if !is_lost {
                run.times.push(value);
            }
        }
        run
    }

    fn figure(&self, figure: usize, per_event: f64, sure: Confidence) -> Option<Estimate> {
        let times = self.times.read()?;
        match figure.checked_sub(1) {
            None => Some(times.mean(sure)),
            Some(at) => match PERCENTILES.get(at) {
                Some(&p) => Some(times.percentile(p, sure)),
                None => self.lost.share(per_event, sure),
            },
        }
    }
}

fn compare(before: &[Run], after: &[Run], family: Confidence) -> Value {
    let per_event = before
        .iter()
        .chain(after)
        .filter_map(|run| run.lost.per_event());
    let per_event = per_event.fold(1.0, f64::max);
    let figures = 0..PERCENTILES.len() + 2;
    let differences = figures.map(|figure| {
        let side = |runs: &[Run]| -> Option<Vec<Estimate>> {
            runs.iter()
                .map(|run| run.figure(figure, per_event, family))
                .collect()
        };
        difference(&side(before)?, &side(after)?, family)
    });
    json!({ "differences": differences.collect::<Vec<_>>() })
}

fn buffer(gaps: &[u64], rate: u64, bytes: u64, losses: &[f64]) -> Value {
    let mut backlog = Backlog::new(rate);
    backlog.begin(0);
    let mut at = 0;
    for gap in gaps {
        at += gap;
        backlog.complete(at, bytes);
    }
    let needs = losses.iter().map(|&loss| {
        let need = backlog.need(loss);
        json!({
            "sustained": need.sustained,
            "worst": need.worst_bytes,
            "for_loss": need.for_loss,
            "extrapolated": need.extrapolated,
        })
    });
    json!({ "needs": needs.collect::<Vec<_>>() })
}
