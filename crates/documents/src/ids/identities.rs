//! Identities: counters by name, such as `users|`, for numbers without long gaps. Names are found without regard to case.

use super::id;
use crate::items::schema::u64_from;
use crate::{Error, Result, Writing};

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
        let value = self.identity(&key)?.unwrap_or(0).checked_add(1);
        let value =
            value.ok_or_else(|| Error::BadBatch { rule: format!("the identity '{name}' is at its greatest value") })?;
        self.set_identity(&key, value)?;
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
        let value = if force { value } else { value.max(now.unwrap_or(0)) };
        self.set_identity(&key, value)?;
        Ok(value)
    }

    fn identity(&self, key: &[u8]) -> Result<Option<i64>> {
        self.store.schema.identities.get(&*self.tx, key)?.map(value_from).transpose()
    }

    fn set_identity(&mut self, key: &[u8], value: i64) -> Result<()> {
        let schema = self.store.schema;
        if !schema.identities.contains(&*self.tx, key)? {
            let count = schema.identity_count(&*self.tx)?;
            let count =
                count.checked_add(1).ok_or(Error::Corrupt { rule: "the number of identities is their number" })?;
            schema.set_identity_count(self.tx, count)?;
        }
        Ok(schema.identities.put(self.tx, key, &value.to_be_bytes())?)
    }
}

/// A stored value. One that cannot be read must not pass for 0: its numbers would be given out twice.
pub(crate) fn value_from(bytes: &[u8]) -> Result<i64> {
    let value = u64_from(bytes).ok_or(Error::Corrupt { rule: "an identity has eight bytes" })?;
    Ok(value as i64)
}
