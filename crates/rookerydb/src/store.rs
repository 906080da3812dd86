//! A folder with databases, open in this process.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use database::{Databases, DatabasesOptions, Limits};
use storage::memory::Memory;

use crate::error::of_database;
use crate::limits::MAINTAIN_EVERY;
use crate::{Database, Error, Result};

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// The folder of its files, which is created if it does not exist. `None`: everything is in memory and gone with the store.
    pub folder: Option<PathBuf>,
    /// Bytes that queries and indexing may hold together. `None`: 512 MiB.
    pub memory_size: Option<usize>,
    /// Threads that fill indexes, for all databases together. `None`: one for each core.
    pub indexing_thread_count: Option<usize>,
}

/// A folder with databases, open in this process. A clone is another handle to the same store.
///
/// One process has the folder open at a time. The files are those of the server `rookery`: a folder can be served over HTTP one day and
/// opened in process the next. Dropping the last handle, with that of its databases, closes the store: [`Changes`](crate::Changes) end, and
/// a [`BulkInsert`](crate::BulkInsert) fails with [`Error::Closed`]. What was written before is durable either way.
///
/// ```
/// # fn main() -> rookerydb::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data");
/// let store = rookerydb::Store::open(&path)?;
/// let shop = store.database("Shop")?;
/// shop.put_json("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#)?;
/// drop((shop, store));
///
/// let store = rookerydb::Store::open(&path)?;
/// assert_eq!(store.names(), ["Shop"]);
/// assert!(store.database("Shop")?.get("users/1")?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    databases: Arc<Databases>,
    /// Ends the thread by being dropped.
    stop: Option<Sender<()>>,
    maintenance: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens a folder, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`]: another process has it open, it cannot be created, or it is damaged.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Store> {
        Store::open_with(StoreOptions { folder: Some(folder.into()), ..StoreOptions::default() })
    }

    /// A store in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn in_memory() -> Result<Store> {
        Store::open_with(StoreOptions::default())
    }

    /// Opens a store.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_with(options: StoreOptions) -> Result<Store> {
        let mut limits = Limits::default();
        if let Some(size) = options.memory_size {
            limits.memory = Memory::new("StoreOptions::memory_size", size);
            limits.bodies = limits.memory.share("StoreOptions::memory_size", size / 2);
        }
        if let Some(count) = options.indexing_thread_count {
            limits.indexing_threads_max = count.max(1);
        }
        let mut of_databases = match options.folder {
            Some(folder) => DatabasesOptions::folder(folder),
            None => DatabasesOptions::in_memory(),
        };
        of_databases.limits = limits;
        let databases = Databases::open(of_databases).map_err(of_database)?;
        let (stop, stopped) = mpsc::channel();
        let maintained = Arc::downgrade(&databases);
        let maintenance = std::thread::Builder::new()
            .name("rookerydb-maintenance".to_owned())
            .spawn(move || maintain(&maintained, &stopped))
            .map_err(|error| Error::Storage(Box::new(error)))?;
        Ok(Store(Arc::new(Inner { databases, stop: Some(stop), maintenance: Some(maintenance) })))
    }

    /// The database of a name, in any case, created if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]: a database cannot have this name; [`Error::Storage`].
    pub fn database(&self, name: &str) -> Result<Database> {
        let database = self.0.databases.find_or_create(name).map_err(of_database)?;
        Ok(Database::new(self.clone(), database.name().to_owned()))
    }

    /// The names of the databases.
    pub fn names(&self) -> Vec<String> {
        self.0.databases.names()
    }

    /// Deletes a database with its files. True if there was one.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`].
    pub fn delete_database(&self, name: &str) -> Result<bool> {
        let exists = self.names().iter().any(|other| other.eq_ignore_ascii_case(name));
        self.0.databases.delete(&[name], true, None).map_err(of_database)?;
        Ok(exists)
    }

    pub(crate) fn databases(&self) -> &Databases {
        &self.0.databases
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<database::Database>> {
        self.0.databases.find(name).map_err(of_database)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &self.0.databases.folder()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.maintenance.take() {
            // A panic of the thread was logged where it happened.
            let _ = thread.join();
        }
        // A bulk insert and a thread that waits for changes may outlive the store; they learn here that it ends.
        self.databases.close();
    }
}

/// Maintains the databases until the store is dropped.
fn maintain(databases: &Weak<Databases>, stopped: &mpsc::Receiver<()>) {
    while stopped.recv_timeout(MAINTAIN_EVERY) == Err(RecvTimeoutError::Timeout) {
        let Some(databases) = databases.upgrade() else { return };
        databases.maintain();
    }
}
