//! The codes of the warnings, and what `wiregauge help CODE` says of each. A code keeps its meaning
//! and is not used again.

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Such as `W07`.
    pub code: &'static str,
    /// The finding, in general.
    pub finding: &'static str,
    /// What it means for the figures.
    pub consequence: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// False if it changes no answer: then it is named by default, and printed with `--full`.
    pub is_printed: bool,
}

/// It changes an answer.
const PRINTED: bool = true;
/// It changes none.
const NAMED: bool = false;

/// Declares the codes: a warning without a code, or a code without its explanation, does not
/// compile, and the compiler reports a code that no warning has.
macro_rules! codes {
    ($($name:ident $code:literal $printed:ident: $finding:literal, $consequence:literal, $remedy:literal;)*) => {
        /// Which warning it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::tables) enum Code {
            $(#[doc = $finding] $name,)*
        }

        impl Code {
            /// What it means.
            pub(in crate::tables) fn explained(self) -> &'static Explained {
                &WARNINGS[self as usize]
            }
        }

        /// Every code, in ascending order.
        pub const WARNINGS: &[Explained] = &[
            $(Explained {
                code: $code,
                finding: $finding,
                consequence: $consequence,
                remedy: $remedy,
                is_printed: $printed,
            },)*
        ];
    };
}

codes! {
    Lost "W01" PRINTED: "Exchanges were not answered in time, or bytes of a stream were lost.",
        "RTT figures are for the answered exchanges. The rate of a stream is that of what arrived.",
        "Check cable, --baud and the buffers of the device. Exchanges: a lower --depth where the run lost less at it, a \
         lower --rate, or a longer --timeout. Streams: --rate computes the buffer that a device needs; use flow control OUT (NAK, RTS/CTS, \
         XOFF).";
    Damaged "W02" PRINTED: "Answers have wrong bytes, or bytes of a stream are corrupted, duplicated or were never sent.",
        "The link is not reliable. These exchanges are counted, but not part of the RTT figures.",
        "Check cable, --baud, flow control and the buffers of the device.";
    Cut "W03" PRINTED: "A point was not measured to the end.",
        "The samples taken so far are kept, and the figures are of those.",
        "Measure again without an interruption.";
    Shallow "W04" PRINTED: "Fewer requests or transfers were outstanding than --depth or --queue allows.",
        "TRT and throughput are those of the achieved depth or queue.",
        "Exchanges: --wait spin, --priority, smaller sizes, or a --count of at least 10 times the depth. Streams: \
         larger --transfer sizes, --priority, or --no-check.";
    FewSamples "W05" NAMED: "A percentile has no upper confidence bound, or the rate of a stream has no interval.",
        "The true value may be much larger. There are too few independent samples, or the times or the rate drift. \
         With fewer than 200 independent samples, the other intervals may contain the true value less often than 95 \
         times in 100.",
        "Too few: use the --count or --duration that the warning names. Drift: find what changes (RTT or rate over time \
         in wiregauge report), and repeat the run.";
    Behind "W06" PRINTED: "Exchanges started more than a period late.",
        "RTT figures leave out that delay (coordinated omission); times from the intended start include it.",
        "Use the figures from the intended start (--full). Waited: a longer --interval. Host: a less loaded host; \
         where the device is not on this host, try --priority 50.";
    HostDelayed "W07" NAMED: "The host delayed the measuring thread.",
        "The tails (p99, max) include these delays.",
        "Hypervisor: measure on a real machine, or on a virtual machine with CPUs of its own. Other programs: a \
         less loaded host, --pin CPU with another or an isolated one (isolcpus, cpuset); where the device is not on this \
         host, try --priority 50. Jumps: disable power management and SMIs in the firmware. wiregauge doctor finds what disturbs it.";
    Storage "W11" PRINTED: "The measuring thread waited for the storage.",
        "The rate is that of the storage. A device without flow control may have lost data meanwhile.",
        "Use a faster disk, fewer exchanges, or no --keep-data; read the pipe faster, or leave out --record.";
    EndpointStalled "W12" PRINTED: "The device stalled an endpoint.",
        "Outstanding exchanges or transfers were lost.",
        "The device rejects the requests: check sizes, --protocol and its firmware.";
    NearFloor "W13" NAMED: "The median RTT is close to that of a local echo, without the device.",
        "The times are mostly those of the host.",
        "Use --wait spin, which makes them shorter, or a faster host.";
    Remark "W15" PRINTED: "The link or the host reported a problem at the start of the run.",
        "A requested setting may not be in effect.",
        "The line of the warning names the setting and the reason.";
    UntrueReport "W16" PRINTED: "What the device reports cannot be true, or is missing.",
        "What cannot be true is in no figure; the others may be wrong as well. Without a report of what a device \
         received, the number of lost bytes is unknown, and the rate is the host's.",
        "Check where the firmware reads its clock, how it counts bytes, tick_hz and tick_bits. A responder must report \
         its counts at the end of a stream (docs/protocol.md).";
    AboveLimit "W17" PRINTED: "More was counted than the link carried.",
        "Buffers in between filled (OUT) or were emptied (IN), a clock or a count of the device is wrong, or the limit is \
         not that of what carried the data, as on an emulated bus. The rate OUT is that of the device where its count is \
         within the limit; otherwise no rate is certain to be that of the wire.",
        "Use a longer --settle and --duration. Check the speed that the link reports (wiregauge devices), and tick_hz \
         of the device. Ignore the share of the limit if the bus is emulated.";
    Silence "W18" PRINTED: "Echoes come only after a constant silence.",
        "A device that waits for the end of a line (readBytesUntil, readStringUntil) answers only after its own timeout.",
        "Use --protocol lines, which ends each request with a newline, or a protocol without line ends in the device.";
    Unasked "W19" PRINTED: "Bytes of the device belong to no response.",
        "Echoes: if the first two are followed by the same 1 to 16 bytes, as println adds \\r\\n, those are in no figure; \
         others displace the later echoes, which count as corrupted. Where responses do not say which request they \
         answer, what comes first is taken for the response, so RTTs may be those of other data.",
        "Echoes: use --protocol lines, or let the device send back what it received and nothing else. Queries: turn their \
         echo off, or take echo and answer as one reply (--protocol text --idle); stop what the device sends by itself, \
         or start exchanges with pauses (--interval); check the replies with --protocol text --expect.";
    Overruns "W23" PRINTED: "The device could not send or receive data in time.",
        "Its buffer is too small for the gaps of this host, or the device is too slow.",
        "Use --rate to compute the buffer that it needs; --priority and --queue make the gaps shorter.";
    Unexpected "W32" PRINTED: "Replies are not the expected ones.",
        "--expect does not match them, or Modbus answered with an exception, from another unit or to another request. \
         They are not part of the RTT figures.",
        "See what they are: wiregauge show RUN --full. Check the queries, --unit, the addresses, and --expect.";
    InstrumentErrors "W33" PRINTED: "The error queue of the instrument is not empty.",
        "A query that the instrument rejects may be answered at another speed, or not at all.",
        "Check the queries in the manual of the instrument; send *CLS to clear older errors.";
    PatternJumps "W34" PRINTED: "The pattern of a raw stream jumps.",
        "Bytes were lost, repeated or inserted there. The pattern repeats, so that it does not show how many.",
        "Try a larger buffer or flow control in the device, --queue or --priority here.";
    CanErrors "W36" PRINTED: "The CAN bus, or the socket, had errors.",
        "An exchange without an answer for such a reason is lost.",
        "Not acknowledged: no other node is on the bus, or its bit rate differs. Check termination and wiring. Lost at \
         the socket: use --priority, or a lower --depth.";
    LoopStalled "W40" PRINTED: "A loop lost input, or its output had no data, although its rings should exceed any delay.",
        "The lowest latency without a stall is longer than shown.",
        "Use a larger --ring, --priority, or a lower --rate.";
    PreloadTooShort "W41" PRINTED: "A preload was too short.",
        "Input was lost, or the output had no data.",
        "Requested: a longer --preload, or --find. One of the tested: longer runs (--duration, --hold). Every tested one: \
         --priority, --pin, or a less loaded machine.";
    WrongOutput "W44" PRINTED: "The output is not the processed input, delayed by the preload.",
        "The latency in the table is wrong.",
        "Report this with the run: the device or the loop loses or repeats data.";
    Unverified "W45" PRINTED: "The output of a loop was not checked.",
        "The latency in the table was not checked either.",
        "Use a cable from output to input; check volume and gain (alsamixer). Or a longer --duration, or a longer preload.";
    Busy "W47" PRINTED: "Processing takes nearly all of the time.",
        "There is no reserve for delays.",
        "Use a lower --rate, fewer stages, or a larger --notify.";
    Throttled "W48" PRINTED: "The loop's thread runs longer at real-time priority than the kernel allows.",
        "The kernel throttles it for the rest of each second.",
        "Use --wait sleep, or hybrid with a shorter spin, a lower --rate, or sysctl kernel.sched_rt_runtime_us=-1.";
    DeviceLate "W49" PRINTED: "The virtual device, a program on this host, was late.",
        "The delays of the loop include this.",
        "Use `virtual`, which needs no CPU time of its own and is never late, or --priority.";
    FewBlocks "W50" PRINTED: "Too few blocks for rare delays.",
        "The tail of the delays is not known.",
        "Use a longer --duration.";
    NoExtrapolation "W60" PRINTED: "A tail was not extrapolated.",
        "Miss rates below 1/N, with N measured cycles, are not estimated.",
        "The line of the warning names the reason and what helps (docs/deadline.md).";
    MissedUnanswered "W61" PRINTED: "Exchanges without a correct answer in time are missed cycles.",
        "They are in the miss rate. Where a tail was fitted, it is that of the correct answers only.",
        "Find the cause of the losses first: wiregauge show RUN.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_unique_ascending_and_explained_in_sentences() {
        assert!(WARNINGS.is_sorted_by(|a, b| a.code < b.code));
        for one in WARNINGS {
            let digits = one.code.strip_prefix('W').expect("W and a number");
            assert!(digits.len() == 2 && digits.parse::<u8>().is_ok(), "{one:?}");
            for text in [one.finding, one.consequence, one.remedy] {
                assert!(text.ends_with('.') && text.len() > 10, "{one:?}");
            }
        }
    }
}
