//! The documents of one database, in one storage environment.

use std::sync::Arc;

use arc_swap::ArcSwap;
use storage::{Environment, WriteTransaction};

use crate::items::schema::{DATABASE_ID, Schema};
use crate::wire::base64;
use crate::{Answer, Date, Error, Etag, Result, Snapshot, Stamp, StoreSettings, Write, Writing};

/// The documents of one database.
pub struct DocumentStore {
    environment: Environment,
    pub(crate) schema: Schema,
    pub(crate) names: Names,
    settings: ArcSwap<StoreSettings>,
}

/// The identity of this database in change vectors.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// 22 characters.
    pub database_id: String,
    /// The same as bytes.
    pub database_bytes: [u8; 16],
    pub node_tag: String,
    /// The database in the entries of change vectors that name guards: 22 characters, made from the database id.
    pub transaction_id: String,
}

/// A write that was applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// What it gave.
    pub answer: Answer,
    /// The last etag that it gave out, if any.
    pub last_etag: Option<Etag>,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The tag of this node, `A` on a single one.
    pub node_tag: String,
    /// The id of a new database in change vectors; `None`: one at random. All nodes of a group have the same.
    pub new_database_id: Option<[u8; 16]>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions { node_tag: "A".to_owned(), new_database_id: None }
    }
}

impl DocumentStore {
    /// Opens the documents in an environment, or creates them there with a new database id.
    ///
    /// # Errors
    ///
    /// Storage fails, or holds something else; or the documents are not whole or of a newer format.
    pub fn open(environment: Environment, options: StoreOptions) -> Result<DocumentStore> {
        let schema = Schema::open(&environment, options.new_database_id)?;
        let database_bytes = {
            let reader = environment.read();
            let bytes = schema.state.get(&reader, DATABASE_ID)?;
            let bytes = bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            bytes.ok_or(Error::Corrupt { rule: "the database id is stored, and has 16 bytes" })?
        };
        let database_id = base64::encode_unpadded(&database_bytes);
        let transaction_id = base64::encode_unpadded(&database_bytes.map(|byte| !byte));
        let names = Names { database_id, database_bytes, node_tag: options.node_tag, transaction_id };
        let store = DocumentStore { environment, schema, names, settings: ArcSwap::default() };
        store.build_due()?;
        Ok(store)
    }

    /// Replaces the settings. Stamps that are made from now on have them.
    pub fn configure(&self, settings: StoreSettings) {
        self.settings.store(Arc::new(settings));
    }

    /// The stamp of a write that is proposed now.
    pub fn stamp(&self) -> Stamp {
        self.stamp_at(Date::now())
    }

    fn stamp_at(&self, time: Date) -> Stamp {
        let settings = self.settings.load();
        Stamp { time, id_separator: settings.id_separator, revisions: settings.revisions.clone() }
    }

    /// The environment below, and nothing else any more.
    pub fn into_environment(self) -> Environment {
        self.environment
    }

    /// The environment below.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The id of this database in change vectors: 22 characters of base64.
    pub fn database_id(&self) -> &str {
        &self.names.database_id
    }

    /// The tag of this node in change vectors.
    pub fn node_tag(&self) -> &str {
        &self.names.node_tag
    }

    /// The change vector of a write of this database alone.
    pub fn vector_of(&self, etag: Etag) -> String {
        self.names.vector(etag)
    }

    /// The state as it is now, for as long as the snapshot is held.
    pub fn read(&self) -> Snapshot<'_> {
        Snapshot::new(self, self.environment.read())
    }

    /// Applies a write in a transaction of its own and returns when it is durable. After an error nothing of it was applied.
    ///
    /// # Errors
    ///
    /// A condition of the write does not hold, or storage fails.
    pub fn apply(&self, write: &Write, stamp: Stamp) -> Result<Applied> {
        self.environment.write(|tx| self.apply_in(tx, write, stamp))
    }

    /// Applies a write inside a transaction that the caller has. After an error the caller must roll it back.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn apply_in(&self, tx: &mut WriteTransaction<'_>, write: &Write, stamp: Stamp) -> Result<Applied> {
        self.write_in(tx, stamp, |writing| {
            let before = writing.last_etag();
            let answer = writing.apply(write)?;
            let last_etag = Some(writing.last_etag()).filter(|etag| *etag != before);
            Ok(Applied { answer, last_etag })
        })
    }

    /// Runs any work in a write transaction and returns when it is durable. An error rolls back all that it did. For tests: what
    /// changes a database is a [`Write`].
    ///
    /// # Errors
    ///
    /// That of `work`, or of the storage.
    pub fn write<T: Send>(&self, now: Date, work: impl FnOnce(&mut Writing<'_, '_>) -> Result<T> + Send) -> Result<T> {
        self.environment.write(|tx| self.write_in(tx, self.stamp_at(now), work))
    }

    fn write_in<T>(
        &self,
        tx: &mut WriteTransaction<'_>,
        stamp: Stamp,
        work: impl FnOnce(&mut Writing<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let mut writing = Writing::begin(self, tx, stamp)?;
        let answer = work(&mut writing)?;
        writing.finish()?;
        Ok(answer)
    }
}

impl Names {
    /// Appends the change vector of a write of this database.
    #[inline]
    pub fn write_vector(&self, out: &mut Vec<u8>, etag: u64) {
        // Written from its end, then appended at once: tag of at most 4, colon, at most 20 digits, dash, id of 22.
        let mut text = [0; 48];
        let mut at = 25;
        let (mut rest, tag, id) = (etag, self.node_tag.as_bytes(), self.database_id.as_bytes());
        loop {
            at -= 1;
            text[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        text[25] = b'-';
        at -= 1;
        text[at] = b':';
        match (text.last_chunk_mut(), id.try_into()) {
            (Some(end), Ok::<[u8; 22], _>(id)) if tag.len() <= 4 => {
                *end = id;
                for byte in tag.iter().rev() {
                    at -= 1;
                    text[at] = *byte;
                }
                out.extend_from_slice(&text[at..]);
            }
            _ => [tag, &text[at..26], id].iter().for_each(|part| out.extend_from_slice(part)),
        }
    }

    /// Whether a text is what [`write_vector`](Self::write_vector) appends, without making that.
    #[inline]
    pub fn is_vector(&self, text: &str, etag: u64) -> bool {
        let digits = text.strip_prefix(&*self.node_tag).and_then(|rest| rest.strip_prefix(':'));
        let digits = digits.and_then(|rest| rest.strip_suffix(&*self.database_id)?.strip_suffix('-'));
        let Some((first, more)) = digits.and_then(|digits| digits.as_bytes().split_first()) else { return false };
        let mut rest = etag;
        for digit in more.iter().rev() {
            if *digit != b'0' + (rest % 10) as u8 {
                return false;
            }
            rest /= 10;
        }
        // No zero comes first, unless it is the only one.
        u64::from(first.wrapping_sub(b'0')) == rest && rest < 10 && (rest > 0 || more.is_empty())
    }

    /// The change vector of a write of this database.
    pub fn vector(&self, etag: u64) -> String {
        let mut out = Vec::with_capacity(48);
        self.write_vector(&mut out, etag);
        String::from_utf8(out).unwrap_or_default()
    }
}

impl std::fmt::Debug for DocumentStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentStore").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_ours_is_known_by_its_text() {
        let names = Names {
            database_id: "pITDlhlRaEeJh16dDBREzg".to_owned(),
            database_bytes: [0; 16],
            node_tag: "A".to_owned(),
            transaction_id: String::new(),
        };
        for etag in [0, 7, 10, 5951, u64::MAX] {
            assert!(names.is_vector(&names.vector(etag), etag));
            assert!(
                !names.is_vector(&names.vector(etag), etag ^ 1) && !names.is_vector(&names.vector(etag ^ 16), etag)
            );
        }
        for text in [
            "",
            "A:",
            "A:7-",
            "A:07-pITDlhlRaEeJh16dDBREzg",
            "A:-pITDlhlRaEeJh16dDBREzg",
            "A:7-x",
            "B:7-pITDlhlRaEeJh16dDBREzg",
        ] {
            assert!(!names.is_vector(text, 7) && !names.is_vector(text, 0), "{text}");
        }
    }
}
