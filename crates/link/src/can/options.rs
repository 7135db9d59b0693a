//! What the options of a CAN link must be.

use crate::Address;
use crate::error::{LinkError, LinkErrorKind};
use wiregauge_limits::CanRates;
use wiregauge_record::{CanOptions, LinkOptions};

/// Refuses options that no CAN link has.
pub fn check_options(address: &Address, options: &LinkOptions) -> Result<CanOptions, LinkError> {
    let usage = |said: &str, hint: &str| {
        let doing = format!("cannot open {address}");
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    let Some(options) = options.can else {
        return usage(
            "it requires the identifiers of requests and responses",
            "wiregauge exchange and serve have --request-id and --response-id",
        );
    };
    if options.request_id == options.response_id {
        return usage(
            "request and response have the same identifier: two nodes must not send the same one",
            "use the identifiers that the device documents",
        );
    }
    if let Some(nominal) = options.bitrate {
        let rates = CanRates {
            nominal,
            data: options.data_bitrate,
        };
        if let Err(refused) = rates.check() {
            return usage(
                &refused.to_string(),
                "use the bit rates of the bus, such as --bitrate 500k",
            );
        }
    }
    Ok(options)
}
