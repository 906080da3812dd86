//! Keys of compare-exchange values: what is allowed.

use crate::limits::VALUE_KEY_SIZE_MAX;
use crate::{Error, Result};

/// Checks a key.
pub(crate) fn check_key(key: &str) -> Result<()> {
    if key.is_empty() {
        return Err(Error::BadBatch { rule: "a compare-exchange value must have a key that is not empty".to_owned() });
    }
    if key.len() > VALUE_KEY_SIZE_MAX {
        return Err(Error::LongKey { key: key.chars().take(80).collect(), size: key.len(), max: VALUE_KEY_SIZE_MAX });
    }
    Ok(())
}
