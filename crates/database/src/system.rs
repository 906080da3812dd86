//! What the node keeps about itself: a small environment with the raft index, ids, and the records of databases.
//!
//! * `state`: `raft-index` (8 bytes big-endian), `topology-id`, `server-id` (GUIDs), `client-configuration` (etag, JSON).
//! * `databases`: lower-cased name to the etag of the record (8 bytes big-endian), the size of the folder's name (1 byte), the
//!   folder's name, and the record as JSON.
//! * `kept`: lower-cased name to the folder of a database that was deleted but for its files; who creates one of that name
//!   again has them.
//! * `deleting`: folders whose database is deleted and whose files may still be there; removed at the next start.

use storage::{Environment, Reader, Tree, WriteTransaction};

use crate::client_configuration::ClientConfiguration;
use crate::{DatabaseRecord, Error, Result};

pub(crate) struct System {
    environment: Environment,
    state: Tree,
    databases: Tree,
    kept: Tree,
    deleting: Tree,
    topology_id: String,
    server_id: String,
}

const STATE: &[u8] = b"system/state";
const DATABASES: &[u8] = b"system/databases";
const KEPT: &[u8] = b"system/kept";
const DELETING: &[u8] = b"system/deleting";

const RAFT_INDEX: &[u8] = b"raft-index";
const TOPOLOGY_ID: &[u8] = b"topology-id";
const SERVER_ID: &[u8] = b"server-id";
const CLIENT_CONFIGURATION: &[u8] = b"client-configuration";

impl System {
    pub fn open(environment: Environment) -> Result<System> {
        let found = {
            let tx = environment.read();
            let find = |name| Tree::open(&tx, name);
            match (find(STATE)?, find(DATABASES)?, find(KEPT)?, find(DELETING)?) {
                (None, None, None, None) => None,
                (Some(state), Some(databases), Some(kept), Some(deleting)) => Some([state, databases, kept, deleting]),
                _ => return Err(Error::Corrupt { rule: "all trees of the system environment exist" }),
            }
        };
        let [state, databases, kept, deleting] = match found {
            Some(found) => found,
            None => environment.write(|tx| -> Result<[Tree; 4]> {
                let mut make = |name| Tree::open_or_create(tx, name);
                let created = [make(STATE)?, make(DATABASES)?, make(KEPT)?, make(DELETING)?];
                // The first index is 1, as if the node had elected itself.
                created[0].put(tx, RAFT_INDEX, &1u64.to_be_bytes())?;
                created[0].put(tx, TOPOLOGY_ID, documents::id::random_guid().as_bytes())?;
                created[0].put(tx, SERVER_ID, documents::id::random_guid().as_bytes())?;
                Ok(created)
            })?,
        };
        let text = |name: &[u8]| -> Result<String> {
            let tx = environment.read();
            let value = state.get(&tx, name)?.ok_or(Error::Corrupt { rule: "the node has its ids" })?;
            Ok(String::from_utf8_lossy(value).into_owned())
        };
        let (topology_id, server_id) = (text(TOPOLOGY_ID)?, text(SERVER_ID)?);
        Ok(System { environment, state, databases, kept, deleting, topology_id, server_id })
    }

    pub fn topology_id(&self) -> &str {
        &self.topology_id
    }

    pub fn server_id(&self) -> &str {
        &self.server_id
    }

    pub fn raft_index(&self) -> Result<u64> {
        self.index(&self.environment.read())
    }

    fn index(&self, reader: &impl Reader) -> Result<u64> {
        let value = self.state.get(reader, RAFT_INDEX)?;
        let bytes = value.and_then(|value| value.try_into().ok());
        bytes.map(u64::from_be_bytes).ok_or(Error::Corrupt { rule: "the raft index is stored" })
    }

    /// Runs one change under the next index, durable when this returns.
    pub fn change<T: Send>(
        &self,
        work: impl FnOnce(&System, &mut WriteTransaction<'_>, u64) -> Result<T> + Send,
    ) -> Result<(T, u64)> {
        self.environment.write(|tx| {
            let index = self.index(&*tx)? + 1;
            self.state.put(tx, RAFT_INDEX, &index.to_be_bytes())?;
            Ok((work(self, tx, index)?, index))
        })
    }

    /// Writes a record and the folder of its database.
    pub fn put_record(&self, tx: &mut WriteTransaction<'_>, record: &DatabaseRecord, folder: &str) -> Result<()> {
        let key = record.name().to_ascii_lowercase();
        let size = u8::try_from(folder.len()).map_err(|_| Error::Corrupt { rule: "a folder's name is short" })?;
        let value = [&record.etag.to_be_bytes()[..], &[size], folder.as_bytes(), &record.value.to_vec()].concat();
        self.databases.put(tx, key.as_bytes(), &value)?;
        self.kept.delete(tx, key.as_bytes())?;
        Ok(())
    }

    pub fn delete_record(&self, tx: &mut WriteTransaction<'_>, name: &str) -> Result<()> {
        self.databases.delete(tx, name.to_ascii_lowercase().as_bytes())?;
        Ok(())
    }

    /// All records with the folders of their databases.
    pub fn records(&self) -> Result<Vec<(DatabaseRecord, String)>> {
        let tx = self.environment.read();
        let mut cursor = self.databases.cursor(&tx);
        let mut entry = cursor.first()?;
        let mut records = Vec::new();
        while let Some((_, value)) = entry {
            records.push(decode_record(value).ok_or(Error::Corrupt { rule: "a record has etag, folder and JSON" })?);
            entry = cursor.next()?;
        }
        Ok(records)
    }

    /// Notes that the files of a deleted database stay.
    pub fn put_kept(&self, tx: &mut WriteTransaction<'_>, name: &str, folder: &str) -> Result<()> {
        self.kept.put(tx, name.to_ascii_lowercase().as_bytes(), folder.as_bytes())?;
        Ok(())
    }

    /// The folder of a deleted database whose files stayed.
    pub fn kept(&self, name: &str) -> Result<Option<String>> {
        let tx = self.environment.read();
        let folder = self.kept.get(&tx, name.to_ascii_lowercase().as_bytes())?;
        Ok(folder.map(|folder| String::from_utf8_lossy(folder).into_owned()))
    }

    pub fn put_deleting(&self, tx: &mut WriteTransaction<'_>, folder: &str) -> Result<()> {
        self.deleting.put(tx, folder.as_bytes(), &[])?;
        Ok(())
    }

    /// The folder is gone.
    pub fn forget_deleting(&self, folder: &str) -> Result<()> {
        self.environment.write(|tx| self.deleting.delete(tx, folder.as_bytes()).map(drop).map_err(Error::from))
    }

    pub fn deleting(&self) -> Result<Vec<String>> {
        let tx = self.environment.read();
        let mut cursor = self.deleting.cursor(&tx);
        let mut entry = cursor.first()?;
        let mut folders = Vec::new();
        while let Some((folder, _)) = entry {
            folders.push(String::from_utf8_lossy(folder).into_owned());
            entry = cursor.next()?;
        }
        Ok(folders)
    }

    pub fn put_client_configuration(
        &self,
        tx: &mut WriteTransaction<'_>,
        configuration: &ClientConfiguration,
    ) -> Result<()> {
        let text = configuration.value.as_ref().map(json::Value::to_vec).unwrap_or_default();
        let value = [&configuration.etag.to_be_bytes()[..], &text].concat();
        self.state.put(tx, CLIENT_CONFIGURATION, &value)?;
        Ok(())
    }

    pub fn client_configuration(&self) -> Result<ClientConfiguration> {
        let tx = self.environment.read();
        let Some(value) = self.state.get(&tx, CLIENT_CONFIGURATION)? else { return Ok(ClientConfiguration::NONE) };
        let corrupt = Error::Corrupt { rule: "the client configuration has an etag and JSON" };
        let Some((etag, text)) = value.split_first_chunk::<8>() else { return Err(corrupt) };
        let value = if text.is_empty() { None } else { Some(json::Value::parse(text).map_err(|_| corrupt)?) };
        Ok(ClientConfiguration { etag: i64::from_be_bytes(*etag), value })
    }
}

fn decode_record(value: &[u8]) -> Option<(DatabaseRecord, String)> {
    let (etag, rest) = value.split_first_chunk::<8>()?;
    let (size, rest) = rest.split_first()?;
    let (folder, text) = rest.split_at_checked(usize::from(*size))?;
    let value = json::Value::parse(text).ok()?;
    Some((DatabaseRecord { value, etag: u64::from_be_bytes(*etag) }, String::from_utf8(folder.to_vec()).ok()?))
}
