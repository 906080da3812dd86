//! Files on their way to a store: in one request, or in parts.
//!
//! The thread of the caller reads the file, since the file blocks; the runtime sends. The parts in flight are all that is in memory.

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};

use database::{Error, Result};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::limits::{ABORT_TIME_MAX, PART_SIZE, PART_SIZE_MAX, PARTS_IN_FLIGHT_SIZE, PARTS_MAX, PROGRESS_PERIOD};
use crate::network::panicked;
use crate::store::ObjectDestination;

const OPERATION: &str = "store";

/// Stores a file. See [`Destination::put`](database::backups::Destination::put).
pub(crate) fn put(
    to: &ObjectDestination,
    path: &str,
    file: &mut File,
    size: u64,
    sent: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let location = to.location(OPERATION, path)?;
    let part_size = part_size(size);
    if part_size > PART_SIZE_MAX {
        let reason =
            format!("it has {size} bytes, and no store takes parts over PART_SIZE_MAX of {PART_SIZE_MAX} bytes");
        return Err(to.error(OPERATION, path, reason));
    }
    file.rewind().map_err(|error| unreadable(to, path, &error))?;
    if size <= PART_SIZE {
        let payload = read(to, path, file, size)?;
        let (store, target) = (to.store.clone(), location.clone());
        let request = async move { store.put(&target, payload).await };
        let stored = to.network.wait(request, &mut || to.check_end().and_then(|()| sent(0)))?;
        stored.map_err(|error| to.failed(OPERATION, path, &error))?;
    } else {
        put_parts(to, path, &location, file, Sizes { all: size, part: part_size }, sent)?;
    }
    check(to, path, location, size)?;
    // The file is there: nothing ends the upload any more.
    _ = sent(size);
    Ok(())
}

/// Bytes of a file and of its parts.
#[derive(Clone, Copy)]
struct Sizes {
    all: u64,
    part: u64,
}

/// Bytes of each part but the last, whole MiB.
fn part_size(size: u64) -> u64 {
    size.div_ceil(PARTS_MAX).next_multiple_of(1 << 20).max(PART_SIZE)
}

fn unreadable(to: &ObjectDestination, path: &str, error: &std::io::Error) -> Error {
    to.error(OPERATION, path, format!("the file that was written for it cannot be read: {error}"))
}

/// Reads the next part.
fn read(to: &ObjectDestination, path: &str, file: &mut File, size: u64) -> Result<PutPayload> {
    let capacity = usize::try_from(size).map_err(|error| to.error(OPERATION, path, error.to_string()))?;
    let mut part = Vec::with_capacity(capacity);
    let count = file.take(size).read_to_end(&mut part).map_err(|error| unreadable(to, path, &error))?;
    if count as u64 == size {
        Ok(part.into())
    } else {
        Err(to.error(OPERATION, path, "the file that was written for it became shorter".to_owned()))
    }
}

/// Looks whether the store has all of the file. One that it has otherwise is removed.
fn check(to: &ObjectDestination, path: &str, location: Path, size: u64) -> Result<()> {
    let stored = to.head_to_end(&location)?.map_err(|error| to.failed(OPERATION, path, &error))?;
    if stored.size == size {
        return Ok(());
    }
    let store = to.store.clone();
    if let Err(error) = to.wait_to_end(async move { store.delete(&location).await })? {
        tracing::warn!(path, error = %to.failed("remove", path, &error), "a file of wrong size was not removed");
    }
    let has = stored.size;
    Err(to.error(
        OPERATION,
        path,
        format!("the store has {has} bytes of {size} after it took all. Look at the store, then try again"),
    ))
}

type Upload = Arc<Mutex<Box<dyn MultipartUpload>>>;

/// Stores a file in parts. The last request makes it visible. After a failure the parts are removed.
fn put_parts(
    to: &ObjectDestination,
    path: &str,
    location: &Path,
    file: &mut File,
    sizes: Sizes,
    sent: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let (store, target) = (to.store.clone(), location.clone());
    // An upload whose id did not arrive cannot be aborted.
    let begun = to.persist_to_end(move || {
        let (store, target) = (store.clone(), target.clone());
        async move { store.put_multipart(&target).await }
    })?;
    let upload = begun.map_err(|error| to.failed(OPERATION, path, &error))?;
    let upload = Arc::new(Mutex::new(upload));
    let outcome = send_parts(to, path, &upload, file, sizes, sent)
        .and_then(|()| complete(to, path, location, &upload, sizes.all));
    if outcome.is_err() {
        abort(to, path, upload)?;
    }
    outcome
}

fn send_parts(
    to: &ObjectDestination,
    path: &str,
    upload: &Upload,
    file: &mut File,
    sizes: Sizes,
    sent: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let in_flight_max = usize::try_from(PARTS_IN_FLIGHT_SIZE / sizes.part).unwrap_or(1).max(1);
    // Dropped, it ends the requests of the parts.
    let mut parts = JoinSet::new();
    let (ended, ends) = mpsc::channel();
    let (mut unread, mut stored, mut in_flight) = (sizes.all, 0, 0);
    while unread > 0 || in_flight > 0 {
        if unread > 0 && in_flight < in_flight_max {
            let size = unread.min(sizes.part);
            let part = upload.blocking_lock().put_part(read(to, path, file, size)?);
            let ended = ended.clone();
            let request = async move {
                let outcome = part.await;
                _ = ended.send(outcome.map(|()| size));
            };
            parts.spawn_on(request, to.network.runtime().handle());
            unread -= size;
            in_flight += 1;
            continue;
        }
        match ends.recv_timeout(PROGRESS_PERIOD) {
            Ok(Ok(size)) => {
                stored += size;
                in_flight -= 1;
            }
            Ok(Err(error)) => return Err(to.failed(OPERATION, path, &error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while let Some(ended) = parts.try_join_next() {
            // One that panicked gives no outcome.
            if ended.is_err() {
                return Err(to.failed(OPERATION, path, &panicked()));
            }
        }
        to.check_end()?;
        sent(stored)?;
    }
    Ok(())
}

/// Makes the file visible.
fn complete(to: &ObjectDestination, path: &str, location: &Path, upload: &Upload, size: u64) -> Result<()> {
    let upload = upload.clone();
    let completed = to.wait_to_end(async move { upload.lock().await.complete().await })?;
    let Err(error) = completed else { return Ok(()) };
    // The answer may have been lost: the request that is then sent again finds no upload any more, but the file.
    let failure = Failure::of(&error);
    let may_be_there = !failure.is_final() || failure.is_missing_file();
    if may_be_there && to.head_to_end(location)?.is_ok_and(|stored| stored.size == size) {
        return Ok(());
    }
    Err(to.failed(OPERATION, path, &error))
}

/// Removes the parts of an upload that failed, as far as the store can be reached.
fn abort(to: &ObjectDestination, path: &str, upload: Upload) -> Result<()> {
    let aborted =
        to.wait_to_end(async move { Ok(timeout(ABORT_TIME_MAX, async { upload.lock().await.abort().await }).await) })?;
    let reason = match aborted {
        Ok(Ok(Ok(()))) => return Ok(()),
        Ok(Ok(Err(error))) | Err(error) => to.failed("remove the parts of", path, &error).to_string(),
        Ok(Err(_)) => format!("no answer within {} s", ABORT_TIME_MAX.as_secs()),
    };
    tracing::warn!(
        path,
        reason,
        "parts of an upload that failed stay in the store until a rule of the bucket removes them"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_size_has_not_too_many_parts() {
        assert_eq!(part_size(0), PART_SIZE);
        assert_eq!(part_size(PART_SIZE * PARTS_MAX), PART_SIZE);
        for size in [PART_SIZE * PARTS_MAX + 1, 640 << 30, 5 << 40] {
            assert!(size.div_ceil(part_size(size)) <= PARTS_MAX, "{size}");
            assert!(part_size(size) <= PART_SIZE_MAX, "{size}");
        }
    }
}
