//! The registry below HKEY_LOCAL_MACHINE: names of keys, values, and the change of a number.

use crate::windows::Value;
use std::io;
use windows_registry::{Key, LOCAL_MACHINE, Type};
use windows_sys::Win32::System::Registry::{
    KEY_QUERY_VALUE, KEY_READ, KEY_SET_VALUE, KEY_WOW64_64KEY, REG_SAM_FLAGS,
};

fn open(path: &str, access: REG_SAM_FLAGS) -> io::Result<Key> {
    let mut options = LOCAL_MACHINE.options();
    checked(options.access(access | KEY_WOW64_64KEY).open(path))
}

/// The error with the system's own code, of which `io::Error` knows the kind; the crate has it in an HRESULT.
fn checked<T>(result: windows_registry::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::from_raw_os_error(error.code().0 & 0xffff))
}

/// Names of the keys below a key.
pub(super) fn keys(path: &str) -> io::Result<Vec<String>> {
    Ok(checked(open(path, KEY_READ)?.keys())?.collect())
}

/// Names and values of a key.
pub(super) fn values(path: &str) -> io::Result<Vec<(String, Value)>> {
    let key = open(path, KEY_READ)?;
    let values = checked(key.values())?;
    Ok(values
        .map(|(name, value)| (name, decoded(&value)))
        .collect())
}

/// Replaces a REG_DWORD that exists.
pub(super) fn set_number(path: &str, name: &str, number: u32) -> io::Result<()> {
    let key = open(path, KEY_QUERY_VALUE | KEY_SET_VALUE)?;
    if checked(key.get_type(name))? != Type::U32 {
        return Err(io::Error::other("it is not a number"));
    }
    checked(key.set_u32(name, number))
}

fn decoded(value: &windows_registry::Value) -> Value {
    match (value.ty(), &value[..]) {
        (Type::U32, &[a, b, c, d]) => Value::Number(u32::from_le_bytes([a, b, c, d])),
        (Type::String | Type::ExpandString, _) => {
            let text = String::from_utf16_lossy(value.as_wide());
            Value::Text(text.trim_end_matches('\0').to_owned())
        }
        (_, bytes) => Value::Bytes(bytes.to_owned()),
    }
}
