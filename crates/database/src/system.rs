//! What the node keeps about itself: a small environment with the raft index, ids, and the records of databases.
//!
//! * `state`: `raft-index` (8 bytes big-endian), `topology-id`, `server-id` (GUIDs), `client-configuration` (etag, JSON).
//! * `databases`: lower-cased name to the etag of the record, 8 bytes big-endian, and its JSON.
//! * `deleting`: folders whose database is deleted and whose files may still be there; removed at the next start.

use storage::{Environment, Reader, Tree, WriteTransaction};

use crate::client_configuration::ClientConfiguration;
use crate::{DatabaseRecord, Error, Result};

pub(crate) struct System {
    environment: Environment,
    state: Tree,
    databases: Tree,
    deleting: Tree,
    topology_id: String,
    server_id: String,
}

const STATE: &[u8] = b"system/state";
const DATABASES: &[u8] = b"system/databases";
const DELETING: &[u8] = b"system/deleting";

const RAFT_INDEX: &[u8] = b"raft-index";
const TOPOLOGY_ID: &[u8] = b"topology-id";
const SERVER_ID: &[u8] = b"server-id";
const CLIENT_CONFIGURATION: &[u8] = b"client-configuration";

impl System {
    pub fn open(environment: Environment) -> Result<System> {
        let found = {
            let tx = environment.read();
            match (Tree::open(&tx, STATE)?, Tree::open(&tx, DATABASES)?, Tree::open(&tx, DELETING)?) {
                (None, None, None) => None,
                (Some(state), Some(databases), Some(deleting)) => Some([state, databases, deleting]),
                _ => return Err(Error::Corrupt { rule: "all trees of the system environment exist" }),
            }
        };
        let [state, databases, deleting] = match found {
            Some(found) => found,
            None => environment.write(|tx| -> Result<[Tree; 3]> {
                let mut make = |name| Tree::open_or_create(tx, name);
                let created = [make(STATE)?, make(DATABASES)?, make(DELETING)?];
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
        Ok(System { environment, state, databases, deleting, topology_id, server_id })
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

    pub fn put_record(&self, tx: &mut WriteTransaction<'_>, record: &DatabaseRecord) -> Result<()> {
        let value = [&record.etag.to_be_bytes()[..], &record.value.to_vec()].concat();
        self.databases.put(tx, record.name().to_ascii_lowercase().as_bytes(), &value)?;
        Ok(())
    }

    pub fn delete_record(&self, tx: &mut WriteTransaction<'_>, name: &str) -> Result<()> {
        self.databases.delete(tx, name.to_ascii_lowercase().as_bytes())?;
        Ok(())
    }

    pub fn records(&self) -> Result<Vec<DatabaseRecord>> {
        let tx = self.environment.read();
        let mut cursor = self.databases.cursor(&tx);
        let mut entry = cursor.first()?;
        let mut records = Vec::new();
        while let Some((_, value)) = entry {
            let corrupt = Error::Corrupt { rule: "a database's record has an etag and JSON" };
            let Some((etag, text)) = value.split_first_chunk::<8>() else { return Err(corrupt) };
            let value = json::Value::parse(text).map_err(|_| corrupt)?;
            records.push(DatabaseRecord { value, etag: u64::from_be_bytes(*etag) });
            entry = cursor.next()?;
        }
        Ok(records)
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
