//! The hint of the error of a device that is in use: how that use ends.

/// The holder of a device, if this process has it open.
pub const THIS_PROCESS: &str = "this process";

/// How a process, in the words of `platform::holder`, stops using a device.
pub fn hint(who: &str) -> &'static str {
    match who {
        THIS_PROCESS => "this program opened it before: close it there first, or use it there",
        _ => "wait until that process ends, or stop it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_opens_a_device_twice_is_not_advised_to_wait_for_its_own_end() {
        assert!(hint(THIS_PROCESS).contains("close it there"));
        assert!(hint("process 12 (octave)").contains("wait until that process ends"));
    }
}
