//! Names of databases. They become names of folders, so what is allowed is what every file system takes.

use crate::limits::NAME_SIZE_MAX;
use crate::{Error, Result};

/// Names that some system keeps for devices, whatever the ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks a name.
pub(crate) fn check(name: &str) -> Result<()> {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let rule = if name.is_empty() {
        "it is empty"
    } else if name.len() > NAME_SIZE_MAX {
        "it is longer than 128 characters"
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        "Only letters, digits and characters ('_', '-', '.') are allowed."
    } else if name.bytes().all(|byte| byte == b'.') {
        "it has nothing but dots"
    } else if name.ends_with('.') {
        "it ends with a dot"
    } else if DEVICES.contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt") {
        "it is the name of a device"
    } else {
        return Ok(());
    };
    Err(Error::BadName { name: name.chars().take(NAME_SIZE_MAX).collect(), rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for name in ["a", "Shop.2024-x_y", &"x".repeat(128), "console", "com10", "con1", ".hidden"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a b", "ä", &"x".repeat(129), "con", "NUL.txt", "COM1", "lpt9.x", "a."] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
