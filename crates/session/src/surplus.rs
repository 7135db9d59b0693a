//! Bytes that a device adds behind each echo, such as the line end of `println`. They are learned behind the first
//! answer, while nothing else is under way, and believed only once the second answer is followed by the same bytes.

/// More bytes than this behind an answer are no line end.
const MOST: usize = 16;

/// What follows the answers.
#[derive(Debug, Default)]
enum Behind {
    /// Nothing that is known.
    #[default]
    Unknown,
    /// The first answer has come, and what follows it is awaited.
    Listening,
    /// These bytes followed the first answer.
    Known,
}

/// What is known of the bytes behind each answer.
#[derive(Debug, Default)]
pub struct Surplus {
    behind: Behind,
    bytes: [u8; MOST],
    len: usize,
    /// An answer has come, and what should follow it has not.
    due: bool,
    /// Answers that these bytes followed, the first one not counted.
    times: u64,
    /// Answers that they did not follow.
    missing: u64,
    /// Bytes behind the first answer that did not come again.
    stray: u64,
}

/// What the bytes behind an answer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The beginning of the surplus: more must come.
    Begun,
    /// The surplus, of so many bytes.
    Whole(usize),
    /// Something else.
    Other,
}

impl Surplus {
    /// The first answer has come: from now on, what follows it is awaited.
    pub fn listen(&mut self) {
        self.behind = Behind::Listening;
    }

    /// True while what follows the first answer is awaited.
    #[inline]
    pub fn is_listening(&self) -> bool {
        matches!(self.behind, Behind::Listening)
    }

    /// True if so many bytes behind the first answer may be a surplus.
    pub fn may_have(bytes: usize) -> bool {
        bytes <= MOST
    }

    /// What follows the first answer is no surplus.
    pub fn stop_listening(&mut self) {
        if self.is_listening() {
            self.behind = Behind::Unknown;
        }
    }

    /// The line was quiet behind the first answer after these bytes; true if they are taken for a surplus.
    pub fn on_quiet(&mut self, bytes: &[u8]) -> bool {
        let is_one = self.is_listening() && !bytes.is_empty() && Surplus::may_have(bytes.len());
        self.stop_listening();
        if is_one {
            self.behind = Behind::Known;
            self.len = bytes.len();
            self.bytes[..self.len].copy_from_slice(bytes);
        }
        is_one
    }

    /// Its size; 0 if none is known.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes that it still awaits behind the last answer; 0 if none.
    pub fn due(&self) -> usize {
        if self.due { self.len } else { 0 }
    }

    /// An answer has come.
    #[inline]
    pub fn answered(&mut self) {
        self.due = self.len > 0;
    }

    /// The line begins anew: nothing of it will come any more.
    pub fn reset(&mut self) {
        self.due = false;
        self.stop_listening();
    }

    /// What stands behind the last answer, where the surplus is due.
    pub fn follows(&mut self, bytes: &[u8]) -> Follows {
        let come = bytes.len().min(self.len);
        if bytes[..come] != self.bytes[..come] {
            return Follows::Other;
        }
        if come < self.len {
            return Follows::Begun;
        }
        self.due = false;
        self.times += 1;
        Follows::Whole(self.len)
    }

    /// Something else stands there. What was seen only once was no surplus.
    pub fn is_missing(&mut self) {
        self.due = false;
        self.missing += 1;
        if self.times == 0 {
            *self = Surplus {
                stray: self.len as u64,
                ..Surplus::default()
            };
        }
    }

    /// Bytes behind the first answer that are stray, as long as they did not come again.
    pub fn stray(&self) -> u64 {
        match self.times {
            0 => self.stray + self.len as u64,
            _ => self.stray,
        }
    }

    /// What was found, if it came more than once.
    pub fn found(&self) -> Option<wiregauge_record::Surplus> {
        (self.times > 0).then(|| wiregauge_record::Surplus {
            bytes: self.bytes[..self.len].to_vec(),
            times: self.times + 1,
            missing: self.missing,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::codec::{Codec, Generator, Parsed, Verdict};
    use crate::echo::Echo;
    use crate::window::Window;

    /// An echo codec, the exchanges, and the bytes that it has not taken.
    struct Line {
        codec: Echo,
        window: Window,
        left: Vec<u8>,
    }

    impl Line {
        fn new() -> Line {
            Line {
                codec: Echo::new(0, 8, false),
                window: Window::new(16),
                left: Vec::new(),
            }
        }

        fn echo(&mut self, sequence: u64) -> Vec<u8> {
            let mut bytes = vec![0; 8];
            self.codec.request(sequence, &mut bytes);
            bytes
        }

        /// These bytes come; what they were: `0` an intact echo 0, `!` a damaged one, `+2` a surplus, `?` stray.
        fn comes(&mut self, bytes: &[u8]) -> String {
            self.left.extend_from_slice(bytes);
            let mut said = Vec::new();
            while !self.left.is_empty() {
                let (count, what) = match self.codec.parse(&self.left, &self.window) {
                    Parsed::Incomplete => break,
                    Parsed::Stray(count) => (count, "?".to_owned()),
                    Parsed::Rest(count) => (count, String::new()),
                    Parsed::Surplus(count) => (count, format!("+{count}")),
                    Parsed::Answer(answer) => {
                        let sequence = answer.sequence.expect("an exchange of this point");
                        if answer.verdict == Verdict::Intact {
                            self.window.finish(sequence);
                            (answer.consumed, sequence.to_string())
                        } else {
                            self.window.finish_damaged(sequence);
                            (answer.consumed, "!".to_owned())
                        }
                    }
                    Parsed::Malformed(_) => panic!("an echo is never malformed"),
                };
                self.left.drain(..count);
                said.push(what);
            }
            said.retain(|what| !what.is_empty());
            said.join(" ")
        }

        /// The next request is sent, and this comes: its echo and what follows.
        fn exchange(&mut self, behind: &[u8]) -> String {
            let sequence = self.window.stage(0);
            self.window.start(1, 0);
            let echo = self.echo(sequence);
            self.comes(&[&echo, behind].concat())
        }

        /// The first exchange, until the line is quiet.
        fn first(behind: &[u8]) -> Line {
            let mut line = Line::new();
            assert_eq!(line.exchange(b""), "0");
            assert!(line.codec.listen());
            line.comes(behind);
            if line.codec.on_quiet(&line.left.clone()) {
                line.left.clear();
            }
            line
        }

        fn found(&self) -> Option<(Vec<u8>, u64, u64)> {
            let found = self.codec.surplus();
            found.map(|found| (found.bytes, found.times, found.missing))
        }
    }

    #[test]
    fn the_same_bytes_behind_each_echo_are_believed_from_the_second_on() {
        let mut line = Line::first(b"\r\n");
        assert_eq!((line.found(), line.codec.stray_bytes()), (None, 2));
        assert_eq!(line.exchange(b"\r\n"), "1 +2");
        assert_eq!(line.exchange(b"\r"), "2");
        assert_eq!(line.comes(b"\n"), "+2");
        assert_eq!(line.exchange(b"\r\n"), "3 +2");
        assert_eq!(line.found(), Some((b"\r\n".to_vec(), 4, 0)));
        assert_eq!(line.codec.stray_bytes(), 0);
    }

    #[test]
    fn bytes_that_came_once_are_stray_and_never_expected_again() {
        let mut line = Line::first(b"\r\n");
        assert_eq!(line.exchange(b""), "1");
        assert_eq!(line.exchange(b""), "2");
        assert_eq!((line.found(), line.codec.stray_bytes()), (None, 2));
        // The same bytes again are a fault as any other.
        assert_eq!(line.exchange(b"\r\n"), "3");
        assert_eq!(line.exchange(b""), "! 4");
        let mut other = Line::first(b"\r\n");
        assert_eq!(other.exchange(b"\n\r"), "1");
        assert_eq!(other.exchange(b""), "! 2");
        assert_eq!((other.found(), other.codec.stray_bytes()), (None, 2));
    }

    #[test]
    fn a_byte_more_or_less_than_the_surplus_is_a_fault() {
        for (behind, said) in [(&b"\r\n\n"[..], "2 +2"), (b"\n", "2"), (b"\rx\n", "2")] {
            let mut line = Line::first(b"\r\n");
            assert_eq!(line.exchange(b"\r\n"), "1 +2");
            assert_eq!(line.exchange(behind), said);
            assert_eq!(line.exchange(b"\r\n"), "! 3 +2", "{behind:?}");
        }
        // One that lacks all of it is counted.
        let mut line = Line::first(b"\r\n");
        for (behind, said) in [(&b"\r\n"[..], "1 +2"), (b"", "2"), (b"\r\n", "3 +2")] {
            assert_eq!(line.exchange(behind), said);
        }
        assert_eq!(line.found(), Some((b"\r\n".to_vec(), 3, 1)));
    }

    #[test]
    fn a_damaged_echo_has_its_surplus_too() {
        let mut line = Line::first(b"\r\n");
        assert_eq!(line.exchange(b"\r\n"), "1 +2");
        line.window.stage(0);
        line.window.start(1, 0);
        let mut echo = line.echo(2);
        echo[5] ^= 1;
        assert_eq!(line.comes(&[&echo[..], b"\r\n"].concat()), "!");
        assert_eq!(line.exchange(b"\r\n"), "3 +2");
    }

    #[test]
    fn a_loss_while_a_surplus_has_begun_leaves_the_echoes_in_step() {
        let mut line = Line::first(b"\r\n");
        assert_eq!(line.exchange(b"\r\n"), "1 +2");
        assert_eq!(line.exchange(b"\r"), "2");
        line.codec.abandon_partial(line.left.len());
        line.window.stage(0);
        line.window.start(1, 0);
        let mut echo = line.echo(3);
        echo[5] ^= 1;
        assert_eq!(line.comes(&echo), "!");
    }

    #[test]
    fn an_echo_is_never_a_surplus() {
        // The first comes twice.
        let mut line = Line::new();
        line.exchange(b"");
        assert!(line.codec.listen());
        let echo = line.echo(0);
        assert_eq!(line.comes(&echo), "0");
        assert!(!line.codec.is_listening());
        // Behind the first stand the bytes of the third.
        let third = line.echo(2);
        let mut line = Line::first(&third);
        assert_eq!(line.exchange(&third), "1 +8");
        assert_eq!(line.exchange(b""), "2");
    }

    #[test]
    fn too_many_bytes_are_no_surplus() {
        let line = Line::first(&[7; 16]);
        assert_eq!(line.codec.stray_bytes(), 16);
        let line = Line::first(&[7; 17]);
        assert!(!line.codec.is_listening());
        assert_eq!(line.codec.stray_bytes(), 0);
    }
}
