//! What fits into a message, and what the bus carries at best.

use super::interface::Timing;
use wiregauge_limits::{CAN_FD_SIZES, Can, CanRates};
use wiregauge_record::{BusLimit, CanOptions};

/// Says what is wrong with a message of so many bytes, and what to do.
pub fn check_message(options: &CanOptions, bytes: u32) -> Result<(), (String, &'static str)> {
    let most = options.max_bytes();
    match (options.isotp, options.fd) {
        (Some(_), _) if bytes > most => Err((
            format!("{bytes} B exceeds the maximum of {most} B of an ISO-TP message"),
            "use smaller sizes",
        )),
        (None, true) if bytes > most => Err((
            format!("{bytes} B exceeds the maximum of {most} B of a CAN FD frame"),
            "use smaller sizes, or --isotp",
        )),
        (None, true) if !CAN_FD_SIZES.contains(&bytes) => Err((
            format!("a CAN FD frame cannot have {bytes} B"),
            "use 1 to 8, 12, 16, 20, 24, 32, 48 or 64 B, or --isotp",
        )),
        (None, false) if bytes > most => Err((
            format!("{bytes} B exceeds the maximum of {most} B of a CAN frame"),
            "use smaller sizes, --fd for up to 64 B, or --isotp for up to 4095 B",
        )),
        _ => Ok(()),
    }
}

/// Bit rates of the interface, or those that were given; the data phase of CAN FD included.
pub fn rates(options: &CanOptions, timing: &Timing) -> Option<CanRates> {
    let nominal = timing.bitrate.or(options.bitrate)?;
    let data = timing
        .data_bitrate
        .or(options.data_bitrate)
        .unwrap_or(nominal);
    let rates = CanRates {
        nominal,
        data: options.fd.then_some(data),
    };
    rates.check().ok().map(|()| rates)
}

/// What the bus carries at best: frames of maximum size.
pub fn limit(options: &CanOptions, timing: &Timing) -> Option<BusLimit> {
    let can = Can {
        rates: rates(options, timing)?,
        extended: options.response_id.is_extended(),
        bytes: if options.fd { 64 } else { 8 },
    };
    can.check().ok()?;
    let mut limit = can.limit().for_run();
    if options.isotp.is_some() {
        // The first byte of a consecutive frame is its number (ISO 15765-2, 9.6.4).
        limit.bytes_s *= f64::from(can.bytes - 1) / f64::from(can.bytes);
        limit.source = format!("{}; ISO-TP: {} B of each", limit.source, can.bytes - 1);
    }
    Some(limit)
}
