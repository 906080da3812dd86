//! Identities: counters by name, such as `users|`, for numbers without long gaps. Names are found without regard to case.

use crate::schema::u64_from;
use crate::{Error, Result, Writing, id};

/// The name with its `|`, which clients may leave out.
fn key(name: &str) -> Result<Vec<u8>> {
    id::check(name)?;
    let mut key = id::lower(name);
    if key.last() != Some(&b'|') {
        key.push(b'|');
    }
    Ok(key)
}

impl Writing<'_, '_> {
    /// Adds one to an identity and gives it; the first is 1.
    ///
    /// # Errors
    ///
    /// Storage fails, or the identity is at its end.
    pub fn next_identity(&mut self, name: &str) -> Result<i64> {
        let key = key(name)?;
        let value = self.identity(&key)?.checked_add(1);
        let value =
            value.ok_or_else(|| Error::BadBatch { rule: format!("the identity '{name}' is at its greatest value") })?;
        self.store.schema.identities.put(self.tx, &key, &value.to_be_bytes())?;
        Ok(value)
    }

    /// Sets an identity. Lowers it only by force. Gives what it is then.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn seed_identity(&mut self, name: &str, value: i64, force: bool) -> Result<i64> {
        let key = key(name)?;
        let now = self.identity(&key)?;
        let value = if force { value } else { value.max(now) };
        self.store.schema.identities.put(self.tx, &key, &value.to_be_bytes())?;
        Ok(value)
    }

    fn identity(&self, key: &[u8]) -> Result<i64> {
        let value = self.store.schema.identities.get(&*self.tx, key)?;
        Ok(value.and_then(u64_from).unwrap_or_default() as i64)
    }
}
