//! Flags that commands of both programs have.

mod can;

pub use can::CanArgs;

use clap::Args;

/// Whether files that exist may be overwritten.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ForceArg {
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// Refuses a baud rate that none of these addresses has.
pub fn check_baud<'a>(
    baud: Option<u32>,
    addresses: impl IntoIterator<Item = &'a String>,
) -> anyhow::Result<()> {
    check_serial("--baud", baud.is_some(), addresses)
}

/// Refuses a flag of serial lines where none of these addresses is one.
pub fn check_serial<'a>(
    flag: &str,
    is_given: bool,
    addresses: impl IntoIterator<Item = &'a String>,
) -> anyhow::Result<()> {
    let mut addresses = addresses.into_iter().peekable();
    let first = addresses.peek().map_or("", |address| address.as_str());
    if is_given && !addresses.any(|address| address.starts_with("serial:")) {
        anyhow::bail!("{flag} requires a serial line, such as serial:///dev/ttyACM0, not {first}");
    }
    Ok(())
}
