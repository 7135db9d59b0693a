//! The error queue of an instrument (SCPI-99, 21.8.8), read once a point is over.

use std::io;
use std::time::{Duration, Instant};
use wiregauge_link::{Link, MAX_WAIT};
use wiregauge_record::ReplyEnd;
use wiregauge_session::{Reply, ReplyReader};

const QUERY: &[u8] = b"SYST:ERR?\n";

/// Errors read at most: a queue that never becomes empty is no queue.
const MOST: usize = 20;

/// What the queue holds, the oldest error first. An instrument that does not answer has no queue.
pub fn error_queue(link: &mut dyn Link, datagram: bool, timeout: Duration) -> Vec<String> {
    let mut errors = Vec::new();
    while errors.len() < MOST {
        match reply(link, datagram, timeout) {
            Ok(Some(line)) if number(&line) != Some(0) => errors.push(line),
            _ => break,
        }
    }
    errors
}

/// The number in `0,"No error"`. It may have a sign, and a header before it (`:SYST:ERR 0,...`, permitted by IEEE 488.2).
fn number(line: &str) -> Option<i64> {
    let before_text = line.split(',').next()?;
    before_text.split_whitespace().next_back()?.parse().ok()
}

/// One reply; `None` if there is none in time.
fn reply(link: &mut dyn Link, datagram: bool, timeout: Duration) -> io::Result<Option<String>> {
    let deadline = Instant::now() + timeout;
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut unsent = QUERY;
    let mut reader = ReplyReader::new(&ReplyEnd::Scpi, datagram).map_err(io::Error::other)?;
    let mut received = Vec::new();
    let mut piece = [0; 4096];
    while !left().is_zero() {
        if !unsent.is_empty() {
            unsent = &unsent[link.send(unsent)?..];
        }
        link.wait(!unsent.is_empty(), left().min(MAX_WAIT))?;
        let count = link.receive(&mut piece)?;
        if count == 0 {
            continue;
        }
        received.extend_from_slice(&piece[..count]);
        match reader.next(&received) {
            Reply::More => {}
            Reply::Whole(end, mark) => {
                let line = String::from_utf8_lossy(&received[..end - mark]);
                return Ok(Some(line.trim_end().to_string()));
            }
            Reply::Cut(_) | Reply::Malformed(_) => break,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn the_number_of_an_error_may_have_a_sign_and_a_header() {
        for (line, expected) in [
            ("0,\"No error\"", Some(0)),
            ("+0,\"No error\"", Some(0)),
            ("SYST:ERR 0, No error", Some(0)),
            (":SYSTEM:ERROR:NEXT -113,\"Undefined header\"", Some(-113)),
            ("0", Some(0)),
            ("No error", None),
            ("", None),
        ] {
            assert_eq!(number(line), expected, "{line}");
        }
    }
}
