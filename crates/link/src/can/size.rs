//! What fits into a message.

use wiregauge_limits::CAN_FD_SIZES;
use wiregauge_record::CanOptions;

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
