//! Making a copy of a database a database of its own.

use storage::{Environment, Tree};

use crate::error::{Error, Result};
use crate::ids::id;
use crate::items::schema::{DATABASE_ID, FORMER_DATABASE_IDS, STATE};

/// Bytes of an id.
pub(crate) const DATABASE_ID_SIZE: usize = 16;

/// Gives the documents in an environment another database id, at random: those of a copy, whose etags the original gives out too. The ids
/// before are kept, since stored change vectors may have them.
///
/// # Errors
///
/// [`Error::Corrupt`]: the environment has no documents; storage fails.
pub fn renew_database_id(environment: &Environment) -> Result<()> {
    environment.write(|tx| {
        let missing = Error::Corrupt { rule: "documents have their state beside them" };
        let state = Tree::open(tx, STATE)?.ok_or(missing)?;
        let rule = "the database id is stored";
        let own = state.get(tx, DATABASE_ID)?.ok_or(Error::Corrupt { rule })?.to_vec();
        let mut former = state.get(tx, FORMER_DATABASE_IDS)?.unwrap_or_default().to_vec();
        former.extend_from_slice(&own);
        state.put(tx, FORMER_DATABASE_IDS, &former)?;
        state.put(tx, DATABASE_ID, &id::random_bytes())?;
        Ok(())
    })
}
