//! What a medium can carry at best: USB by speed and kind of transfer, a serial line by baud rate and
//! framing, Ethernet by rate and payload. Arithmetic from the specifications; looks at no device.
//! docs/limits.md gives every formula and its source.

#![forbid(unsafe_code)]
