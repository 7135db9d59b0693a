//! What is known of an open device.

use crate::device::{self, wg_device};
use crate::failure::Failure;
use crate::pointers::Place;
use crate::text::put_text;
use std::ffi::c_char;
use wiregauge_record::Responder;

/// Text: the address used to open it.
pub const WG_ABOUT_ADDRESS: i32 = 1;
/// Text: the name that it reports; empty without the wiregauge protocol.
pub const WG_ABOUT_RESPONDER: i32 = 2;
/// Text: the bus that it reports, such as "high-speed"; empty if it reports none.
pub const WG_ABOUT_BUS: i32 = 3;
/// Text: settings of the link, one line "name: value" each.
pub const WG_ABOUT_SETTINGS: i32 = 4;
/// Number: the largest payload of a request, in bytes.
pub const WG_ABOUT_LARGEST_REQUEST: i32 = 5;
/// Number: the largest payload of a reply, in bytes.
pub const WG_ABOUT_LARGEST_REPLY: i32 = 6;
/// Number: clock ticks per second; 0 without a clock.
pub const WG_ABOUT_TICK_HZ: i32 = 7;
/// Number: width of the tick counter in bits; 0 without a clock.
pub const WG_ABOUT_TICK_BITS: i32 = 8;
/// Number: its abilities, as in HELLO (docs/protocol.md); 0 without the wiregauge protocol.
pub const WG_ABOUT_ABILITIES: i32 = 9;

/// A text about an open device: `what` is a WG_ABOUT_... of type text. `text`, `room` and `length` are as
/// for wg_device_error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_about_text(
    device: *mut wg_device,
    what: i32,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    device::with(device, |held| {
        let about = held.device.about();
        let responder = about.responder.as_ref();
        let found = match what {
            WG_ABOUT_ADDRESS => about.address.clone(),
            WG_ABOUT_RESPONDER => responder.map_or_else(String::new, |r| r.name.clone()),
            WG_ABOUT_BUS => responder.and_then(|r| r.bus.clone()).unwrap_or_default(),
            WG_ABOUT_SETTINGS => {
                let settings = about.link.settings.iter();
                let lines: Vec<_> = settings
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect();
                lines.join("\n")
            }
            _ => return Err(no_such("text", what)),
        };
        // SAFETY: the caller's pointers are as the header says.
        unsafe { put_text(&found, text, room, length) }
    })
}

/// A number about an open device: `what` is a WG_ABOUT_... of type number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_about_number(
    device: *mut wg_device,
    what: i32,
    number: *mut u64,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointer is as the header says.
        let number = unsafe { Place::needed(number, "number") }?;
        let about = held.device.about();
        let of = |get: fn(&Responder) -> u64| about.responder.as_ref().map_or(0, get);
        number.put(match what {
            WG_ABOUT_LARGEST_REQUEST => about.largest_request as u64,
            WG_ABOUT_LARGEST_REPLY => about.largest_reply as u64,
            WG_ABOUT_TICK_HZ => of(|r| r.tick_hz),
            WG_ABOUT_TICK_BITS => of(|r| r.tick_bits.into()),
            WG_ABOUT_ABILITIES => of(|r| r.abilities.into()),
            _ => return Err(no_such("number", what)),
        });
        Ok(())
    })
}

fn no_such(kind: &str, what: i32) -> Failure {
    Failure::argument(format!("unknown {kind} number {what}; see WG_ABOUT_..."))
}
