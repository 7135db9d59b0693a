//! An instrument that speaks SCPI (IEEE 488.2, SCPI-99), so that everything can be tried without one: a voltmeter
//! whose readings rise, and block data of any size.

use std::collections::VecDeque;

/// Bytes of a line at most; more without a newline are dropped.
const LONGEST_LINE: usize = 64 << 10;

/// Errors that its queue holds (SCPI-99, 21.8.1).
const MOST_ERRORS: usize = 16;

/// Bytes of block data at most.
const MOST_DATA: usize = 1 << 20;

/// What went wrong (SCPI-99, 21.8.9 to 21.8.12).
const UNDEFINED_HEADER: &str = "-113,\"Undefined header\"";
const WRONG_VALUE: &str = "-222,\"Data out of range\"";
const TOO_LONG: &str = "-363,\"Input buffer overrun\"";
const QUEUE_OVERFLOW: &str = "-350,\"Queue overflow\"";

/// The instrument.
pub struct Instrument {
    identification: String,
    errors: VecDeque<&'static str>,
    readings: u32,
}

impl Instrument {
    /// An instrument of this model.
    pub fn new(model: &str) -> Instrument {
        // The four fields of *IDN? are separated by commas.
        let model: String = model
            .chars()
            .filter(|c| !matches!(c, ',' | ';' | '\n'))
            .collect();
        Instrument {
            identification: format!("wiregauge,{model},0,{}", env!("CARGO_PKG_VERSION")),
            errors: VecDeque::new(),
            readings: 0,
        }
    }

    /// Takes one line of commands; see [`crate::application::Application::take`].
    pub fn take(&mut self, bytes: &[u8], is_datagram: bool, answer: &mut Vec<u8>) -> usize {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (line, used) = match end {
            Some(at) => (&bytes[..at], at + 1),
            None if is_datagram => (bytes, bytes.len()),
            None if bytes.len() >= LONGEST_LINE => {
                self.report(TOO_LONG);
                return bytes.len();
            }
            None => return 0,
        };
        let begin = answer.len();
        let line = String::from_utf8_lossy(line);
        for command in line.split(';').map(str::trim).filter(|one| !one.is_empty()) {
            let before = answer.len();
            if before > begin {
                answer.push(b';');
            }
            let separated = answer.len();
            self.obey(command, answer);
            if answer.len() == separated {
                answer.truncate(before);
            }
        }
        if answer.len() > begin {
            answer.push(b'\n');
        }
        used
    }

    fn obey(&mut self, command: &str, answer: &mut Vec<u8>) {
        let (header, value) = command.split_once(' ').unwrap_or((command, ""));
        let header = header.trim_start_matches(':').to_ascii_uppercase();
        let mut say = |text: &str| answer.extend_from_slice(text.as_bytes());
        match header.as_str() {
            "*IDN?" => say(&self.identification),
            "*OPC?" => say("1"),
            "*STB?" | "*ESR?" | "*TST?" => say("0"),
            "*CLS" => self.errors.clear(),
            "*RST" => self.readings = 0,
            "SYST:ERR?" | "SYST:ERR:NEXT?" | "SYSTEM:ERROR?" | "SYSTEM:ERROR:NEXT?" => {
                say(self.errors.pop_front().unwrap_or("0,\"No error\""));
            }
            "READ?" | "MEAS:VOLT?" | "MEAS:VOLT:DC?" | "MEASURE:VOLTAGE:DC?" => {
                self.readings = self.readings.wrapping_add(1);
                say(&format!("{:+.6E}", f64::from(self.readings) / 1000.0));
            }
            "TRAC?" | "TRAC:DATA?" | "TRACE:DATA?" | "CURV?" => match value.trim().parse() {
                Ok(bytes) if (1..=MOST_DATA).contains(&bytes) => block(bytes, answer),
                _ => self.report(WRONG_VALUE),
            },
            _ => self.report(UNDEFINED_HEADER),
        }
    }

    fn report(&mut self, error: &'static str) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push_back(error);
        } else if let Some(last) = self.errors.back_mut() {
            *last = QUEUE_OVERFLOW;
        }
    }
}

/// Block data of a definite length (IEEE 488.2, 8.7.9): bytes that count up, newlines among them.
fn block(bytes: usize, answer: &mut Vec<u8>) {
    let digits = bytes.to_string();
    answer.extend_from_slice(format!("#{}{digits}", digits.len()).as_bytes());
    answer.extend((0..bytes).map(|at| at as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(instrument: &mut Instrument, line: &str) -> String {
        let mut answer = Vec::new();
        let used = instrument.take(line.as_bytes(), false, &mut answer);
        assert_eq!(used, line.len());
        String::from_utf8(answer).expect("text")
    }

    #[test]
    fn queries_are_answered_on_one_line_and_commands_are_not() {
        let instrument = &mut Instrument::new("a, b;c");
        let version = env!("CARGO_PKG_VERSION");
        let identification = format!("wiregauge,a bc,0,{version}\n");
        assert_eq!(ask(instrument, "*idn?\r\n"), identification);
        let found = ask(instrument, "READ?;*RST;:MEAS:VOLT:DC?\n");
        assert_eq!(found, "+1.000000E-3;+1.000000E-3\n");
        assert_eq!(ask(instrument, "*CLS\n"), "");
        assert_eq!(
            ask(instrument, "CURV? 12\n"),
            "#212\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t\n\u{b}\n"
        );
    }

    #[test]
    fn errors_stand_in_a_queue_that_overflows() {
        let instrument = &mut Instrument::new("a");
        assert_eq!(ask(instrument, "NOPE;CURV? -1\n"), "");
        for error in [
            "-113,\"Undefined header\"",
            "-222,\"Data out of range\"",
            "0,\"No error\"",
        ] {
            assert_eq!(ask(instrument, "SYST:ERR?\n"), format!("{error}\n"));
        }
        (0..20).for_each(|_| assert_eq!(ask(instrument, "NOPE\n"), ""));
        let errors: Vec<String> = (0..17).map(|_| ask(instrument, "SYST:ERR?\n")).collect();
        assert_eq!(errors[15], "-350,\"Queue overflow\"\n");
        assert_eq!(errors[16], "0,\"No error\"\n");
    }

    #[test]
    fn half_a_line_waits_for_its_end() {
        let instrument = &mut Instrument::new("a");
        assert_eq!(instrument.take(b"*OPC", false, &mut Vec::new()), 0);
        let mut answer = Vec::new();
        assert_eq!(instrument.take(b"*OPC?", true, &mut answer), 5);
        assert_eq!(answer, b"1\n");
    }
}
