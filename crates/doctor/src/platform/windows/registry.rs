//! The registry below HKEY_LOCAL_MACHINE: names of keys, values, and the change of a number.

#![allow(unsafe_code)]

use crate::windows::Value;
use std::io;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, ERROR_NO_MORE_ITEMS};
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_LOCAL_MACHINE, KEY_QUERY_VALUE, KEY_READ, KEY_SET_VALUE, KEY_WOW64_64KEY, REG_DWORD,
    REG_EXPAND_SZ, REG_SAM_FLAGS, REG_SZ, RegCloseKey, RegEnumKeyExW, RegEnumValueW, RegOpenKeyExW,
    RegQueryValueExW, RegSetValueExW,
};

/// Characters of a name at most (255 for keys, 16,383 for values), and of a value that is read.
const LONGEST: usize = 16 << 10;

/// An opened key.
pub(super) struct Key(HKEY);

/// The error of a code; 0 is none.
fn checked(code: u32) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code as i32)),
    }
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

impl Key {
    /// The key at this path, to be read.
    pub(super) fn open(path: &str) -> io::Result<Key> {
        Key::open_for(path, KEY_READ)
    }

    /// The key at this path, to change its values.
    pub(super) fn open_to_change(path: &str) -> io::Result<Key> {
        Key::open_for(path, KEY_QUERY_VALUE | KEY_SET_VALUE)
    }

    fn open_for(path: &str, access: REG_SAM_FLAGS) -> io::Result<Key> {
        let path = wide(path);
        let mut key = null_mut();
        // SAFETY: the path ends with 0, and the system writes one handle to `key`.
        checked(unsafe {
            RegOpenKeyExW(
                HKEY_LOCAL_MACHINE,
                path.as_ptr(),
                0,
                access | KEY_WOW64_64KEY,
                &mut key,
            )
        })?;
        Ok(Key(key))
    }

    /// Names of the keys below.
    pub(super) fn keys(&self) -> io::Result<Vec<String>> {
        let mut name = vec![0_u16; LONGEST];
        let mut names = Vec::new();
        loop {
            let mut length = LONGEST as u32;
            // SAFETY: the system writes at most `length` characters to `name`, which is that long; null is allowed for
            // what is not wanted.
            let code = unsafe {
                RegEnumKeyExW(
                    self.0,
                    names.len() as u32,
                    name.as_mut_ptr(),
                    &mut length,
                    null(),
                    null_mut(),
                    null_mut(),
                    null_mut(),
                )
            };
            if code == ERROR_NO_MORE_ITEMS {
                return Ok(names);
            }
            checked(code)?;
            names.push(String::from_utf16_lossy(&name[..length as usize]));
        }
    }

    /// Names and values. Of a value that is longer than anything a check reads, only the name.
    pub(super) fn values(&self) -> io::Result<Vec<(String, Value)>> {
        let (mut name, mut value) = (vec![0_u16; LONGEST], vec![0_u8; 2 * LONGEST]);
        let mut values = Vec::new();
        loop {
            let (mut length, mut bytes) = (LONGEST as u32, 2 * LONGEST as u32);
            let mut kind = 0;
            // SAFETY: the system writes at most `length` characters to `name` and `bytes` bytes to `value`, which are
            // that long.
            let code = unsafe {
                RegEnumValueW(
                    self.0,
                    values.len() as u32,
                    name.as_mut_ptr(),
                    &mut length,
                    null(),
                    &mut kind,
                    value.as_mut_ptr(),
                    &mut bytes,
                )
            };
            match code {
                ERROR_NO_MORE_ITEMS => return Ok(values),
                ERROR_MORE_DATA => bytes = 0,
                code => checked(code)?,
            }
            let name = &name[..(length as usize).min(LONGEST)];
            let end = name.iter().position(|unit| *unit == 0);
            let name = String::from_utf16_lossy(&name[..end.unwrap_or(name.len())]);
            values.push((name, decoded(kind, &value[..bytes as usize])));
        }
    }

    /// Replaces a REG_DWORD that exists.
    pub(super) fn set_number(&self, name: &str, number: u32) -> io::Result<()> {
        let name = wide(name);
        let mut kind = 0;
        // SAFETY: the name ends with 0, and the system writes the type alone.
        checked(unsafe {
            RegQueryValueExW(
                self.0,
                name.as_ptr(),
                null(),
                &mut kind,
                null_mut(),
                null_mut(),
            )
        })?;
        if kind != REG_DWORD {
            return Err(io::Error::other("it is not a number"));
        }
        let bytes = number.to_le_bytes();
        // SAFETY: the name ends with 0, and the system reads as many bytes as there are.
        checked(unsafe {
            RegSetValueExW(
                self.0,
                name.as_ptr(),
                0,
                REG_DWORD,
                bytes.as_ptr(),
                bytes.len() as u32,
            )
        })
    }
}

fn decoded(kind: u32, bytes: &[u8]) -> Value {
    match (kind, bytes) {
        (REG_DWORD, &[a, b, c, d]) => Value::Number(u32::from_le_bytes([a, b, c, d])),
        (REG_SZ | REG_EXPAND_SZ, _) => {
            let units = bytes.chunks_exact(2);
            let units: Vec<u16> = units
                .map(|two| u16::from_le_bytes([two[0], two[1]]))
                .collect();
            let text = String::from_utf16_lossy(&units);
            Value::Text(text.trim_end_matches('\0').to_owned())
        }
        _ => Value::Bytes(bytes.to_owned()),
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is open, and nobody uses it after this.
        unsafe { RegCloseKey(self.0) };
    }
}
