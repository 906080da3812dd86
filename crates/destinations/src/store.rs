//! An object store as a destination of backups.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use database::backups::{Contents, Destination, DestinationError, DestinationKind, IsEnded, StoredFile};
use database::{Error, Result};
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::time::{Instant, sleep};

use crate::failure::Failure;
use crate::limits::{ABORT_TIME_MAX, FILES_LISTED_MAX, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN};
use crate::network::Network;
use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::{download, upload};

/// One object store, and a folder in it.
#[derive(Clone)]
pub(crate) struct ObjectDestination {
    pub store: Arc<dyn ObjectStore>,
    pub network: Arc<Network>,
    pub retry_time_max: Duration,
    is_ended: IsEnded,
    /// When a request first learned that what the place is used for has ended.
    ended_at: Arc<OnceLock<Instant>>,
    kind: DestinationKind,
    place: String,
    root: String,
    secrets: Secrets,
}

impl ObjectDestination {
    /// # Errors
    ///
    /// As [`Network::get`].
    pub fn new(opened: Opened, kind: DestinationKind, options: &ObjectStores) -> Result<ObjectDestination> {
        let Opened { store, place, root, secrets } = opened;
        let place = if root.is_empty() { place } else { format!("'{root}' in {place}") };
        let retry_time_max = options.retry_time_max;
        let (network, is_ended): (_, IsEnded) = (Network::get()?, Arc::new(|| false));
        let ended_at = Arc::default();
        Ok(ObjectDestination { store, network, retry_time_max, is_ended, ended_at, kind, place, root, secrets })
    }

    /// The error of an operation that failed in the store.
    pub fn failed(&self, operation: &'static str, path: &str, error: &object_store::Error) -> Error {
        self.error(operation, path, Failure::of(error).reason(self.kind, &self.secrets))
    }

    pub fn error(&self, operation: &'static str, path: &str, reason: String) -> Error {
        let (path, place) = (path.to_owned(), self.place.clone());
        Error::Destination(DestinationError { operation, path, place, reason })
    }

    /// Where a file or folder is in the store.
    pub fn location(&self, operation: &'static str, path: &str) -> Result<Path> {
        let parts = [self.root.as_str(), path];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Path::parse(parts.join("/"))
            .map_err(|_| self.error(operation, path, "an object store cannot have a file of this name".to_owned()))
    }

    /// Waits for a request that may be sent again, which is done as long as it fails in a way that may pass. The library does not do so
    /// when an answer was cut.
    ///
    /// # Errors
    ///
    /// As [`Self::wait`].
    pub fn persist<T: Send + 'static, F: Future<Output = object_store::Result<T>> + Send + 'static>(
        &self,
        request: impl FnMut() -> F + Send + 'static,
    ) -> Result<object_store::Result<T>> {
        self.wait(repeat(self.retry_time_max, request))
    }

    /// As [`Self::persist`] of a request that must not be cut off, as [`Self::wait_to_end`] has it.
    pub fn persist_to_end<T: Send + 'static, F: Future<Output = object_store::Result<T>> + Send + 'static>(
        &self,
        request: impl FnMut() -> F + Send + 'static,
    ) -> Result<object_store::Result<T>> {
        self.wait_to_end(repeat(self.retry_time_max, request))
    }

    /// Asks for the size and the date of a file, as [`Self::wait_to_end`] has it.
    pub fn head_to_end(&self, location: &Path) -> Result<object_store::Result<ObjectMeta>> {
        let (store, location) = (self.store.clone(), location.clone());
        self.persist_to_end(move || {
            let (store, location) = (store.clone(), location.clone());
            async move { store.head(&location).await }
        })
    }

    /// Waits for a request.
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]: what the place is used for ended, and the request with it.
    pub fn wait<T: Send + 'static>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<object_store::Result<T>> {
        self.network.wait(request, &mut || self.check_end())
    }

    /// Waits for a request that would leave something behind in the store if it was cut off. When what the place is used for ends, all
    /// such requests together have [`ABORT_TIME_MAX`].
    ///
    /// # Errors
    ///
    /// [`Error::Canceled`]: that was not enough.
    pub fn wait_to_end<T: Send + 'static>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<object_store::Result<T>> {
        self.network.wait(request, &mut || match self.check_end() {
            Err(error) if self.ended_at.get_or_init(Instant::now).elapsed() >= ABORT_TIME_MAX => Err(error),
            _ => Ok(()),
        })
    }

    /// Gives the path of what the store has at a location, below this destination.
    fn below(&self) -> impl Fn(&Path) -> Option<String> + Copy + use<> {
        let root_size = if self.root.is_empty() { 0 } else { self.root.len() + 1 };
        move |location| location.as_ref().get(root_size..).map(str::to_owned)
    }

    /// Gives an object of the store as a file of this destination.
    fn stored(&self) -> impl Fn(ObjectMeta) -> Option<StoredFile> + Copy + use<> {
        let below = self.below();
        move |object| Some(StoredFile { path: below(&object.location)?, size: object.size })
    }

    /// # Errors
    ///
    /// [`Error::Canceled`]: what the place is used for ended.
    pub fn check_end(&self) -> Result<()> {
        if (self.is_ended)() { Err(Error::Canceled) } else { Ok(()) }
    }
}

/// Sends a request again while it fails for a while.
async fn repeat<T, F: Future<Output = object_store::Result<T>>>(
    time_max: Duration,
    mut request: impl FnMut() -> F,
) -> object_store::Result<T> {
    let (began, mut pause) = (Instant::now(), RETRY_PAUSE_MIN);
    loop {
        match request().await {
            Err(error) if !Failure::of(&error).is_final() && began.elapsed() < time_max => sleep(pause).await,
            outcome => return outcome,
        }
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
    }
}

impl Destination for ObjectDestination {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn put(&self, path: &str, file: &mut File, size: u64, sent: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        upload::put(self, path, file, size, sent)
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredFile>> {
        let prefix = self.location("list", folder)?;
        let prefix = Some(prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let (store, stored) = (self.store.clone(), self.stored());
        let listed = self.persist(move || {
            let mut objects = store.list(prefix.as_ref());
            async move {
                let mut files = Vec::new();
                while let Some(object) = objects.try_next().await? {
                    if files.len() == FILES_LISTED_MAX {
                        return Ok(None);
                    }
                    files.extend(stored(object));
                }
                Ok(Some(files))
            }
        })?;
        match listed {
            Ok(Some(files)) => Ok(files),
            Ok(None) => {
                let reason = format!(
                    "it has more files than FILES_LISTED_MAX allows: {FILES_LISTED_MAX}. Give backups a 'RemoteFolderName' of their own"
                );
                Err(self.error("list", folder, reason))
            }
            Err(error) => Err(self.failed("list", folder, &error)),
        }
    }

    fn look_into(&self, folder: &str) -> Result<Contents> {
        let prefix = self.location("list", folder)?;
        let prefix = Some(prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let store = self.store.clone();
        let listed = self.persist(move || {
            let (store, prefix) = (store.clone(), prefix.clone());
            async move { store.list_with_delimiter(prefix.as_ref()).await }
        })?;
        let ListResult { common_prefixes, objects, .. } =
            listed.map_err(|error| self.failed("list", folder, &error))?;
        Ok(Contents {
            files: objects.into_iter().filter_map(self.stored()).collect(),
            folders: common_prefixes.iter().filter_map(self.below()).collect(),
        })
    }

    fn get(&self, path: &str) -> Result<Box<dyn Read + Send>> {
        download::get(self, path)
    }

    fn remove(&self, path: &str) -> Result<()> {
        let location = self.location("remove", path)?;
        let store = self.store.clone();
        match self.wait_to_end(async move { store.delete(&location).await })? {
            Err(error) if !Failure::of(&error).is_missing_file() => Err(self.failed("remove", path, &error)),
            _ => Ok(()),
        }
    }

    fn ending_when(&self, is_ended: IsEnded) -> Arc<dyn Destination> {
        Arc::new(ObjectDestination { is_ended, ended_at: Arc::default(), ..self.clone() })
    }
}

impl fmt::Debug for ObjectDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectDestination").field("place", &self.place).finish_non_exhaustive()
    }
}
