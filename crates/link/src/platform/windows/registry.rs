//! Reads the registry: keys below HKEY_LOCAL_MACHINE, and their text values.

#![allow(unsafe_code)]

use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_LOCAL_MACHINE, KEY_READ, REG_SZ, RegCloseKey, RegEnumKeyExW, RegEnumValueW,
    RegOpenKeyExW,
};

/// Characters of a name at most (255 for keys, 16,383 for values), and of a value that is read.
const LONGEST: usize = 16 << 10;

/// An opened key.
pub struct Key(HKEY);

impl Key {
    /// The key at this path; `None` if it is not there or may not be read.
    pub fn open(path: &str) -> Option<Key> {
        let path: Vec<u16> = path.encode_utf16().chain([0]).collect();
        let mut key = std::ptr::null_mut();
        // SAFETY: the path ends with 0, and the system writes one handle to `key`.
        let code =
            unsafe { RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.as_ptr(), 0, KEY_READ, &mut key) };
        (code == 0).then_some(Key(key))
    }

    /// Names of the keys below.
    pub fn keys(&self) -> Vec<String> {
        let mut name = vec![0_u16; LONGEST];
        let mut names = Vec::new();
        loop {
            let mut length = LONGEST as u32;
            let none = std::ptr::null_mut();
            // SAFETY: the system writes at most `length` characters to `name`, which is that long; null is allowed for
            // what is not wanted.
            let code = unsafe {
                RegEnumKeyExW(
                    self.0,
                    names.len() as u32,
                    name.as_mut_ptr(),
                    &mut length,
                    std::ptr::null(),
                    none,
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                )
            };
            if code != 0 {
                return names;
            }
            names.push(String::from_utf16_lossy(&name[..length as usize]));
        }
    }

    /// Names and values of its texts.
    pub fn texts(&self) -> Vec<(String, String)> {
        let (mut name, mut value) = (vec![0_u16; LONGEST], vec![0_u16; LONGEST]);
        let mut texts = Vec::new();
        for index in 0.. {
            let (mut length, mut bytes, mut kind) = (LONGEST as u32, 2 * LONGEST as u32, 0);
            // SAFETY: the system writes at most `length` characters to `name` and `bytes` bytes to `value`, which are
            // that long.
            let code = unsafe {
                RegEnumValueW(
                    self.0,
                    index,
                    name.as_mut_ptr(),
                    &mut length,
                    std::ptr::null(),
                    &mut kind,
                    value.as_mut_ptr().cast(),
                    &mut bytes,
                )
            };
            if code != 0 {
                break;
            }
            if kind == REG_SZ {
                let text = String::from_utf16_lossy(&value[..bytes as usize / 2]);
                let name = String::from_utf16_lossy(&name[..length as usize]);
                texts.push((name, text.trim_end_matches('\0').to_owned()));
            }
        }
        texts
    }

    /// One of its texts.
    pub fn text(&self, name: &str) -> Option<String> {
        let mut texts = self.texts().into_iter();
        let found = texts.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, text)| text)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is open, and nobody uses it after this.
        unsafe { RegCloseKey(self.0) };
    }
}
