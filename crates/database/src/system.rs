//! The node's catalog: a small environment with the raft index, ids, and the records of databases.
//!
//! * `state`: `raft-index` (8 bytes big-endian), `topology-id`, `server-id` (GUIDs), `client-configuration` (etag, JSON),
//!   `server-wide-backups` (a JSON array; absent until the first one).
//! * `databases`: lower-cased name to the etag of the record (8 bytes big-endian), the size of the folder's name (1 byte), the
//!   folder's name, and the record as JSON. An empty folder name: the database is in memory, from its creation to its end.
//! * `kept`: lower-cased name to the folder of a database that was deleted but for its files; who creates one of that name
//!   again on disk has them.
//! * `deleting`: folders whose database is deleted and whose files may still be there; removed when the last holder has closed them.
//! * `certificates`: thumbprint to a [`RegisteredCertificate`](crate::RegisteredCertificate) as JSON. Absent until the first one is
//!   registered.
//! * `api-keys`: lower-cased name to an [`ApiKey`] as JSON. Absent until the first one is made.
//! * `backups`: the lower-cased name of a database, a zero and the id of a task (8 bytes big-endian) to a [`BackupStatus`] as JSON. Absent
//!   until the first backup of a task.
//! * `archives`: the same to how far the archive of the task has come, as JSON. Absent until there is one.
//! * `requests`, `request-order`: see [`RequestIds`]. An environment without them is of the first version, which named a folder
//!   for databases in memory too; it is brought up to date when it is opened.

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use storage::{Environment, Reader, Tree, WriteTransaction};

use crate::backups::{ArchiveState, BackupStatus};
use crate::client_configuration::ClientConfiguration;
use crate::principals::{ApiKey, Principal};
use crate::request_ids::{Request, RequestIds};
use crate::{DatabaseRecord, Error, Result};

pub(crate) struct System {
    environment: Environment,
    state: Tree,
    databases: Tree,
    kept: Tree,
    deleting: Tree,
    requests: RequestIds,
    topology_id: String,
    server_id: String,
}

const STATE: &[u8] = b"system/state";
const DATABASES: &[u8] = b"system/databases";
const KEPT: &[u8] = b"system/kept";
const DELETING: &[u8] = b"system/deleting";

/// Statuses of backups.
const BACKUPS: &[u8] = b"system/backups";
/// States of archives.
const ARCHIVES: &[u8] = b"system/archives";

const RAFT_INDEX: &[u8] = b"raft-index";
const TOPOLOGY_ID: &[u8] = b"topology-id";
const SERVER_ID: &[u8] = b"server-id";
const SERVER_WIDE_BACKUPS: &[u8] = b"server-wide-backups";
const SERVER_WIDE_ANALYZERS: &[u8] = b"server-wide-analyzers";
const CLIENT_CONFIGURATION: &[u8] = b"client-configuration";

/// A database as it is stored: its record, and its folder unless it is in memory.
pub(crate) type Stored = (DatabaseRecord, Option<String>);

impl System {
    /// * `has_files`: whether a folder is there; asked only for environments of the first version.
    pub fn open(environment: Environment, has_files: impl Fn(&str) -> bool + Sync) -> Result<System> {
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
            None if !environment.is_empty()? => {
                return Err(Error::Corrupt { rule: "the system environment holds nothing else" });
            }
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
        let requests = RequestIds::open(&environment.read())?;
        let requests = match requests {
            Some(requests) => requests,
            None => environment.write(|tx| -> Result<RequestIds> {
                for (record, folder) in records(&databases, &*tx)? {
                    let folder = folder.filter(|folder| record.run_in_memory() != Some(true) || has_files(folder));
                    put_record(&databases, tx, &record, folder.as_deref())?;
                }
                RequestIds::create(tx)
            })?,
        };
        Ok(System { environment, state, databases, kept, deleting, requests, topology_id, server_id })
    }

    /// The index that a request came to, if it was applied before.
    pub fn applied(&self, request: &Request) -> Result<Option<u64>> {
        self.requests.index_of(&self.environment.read(), request)
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

    /// Runs the one change of a request under the next index, durable when this returns.
    pub fn change<T: Send>(
        &self,
        request: &Request,
        work: impl FnOnce(&System, &mut WriteTransaction<'_>, u64) -> Result<T> + Send,
    ) -> Result<(T, u64)> {
        self.environment.write(|tx| {
            let index = self.index(&*tx)? + 1;
            self.state.put(tx, RAFT_INDEX, &index.to_be_bytes())?;
            let answer = work(self, tx, index)?;
            self.requests.insert(tx, request, index)?;
            Ok((answer, index))
        })
    }

    /// Writes a record and the folder of its database. A folder that was kept is kept no more when it is that one.
    pub fn put_record(
        &self,
        tx: &mut WriteTransaction<'_>,
        record: &DatabaseRecord,
        folder: Option<&str>,
    ) -> Result<()> {
        put_record(&self.databases, tx, record, folder)?;
        let key = record.name().to_ascii_lowercase();
        let kept = self.kept.get(tx, key.as_bytes())?;
        if folder.is_some() && kept == folder.map(str::as_bytes) {
            self.kept.delete(tx, key.as_bytes())?;
        }
        Ok(())
    }

    pub fn delete_record(&self, tx: &mut WriteTransaction<'_>, name: &str) -> Result<()> {
        self.databases.delete(tx, name.to_ascii_lowercase().as_bytes())?;
        Ok(())
    }

    /// All records with the folders of their databases.
    pub fn records(&self) -> Result<Vec<Stored>> {
        records(&self.databases, &self.environment.read())
    }

    /// The folders that a record, a kept or a deleted database names.
    pub fn folders_in_use(&self) -> Result<HashSet<String>> {
        let mut folders: HashSet<String> = self.deleting()?.into_iter().collect();
        folders.extend(self.records()?.into_iter().filter_map(|(_, folder)| folder));
        let tx = self.environment.read();
        let mut cursor = self.kept.cursor(&tx);
        let mut entry = cursor.first()?;
        while let Some((_, folder)) = entry {
            folders.insert(String::from_utf8_lossy(folder).into_owned());
            entry = cursor.next()?;
        }
        Ok(folders)
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

    pub fn is_deleting(&self, folder: &str) -> Result<bool> {
        Ok(self.deleting.contains(&self.environment.read(), folder.as_bytes())?)
    }

    /// The same, as a change of its own.
    pub fn note_deleting(&self, folder: &str) -> Result<()> {
        self.environment.write(|tx| self.put_deleting(tx, folder))
    }

    pub fn delete_deleting(&self, tx: &mut WriteTransaction<'_>, folder: &str) -> Result<()> {
        self.deleting.delete(tx, folder.as_bytes())?;
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

    /// What is remembered of the backups of a database, by task.
    pub fn backup_statuses(&self, database: &str) -> Result<Vec<BackupStatus>> {
        let tx = self.environment.read();
        let Some(tree) = Tree::open(&tx, BACKUPS)? else { return Ok(Vec::new()) };
        let prefix = backup_key(database, None);
        let mut cursor = tree.cursor(&tx);
        let mut entry = cursor.seek(&prefix)?;
        let mut statuses = Vec::new();
        while let Some((_, value)) = entry.filter(|(key, _)| key.starts_with(&prefix)) {
            statuses.push(decode_status(value)?);
            entry = cursor.next()?;
        }
        Ok(statuses)
    }

    pub fn backup_status(&self, database: &str, task: u64) -> Result<Option<BackupStatus>> {
        let tx = self.environment.read();
        let Some(tree) = Tree::open(&tx, BACKUPS)? else { return Ok(None) };
        tree.get(&tx, &backup_key(database, Some(task)))?.map(decode_status).transpose()
    }

    pub fn put_backup_status(&self, database: &str, status: &BackupStatus) -> Result<()> {
        let (key, value) = (backup_key(database, Some(status.task_id)), status.to_json().to_vec());
        self.environment.write(|tx| {
            let tree = Tree::open_or_create(tx, BACKUPS)?;
            Ok(tree.put(tx, &key, &value)?)
        })
    }

    pub fn delete_backup_status(&self, database: &str, task: u64) -> Result<()> {
        let key = backup_key(database, Some(task));
        self.environment.write(|tx| [BACKUPS, ARCHIVES].iter().try_for_each(|tree| delete_prefix(tx, tree, &key)))
    }

    /// Forgets all that is remembered of the backups of a database.
    pub fn delete_backup_statuses(&self, tx: &mut WriteTransaction<'_>, database: &str) -> Result<()> {
        let key = backup_key(database, None);
        [BACKUPS, ARCHIVES].iter().try_for_each(|tree| delete_prefix(tx, tree, &key))
    }

    /// How far the archive of a task has come.
    pub fn archive_state(&self, database: &str, task: u64) -> Result<Option<ArchiveState>> {
        let tx = self.environment.read();
        let Some(tree) = Tree::open(&tx, ARCHIVES)? else { return Ok(None) };
        let Some(value) = tree.get(&tx, &backup_key(database, Some(task)))? else { return Ok(None) };
        let value = json::Value::parse(value).ok();
        let state = value.as_ref().and_then(ArchiveState::from_json);
        state.map(Some).ok_or(Error::Corrupt { rule: "the state of an archive that is stored has all its properties" })
    }

    pub fn put_archive_state(&self, database: &str, state: &ArchiveState) -> Result<()> {
        let (key, value) = (backup_key(database, Some(state.task_id)), state.to_json().to_vec());
        self.environment.write(|tx| {
            let tree = Tree::open_or_create(tx, ARCHIVES)?;
            Ok(tree.put(tx, &key, &value)?)
        })
    }

    pub fn delete_archive_state(&self, database: &str, task: u64) -> Result<()> {
        self.environment.write(|tx| delete_prefix(tx, ARCHIVES, &backup_key(database, Some(task))))
    }

    /// # Errors
    ///
    /// [`Error::BadPrincipal`] if there are too many, or storage fails.
    pub fn put_principal<P: Principal>(&self, tx: &mut WriteTransaction<'_>, id: &str, principal: &P) -> Result<()> {
        let tree = Tree::open_or_create(tx, P::TREE)?;
        let (max, limit) = P::COUNT_MAX;
        if !tree.contains(tx, id.as_bytes())? && count(&tree, tx)? >= max {
            let rule = format!("There are {max} {}s, the limit {limit}. Delete some first", P::KIND);
            return Err(Error::BadPrincipal { rule });
        }
        Ok(tree.put(tx, id.as_bytes(), &principal.to_json().to_vec())?)
    }

    pub fn delete_principal<P: Principal>(&self, tx: &mut WriteTransaction<'_>, id: &str) -> Result<()> {
        if let Some(tree) = Tree::open(tx, P::TREE)? {
            tree.delete(tx, id.as_bytes())?;
        }
        Ok(())
    }

    pub fn principal<P: Principal>(&self, id: &str) -> Result<Option<P>> {
        let tx = self.environment.read();
        let Some(tree) = Tree::open(&tx, P::TREE)? else { return Ok(None) };
        tree.get(&tx, id.as_bytes())?.map(decode_principal).transpose()
    }

    /// All with their ids, in the order of these.
    pub fn principals<P: Principal>(&self) -> Result<Vec<(String, P)>> {
        let tx = self.environment.read();
        let Some(tree) = Tree::open(&tx, P::TREE)? else { return Ok(Vec::new()) };
        let mut cursor = tree.cursor(&tx);
        let mut entry = cursor.first()?;
        let mut principals = Vec::new();
        while let Some((id, value)) = entry {
            principals.push((String::from_utf8_lossy(id).into_owned(), decode_principal(value)?));
            entry = cursor.next()?;
        }
        Ok(principals)
    }

    /// Notes when keys were used last. Keys that are there no longer, or have another hash, are left out.
    ///
    /// * `uses`: hash and moment.
    pub fn note_api_key_uses(&self, uses: &HashMap<String, SystemTime>) -> Result<()> {
        let used = self.principals::<ApiKey>()?.into_iter().filter_map(|(id, key)| {
            let last_used = *uses.get(&key.hash)?;
            Some((id, ApiKey { last_used: Some(last_used), ..key }))
        });
        let used: Vec<(String, ApiKey)> = used.collect();
        if used.is_empty() {
            return Ok(());
        }
        self.environment.write(|tx| used.iter().try_for_each(|(id, key)| self.put_principal(tx, id, key)))
    }

    pub fn server_wide_backups(&self) -> Result<Vec<json::Value>> {
        let tx = self.environment.read();
        let Some(value) = self.state.get(&tx, SERVER_WIDE_BACKUPS)? else { return Ok(Vec::new()) };
        match json::Value::parse(value) {
            Ok(json::Value::Array(backups)) => Ok(backups),
            _ => Err(Error::Corrupt { rule: "the backups of all databases are an array of JSON" }),
        }
    }

    pub fn put_server_wide_backups(&self, tx: &mut WriteTransaction<'_>, backups: &[json::Value]) -> Result<()> {
        self.state.put(tx, SERVER_WIDE_BACKUPS, &json::Value::Array(backups.to_vec()).to_vec())?;
        Ok(())
    }

    /// The analyzers of the node: an object of definitions by name.
    pub fn server_wide_analyzers(&self) -> Result<json::Value> {
        let tx = self.environment.read();
        let Some(value) = self.state.get(&tx, SERVER_WIDE_ANALYZERS)? else { return Ok(json::Value::object()) };
        match json::Value::parse(value) {
            Ok(analyzers @ json::Value::Object(_)) => Ok(analyzers),
            _ => Err(Error::Corrupt { rule: "the analyzers of the node are an object of JSON" }),
        }
    }

    pub fn put_server_wide_analyzers(&self, tx: &mut WriteTransaction<'_>, analyzers: &json::Value) -> Result<()> {
        self.state.put(tx, SERVER_WIDE_ANALYZERS, &analyzers.to_vec())?;
        Ok(())
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

/// The key of the status of a task, or what those of a database begin with.
fn backup_key(database: &str, task: Option<u64>) -> Vec<u8> {
    let mut key = database.to_ascii_lowercase().into_bytes();
    key.push(0);
    key.extend(task.into_iter().flat_map(u64::to_be_bytes));
    key
}

fn delete_prefix(tx: &mut WriteTransaction<'_>, tree: &[u8], prefix: &[u8]) -> Result<()> {
    let Some(tree) = Tree::open(tx, tree)? else { return Ok(()) };
    loop {
        let key = {
            let mut cursor = tree.cursor(tx);
            cursor.seek(prefix)?.map(|(key, _)| key.to_vec()).filter(|key| key.starts_with(prefix))
        };
        let Some(key) = key else { return Ok(()) };
        tree.delete(tx, &key)?;
    }
}

fn decode_status(value: &[u8]) -> Result<BackupStatus> {
    let value = json::Value::parse(value).ok();
    let status = value.as_ref().and_then(BackupStatus::from_json);
    status.ok_or(Error::Corrupt { rule: "the status of a backup that is stored has all its properties" })
}

fn put_record(
    databases: &Tree,
    tx: &mut WriteTransaction<'_>,
    record: &DatabaseRecord,
    folder: Option<&str>,
) -> Result<()> {
    let (key, folder) = (record.name().to_ascii_lowercase(), folder.unwrap_or_default());
    let size = u8::try_from(folder.len()).map_err(|_| Error::Corrupt { rule: "a folder's name is short" })?;
    let value = [&record.etag.to_be_bytes()[..], &[size], folder.as_bytes(), &record.value.to_vec()].concat();
    Ok(databases.put(tx, key.as_bytes(), &value)?)
}

fn records(databases: &Tree, reader: &impl Reader) -> Result<Vec<Stored>> {
    let mut cursor = databases.cursor(reader);
    let mut entry = cursor.first()?;
    let mut records = Vec::new();
    while let Some((_, value)) = entry {
        records.push(decode_record(value).ok_or(Error::Corrupt { rule: "a record has etag, folder and JSON" })?);
        entry = cursor.next()?;
    }
    Ok(records)
}

fn count(tree: &Tree, reader: &impl Reader) -> Result<u64> {
    let mut cursor = tree.cursor(reader);
    let mut count = 0;
    let mut entry = cursor.first()?;
    while entry.is_some() {
        count += 1;
        entry = cursor.next()?;
    }
    Ok(count)
}

fn decode_principal<P: Principal>(value: &[u8]) -> Result<P> {
    let value = json::Value::parse(value).ok();
    let principal = value.as_ref().and_then(P::from_json);
    principal.ok_or(Error::Corrupt { rule: "a certificate or API key that is stored has all its properties" })
}

fn decode_record(value: &[u8]) -> Option<Stored> {
    let (etag, rest) = value.split_first_chunk::<8>()?;
    let (size, rest) = rest.split_first()?;
    let (folder, text) = rest.split_at_checked(usize::from(*size))?;
    let value = json::Value::parse(text).ok()?;
    let folder = String::from_utf8(folder.to_vec()).ok()?;
    let record = DatabaseRecord { value, etag: u64::from_be_bytes(*etag) };
    Some((record, Some(folder).filter(|folder| !folder.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_in_memory_of_the_first_version_lose_the_folder_that_they_never_had() {
        let environment = Environment::in_memory(storage::Options::default()).unwrap();
        // As the first version left it: every record names a folder, and there are no trees of requests.
        environment
            .write(|tx| -> Result<()> {
                let mut make = |name| Tree::open_or_create(tx, name);
                let [state, databases, ..] = [make(STATE)?, make(DATABASES)?, make(KEPT)?, make(DELETING)?];
                state.put(tx, RAFT_INDEX, &7u64.to_be_bytes())?;
                state.put(tx, TOPOLOGY_ID, b"t")?;
                state.put(tx, SERVER_ID, b"s")?;
                for (name, run_in_memory) in [("disk", "false"), ("memory", "true"), ("moved", "true")] {
                    let text = format!(r#"{{"DatabaseName":"{name}","Settings":{{"RunInMemory":"{run_in_memory}"}}}}"#);
                    let value = json::Value::parse(text.as_bytes())?;
                    put_record(&databases, tx, &DatabaseRecord { value, etag: 5 }, Some(name))?;
                }
                Ok(())
            })
            .unwrap();
        // That one was created on disk, and its settings were changed since.
        let system = System::open(environment, |folder| folder == "moved").unwrap();
        let folders: Vec<_> = system.records().unwrap().into_iter().map(|(_, folder)| folder).collect();
        assert_eq!(folders, [Some("disk".to_owned()), None, Some("moved".to_owned())]);
        assert_eq!((system.raft_index().unwrap(), system.records().unwrap()[0].0.etag), (7, 5));
        assert!(RequestIds::open(&system.environment.read()).unwrap().is_some());
    }
}
