//! An endpoint with what limits it, and what the frames of a bus were used for.

use crate::endpoint::Endpoint;
use crate::packet::Speed;
use crate::small::SmallPackets;
use crate::verdict::{self, Verdict};
use serde::Serialize;

/// An endpoint with what limits it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Its figures.
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// What limits it; none for endpoint 0, and if its packets are too few to say.
    pub verdict: Option<Verdict>,
    /// The same in a sentence, or why there is none; none for endpoint 0.
    pub words: Option<String>,
    /// Where the time of a packet goes, if its packets are small.
    pub small_packets: Option<SmallPackets>,
}

/// Shares of the time of all frames, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Shares {
    /// Transactions with data.
    pub data: f64,
    /// Transactions that a device answered NAK.
    pub nak: f64,
    /// Starts of frame.
    pub sof: f64,
    /// All else: transactions that failed, splits, `PING`.
    pub other: f64,
    /// Nothing.
    pub idle: f64,
    /// What was used of the frame that was used most.
    pub busiest: f64,
}

impl Judged {
    /// Of the endpoints of a bus.
    pub(crate) fn all(endpoints: Vec<Endpoint>, speed: Speed) -> Vec<Judged> {
        let judged: Vec<(Option<Verdict>, Option<String>)> = endpoints
            .iter()
            .map(|one| {
                let has_words = one.endpoint != 0;
                let verdict = verdict::of_endpoint(one).filter(|_| has_words);
                let responder = endpoints
                    .iter()
                    .find(|other| verdict::responds(other, one))
                    .map(|other| other.endpoint);
                let words = has_words.then(|| verdict::words(one, verdict, responder));
                (verdict, words)
            })
            .collect();
        endpoints
            .into_iter()
            .zip(judged)
            .map(|(endpoint, (verdict, words))| Judged {
                small_packets: SmallPackets::of(&endpoint, speed),
                endpoint,
                verdict,
                words,
            })
            .collect()
    }
}
