//! What cannot be looped is refused before anything is opened.

use super::open;
use super::process::out_of_bounds;
use wiregauge_link::host::{available_bytes, memory_speed};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{LoopPath, LoopPlan, LoopPoint, Stage};

/// The most channels of a device.
const CHANNELS_MOST: u32 = 64;

/// Slower loops are not held against the speed of the memory, which takes 0.2 s to measure: every host
/// that runs this copies more.
const SLOW_BYTES_S: f64 = 100e6;

/// Streams at most: parts smaller than these of a block have nothing left to overlap.
const STREAMS_MOST: u32 = 16;

/// Why a GPU has no biquad, and what to try.
pub(super) const NO_BIQUAD: (&str, &str) = (
    "biquad cannot run on a GPU: each sample depends on the previous one",
    "use fir:TAPS instead, or omit --gpu",
);

/// Why most ways to a GPU are not for every device, and what to try.
pub(super) const NOT_LENT: (&str, &str) = (
    "the rings of this device are memory of its own driver, which cannot be registered with CUDA",
    "use --gpu=pageable, which copies from any memory",
);

/// Refuses what cannot be looped on this host, before anything is opened.
pub fn check(plan: &LoopPlan) -> Result<(), LinkError> {
    check_shape(plan)?;
    if let Some(bytes) = available_bytes() {
        check_room(plan, bytes)?;
    }
    if plan.points.iter().any(|p| p.bytes_s() > SLOW_BYTES_S) {
        check_speed(plan, memory_speed().best_bytes_s)?;
    }
    Ok(())
}

/// What went wrong with which point, and what to try.
fn refuse(plan: &LoopPlan, said: String, hint: impl Into<String>) -> LinkError {
    let doing = format!("cannot plan a loop with {}", plan.address);
    LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint)
}

/// Refuses a plan that no host could run.
fn check_shape(plan: &LoopPlan) -> Result<(), LinkError> {
    let refuse = |said: String, hint: &str| Err(refuse(plan, said, hint));
    if plan.points.is_empty() {
        return refuse(
            "there is no point to measure".into(),
            "use at least one --rate and one --notify",
        );
    }
    if plan.duration_ns == 0 {
        return refuse(
            "a duration of 0 is not valid".into(),
            "use a longer --duration",
        );
    }
    if plan.find && plan.hold_ns == 0 {
        return refuse(
            "a hold time of 0 tests nothing".into(),
            "use a longer --hold",
        );
    }
    if let Some(said) = plan.process.iter().find_map(out_of_bounds) {
        return refuse(said, "use --process with a value in this range");
    }
    for point in &plan.points {
        check_point(plan, point)?;
        check_time(plan, point)?;
        check_path(plan, point.path)?;
    }
    Ok(())
}

/// Refuses what the way of the blocks cannot do.
fn check_path(plan: &LoopPlan, path: LoopPath) -> Result<(), LinkError> {
    let is_biquad = |stage: &Stage| matches!(stage, Stage::Biquad { .. });
    let (said, hint) = match path {
        LoopPath::Streams(streams) if !(1..=STREAMS_MOST).contains(&streams) => (
            format!("a block uses 1 to {STREAMS_MOST} streams of a GPU"),
            format!("use --gpu=streams:1 to streams:{STREAMS_MOST}"),
        ),
        _ if path.is_gpu() && plan.process.iter().any(is_biquad) => {
            (NO_BIQUAD.0.into(), NO_BIQUAD.1.into())
        }
        _ if path.needs_rings() && !open::lends(&plan.address) => {
            (NOT_LENT.0.into(), NOT_LENT.1.into())
        }
        _ => return Ok(()),
    };
    Err(refuse(plan, format!("{path}: {said}"), hint))
}

fn check_point(plan: &LoopPlan, point: &LoopPoint) -> Result<(), LinkError> {
    let LoopPoint {
        channels,
        notify_bytes,
        ring_bytes,
        preload_bytes,
        ..
    } = *point;
    let block = u64::from(notify_bytes);
    let (said, hint) = if point.rate_hz == 0 {
        (
            "0 samples/s is not valid".to_string(),
            "use --rate 1 or more".to_string(),
        )
    } else if channels == 0 || channels > CHANNELS_MOST {
        (
            format!("{channels} channels: a device has 1 to {CHANNELS_MOST}"),
            format!("use --channels 1 to {CHANNELS_MOST}"),
        )
    } else if notify_bytes == 0 {
        (
            "a block of 0 B is not valid".into(),
            format!("use --notify {} or more", point.frame_bytes()),
        )
    } else if !notify_bytes.is_multiple_of(point.frame_bytes()) {
        let frame = point.frame_bytes();
        let s = if channels == 1 { "" } else { "s" };
        (
            format!(
                "a block of {notify_bytes} B is not a whole number of frames: one frame ({channels} \
                 channel{s}) has {frame} B"
            ),
            format!(
                "use --notify {}",
                notify_bytes.div_ceil(frame).saturating_mul(frame)
            ),
        )
    } else if block > ring_bytes {
        (
            format!("a block of {notify_bytes} B does not fit in a ring of {ring_bytes} B"),
            format!("use --ring {} or more, or a smaller --notify", 4 * block),
        )
    } else if !ring_bytes.is_multiple_of(block) {
        (
            format!("a ring of {ring_bytes} B is not a whole number of blocks of {notify_bytes} B"),
            format!(
                "use --ring {}",
                ring_bytes.div_ceil(block).saturating_mul(block)
            ),
        )
    } else if ring_bytes < 2 * block {
        (
            format!(
                "a ring of {ring_bytes} B holds only one block: the device would overwrite it during \
                 processing"
            ),
            format!("use --ring {} or more", 2 * block),
        )
    } else if preload_bytes < block {
        (
            format!(
                "a preload of {preload_bytes} B is less than one block of {notify_bytes} B: the output would \
                 starve before the first block arrives"
            ),
            format!("use --preload {block} or more, or a smaller --notify"),
        )
    } else if preload_bytes > ring_bytes {
        (
            format!("a preload of {preload_bytes} B does not fit in a ring of {ring_bytes} B"),
            format!(
                "use --ring {} or more, or a smaller preload",
                preload_bytes.div_ceil(block).saturating_mul(block)
            ),
        )
    } else if !preload_bytes.is_multiple_of(block) {
        (
            format!(
                "a preload of {preload_bytes} B is not a whole number of blocks of {notify_bytes} B"
            ),
            format!(
                "use --preload {}",
                preload_bytes.div_ceil(block).saturating_mul(block)
            ),
        )
    } else {
        return Ok(());
    };
    Err(refuse(plan, format!("{point}: {said}"), hint))
}

/// Refuses a point in whose time not one block arrives: its run would only wait.
fn check_time(plan: &LoopPlan, point: &LoopPoint) -> Result<(), LinkError> {
    let period_ns = point.period_ns();
    if period_ns <= plan.duration_ns as f64 {
        return Ok(());
    }
    let said = format!(
        "{point}: one block of {} B takes {:.1} s at {} samples/s, longer than the duration of {:.1} s",
        point.notify_bytes,
        period_ns / 1e9,
        point.rate_hz,
        plan.duration_ns as f64 / 1e9
    );
    let hint = "use a smaller --notify, a higher --rate (such as 10M) or a longer --duration";
    Err(refuse(plan, said, hint))
}

/// Refuses rings that would not fit in so many free bytes. Points are measured one after another: the
/// largest counts.
fn check_room(plan: &LoopPlan, available_bytes: u64) -> Result<(), LinkError> {
    let Some(point) = plan.points.iter().max_by_key(|p| p.ring_bytes) else {
        return Ok(());
    };
    let needed = point.ring_bytes.saturating_mul(2);
    if needed <= available_bytes {
        return Ok(());
    }
    let (needed, free) = (needed as f64 / 1e6, available_bytes as f64 / 1e6);
    let said = format!(
        "{point}: two rings of {} B need {needed:.0} MB, but only {free:.0} MB of memory are free",
        point.ring_bytes
    );
    Err(refuse(plan, said, "use a smaller --ring"))
}

/// Refuses rates at which this host cannot even copy the samples once.
fn check_speed(plan: &LoopPlan, memory_bytes_s: f64) -> Result<(), LinkError> {
    let fastest = |a: &&LoopPoint, b: &&LoopPoint| a.bytes_s().total_cmp(&b.bytes_s());
    let Some(point) = plan.points.iter().max_by(fastest) else {
        return Ok(());
    };
    if point.bytes_s() <= memory_bytes_s {
        return Ok(());
    }
    let most = memory_bytes_s / f64::from(point.frame_bytes()) / 1e6;
    let said = format!(
        "{point}: the loop carries {:.0} MB/s, but one thread of this host copies only {:.0} MB/s. The loop \
         must copy each byte from one ring to the other, and the device copies it twice more",
        point.bytes_s() / 1e6,
        memory_bytes_s / 1e6
    );
    let hint = if point.channels > 1 {
        format!("use --rate well below {most:.0}M, or fewer --channels")
    } else {
        format!("use --rate well below {most:.0}M")
    };
    Err(refuse(plan, said, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Aim, HostPlan, LoopWait, Stage};

    fn plan() -> LoopPlan {
        LoopPlan {
            address: "virtual:".into(),
            points: vec![LoopPoint {
                index: 0,
                rate_hz: 1_000_000,
                channels: 2,
                notify_bytes: 4_096,
                ring_bytes: 1 << 20,
                preload_bytes: 8_192,
                aim: Aim::Curve,
                path: LoopPath::Cpu,
            }],
            duration_ns: 1_000_000_000,
            settle_ns: 0,
            find: false,
            hold_ns: 0,
            process: vec![Stage::Copy],
            wait: LoopWait::Sleep,
            calibrate: false,
            gpu_device: 0,
            host: HostPlan::default(),
        }
    }

    fn refused(change: impl Fn(&mut LoopPlan)) -> String {
        let mut plan = plan();
        change(&mut plan);
        let error = check(&plan).expect_err("a plan that cannot be run");
        assert_eq!(error.kind(), LinkErrorKind::Usage);
        let text = error.to_string();
        let holds = text.contains("virtual:") && text.contains("hint:");
        assert!(holds, "{text}");
        text
    }

    fn refused_point(change: impl Fn(&mut LoopPoint)) -> String {
        refused(|plan| change(&mut plan.points[0]))
    }

    #[test]
    fn a_sound_plan_passes() {
        check(&plan()).unwrap();
        let mut tightest = plan();
        let point = &mut tightest.points[0];
        (point.ring_bytes, point.preload_bytes) = (8_192, 8_192);
        check(&tightest).unwrap();
    }

    #[test]
    fn a_block_longer_than_the_run_is_refused() {
        let text = refused_point(|p| p.rate_hz = 10);
        assert!(text.contains("takes 102.4 s at 10 samples/s"), "{text}");
        assert!(text.contains("duration of 1.0 s"), "{text}");
        let mut longest = plan();
        longest.points[0].rate_hz = 1_024;
        check(&longest).unwrap();
    }

    #[test]
    fn a_plan_without_points_or_time_is_refused() {
        assert!(refused(|p| p.points.clear()).contains("no point"));
        assert!(refused(|p| p.duration_ns = 0).contains("--duration"));
        assert!(refused(|p| p.find = true).contains("--hold"));
    }

    #[test]
    fn rates_channels_and_preloads_have_limits() {
        // Other plans are refused in crates/cli/tests/loops.rs.
        assert!(refused_point(|p| p.rate_hz = 0).contains("--rate"));
        assert!(refused_point(|p| p.channels = 65).contains("1 to 64"));
        assert!(refused_point(|p| p.preload_bytes = 2 << 20).contains("--ring 2097152"));
    }

    #[test]
    fn extreme_numbers_are_refused_without_an_overflow() {
        refused_point(|p| p.ring_bytes = u64::MAX);
        refused_point(|p| p.ring_bytes = u64::MAX / 4_096 * 4_096);
        refused_point(|p| p.preload_bytes = u64::MAX);
        refused_point(|p| p.notify_bytes = u32::MAX);
        refused_point(|p| p.rate_hz = u64::MAX);
    }

    #[test]
    fn rings_that_do_not_fit_in_memory_are_refused() {
        let text = refused_point(|p| p.ring_bytes = 1 << 50);
        assert!(text.contains("MB of memory are free"), "{text}");
        check_room(&plan(), 2 << 20).unwrap();
        check_room(&plan(), (2 << 20) - 1).unwrap_err();
    }

    #[test]
    fn a_rate_beyond_the_memory_is_refused_with_one_that_is_not() {
        let text = refused_point(|p| p.rate_hz = 10_000_000_000_000);
        assert!(text.contains("fewer --channels"), "{text}");
        // 4 MB/s of a memory that copies 5 or 3.
        check_speed(&plan(), 5e6).unwrap();
        let text = check_speed(&plan(), 3e6).unwrap_err().to_string();
        assert!(text.contains("copies only 3 MB/s"), "{text}");
    }
}
