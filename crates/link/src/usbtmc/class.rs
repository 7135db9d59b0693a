//! The class requests of USBTMC on endpoint 0 (USBTMC 1.0, section 4.2), as the host sends them: they bring an
//! instrument back to a known state after a reply that did not come.

use nusb::transfer::{ControlIn, ControlType, Recipient, TransferError};
use nusb::{Interface, MaybeFuture};
use std::time::Duration;

/// bRequest, table 15.
pub mod requests {
    /// Ends a transfer on bulk OUT.
    pub const INITIATE_ABORT_BULK_OUT: u8 = 1;
    /// How far that is.
    pub const CHECK_ABORT_BULK_OUT_STATUS: u8 = 2;
    /// Ends a transfer on bulk IN.
    pub const INITIATE_ABORT_BULK_IN: u8 = 3;
    /// How far that is.
    pub const CHECK_ABORT_BULK_IN_STATUS: u8 = 4;
    /// Empties all buffers.
    pub const INITIATE_CLEAR: u8 = 5;
    /// How far that is.
    pub const CHECK_CLEAR_STATUS: u8 = 6;
    /// What the interface can do.
    pub const GET_CAPABILITIES: u8 = 7;
    /// USB488: the status byte.
    pub const READ_STATUS_BYTE: u8 = 128;
}

/// USBTMC_status, table 16.
pub mod status {
    /// Done.
    pub const SUCCESS: u8 = 1;
    /// Not yet done.
    pub const PENDING: u8 = 2;
    /// It failed, for a reason not in the table.
    pub const FAILED: u8 = 0x80;
    /// The transfer to abort is not in progress.
    pub const NOT_IN_PROGRESS: u8 = 0x81;
}

/// A control request to a healthy device takes milliseconds.
const CONTROL: Duration = Duration::from_millis(500);

/// How often, and how long apart, the progress of a request is asked for.
const CHECKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// What an instrument says of its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Done, or not begun because there is nothing to do.
    Done,
    /// It has bytes on bulk IN that must be read first.
    ReadFirst,
}

/// The requests of one interface.
pub struct Requests<'a> {
    /// The interface.
    pub interface: &'a Interface,
    /// bInterfaceNumber.
    pub number: u8,
    /// Address of its bulk IN endpoint.
    pub bulk_in: u8,
}

impl Requests<'_> {
    /// Begins to empty the instrument's buffers.
    pub fn begin_clear(&self) -> Result<bool, TransferError> {
        let index = u16::from(self.number);
        let answer = self.ask(
            Recipient::Interface,
            requests::INITIATE_CLEAR,
            0,
            (index, 1),
        )?;
        Ok(answer.first() == Some(&status::SUCCESS))
    }

    /// How far that is; waits while it goes on.
    pub fn check_clear(&self) -> Result<Progress, TransferError> {
        let index = u16::from(self.number);
        self.check(
            Recipient::Interface,
            requests::CHECK_CLEAR_STATUS,
            (index, 2),
        )
    }

    /// Begins to abort the transfer that answers the request of this tag; false if it is not in progress.
    pub fn begin_abort(&self, tag: u8) -> Result<bool, TransferError> {
        let index = u16::from(self.bulk_in);
        let (request, value) = (requests::INITIATE_ABORT_BULK_IN, u16::from(tag));
        let answer = self.ask(Recipient::Endpoint, request, value, (index, 2))?;
        Ok(answer.first() == Some(&status::SUCCESS))
    }

    /// How far that is; waits while it goes on.
    pub fn check_abort(&self) -> Result<Progress, TransferError> {
        let index = u16::from(self.bulk_in);
        let request = requests::CHECK_ABORT_BULK_IN_STATUS;
        self.check(Recipient::Endpoint, request, (index, 8))
    }

    fn check(
        &self,
        recipient: Recipient,
        request: u8,
        index_and_length: (u16, u16),
    ) -> Result<Progress, TransferError> {
        for _ in 0..CHECKS {
            let answer = self.ask(recipient, request, 0, index_and_length)?;
            match answer[..] {
                [status::PENDING, flags, ..] if flags & 1 != 0 => return Ok(Progress::ReadFirst),
                [status::PENDING, ..] => std::thread::sleep(PAUSE),
                _ => return Ok(Progress::Done),
            }
        }
        Ok(Progress::Done)
    }

    fn ask(
        &self,
        recipient: Recipient,
        request: u8,
        value: u16,
        (index, length): (u16, u16),
    ) -> Result<Vec<u8>, TransferError> {
        let request = ControlIn {
            control_type: ControlType::Class,
            recipient,
            request,
            value,
            index,
            length,
        };
        self.interface.control_in(request, CONTROL).wait()
    }
}
