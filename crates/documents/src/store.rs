//! The documents of one database, in one storage environment.

use storage::{Environment, WriteTransaction};

use crate::schema::{DATABASE_ID, Schema};
use crate::{Date, Error, Result, Snapshot, Writing, base64};

/// The documents of one database.
pub struct DocumentStore {
    environment: Environment,
    pub(crate) schema: Schema,
    pub(crate) names: Names,
}

/// What stands in the change vectors that this database makes.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// 22 characters.
    pub database_id: String,
    pub node_tag: String,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The tag of this node, `A` on a single one.
    pub node_tag: String,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions { node_tag: "A".to_owned() }
    }
}

impl DocumentStore {
    /// Opens the documents in an environment, or creates them there with a new database id.
    ///
    /// # Errors
    ///
    /// Storage fails, or holds something else.
    pub fn open(environment: Environment, options: StoreOptions) -> Result<DocumentStore> {
        let schema = Schema::open(&environment)?;
        let database_id = {
            let reader = environment.read();
            let bytes = schema.state.get(&reader, DATABASE_ID)?;
            let bytes = bytes.ok_or(Error::Corrupt { rule: "the database id is stored" })?;
            base64::encode_unpadded(bytes)
        };
        Ok(DocumentStore { environment, schema, names: Names { database_id, node_tag: options.node_tag } })
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

    /// The state as it is now, for as long as the snapshot is held.
    pub fn read(&self) -> Snapshot<'_> {
        Snapshot::new(self, self.environment.read())
    }

    /// Runs `work` in a write transaction and returns when it is durable. An error takes back all that it did.
    ///
    /// # Errors
    ///
    /// That of `work`, or of the storage.
    pub fn write<T: Send>(&self, now: Date, work: impl FnOnce(&mut Writing<'_, '_>) -> Result<T> + Send) -> Result<T> {
        self.environment.write(|tx| self.write_in(tx, now, work))
    }

    /// The same inside a transaction that the caller has. After an error the caller must take the transaction back.
    ///
    /// # Errors
    ///
    /// That of `work`, or of the storage.
    pub fn write_in<T>(
        &self,
        tx: &mut WriteTransaction<'_>,
        now: Date,
        work: impl FnOnce(&mut Writing<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let mut writing = Writing::begin(self, tx, now)?;
        let answer = work(&mut writing)?;
        writing.finish()?;
        Ok(answer)
    }
}

impl Names {
    /// Appends the change vector of a write of this database.
    #[inline]
    pub fn write_vector(&self, out: &mut Vec<u8>, etag: u64) {
        out.extend_from_slice(self.node_tag.as_bytes());
        out.push(b':');
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = etag;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out.extend_from_slice(&digits[at..]);
        out.push(b'-');
        out.extend_from_slice(self.database_id.as_bytes());
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
