//! Backups of databases: written once or by the clock, kept in a folder or an object store, and restored.
//!
//! ```text
//! task, by the clock or by hand ─► run ─► snapshot ─► smuggler ─► zstd ─► key ─► file ─► destinations ─► status ─► retention
//! destination ─► restore points ─► files of one chain ─► smuggler ─► new database, visible when it is whole
//! ```
//!
//! Folders, files and what is in them are those of RavenDB, so that each reads the backups of the other:
//!
//! ```text
//! <folder of the task>/2026-11-27-02-00-00.ravendb-Shop-A-backup/2026-11-27-02-00-00.ravendb-full-backup
//!                                                                2026-11-27-02-15-00.ravendb-incremental-backup
//! ```
//!
//! * [`configuration`](BackupConfiguration): what a task or a request says.
//! * `schedule`: cron expressions.
//! * [`names`](BackupName): of folders and files.
//! * [`destination`](Destination): where files go. The program that runs the node opens those that are no folders.
//! * `file`: how a file is compressed and encrypted.
//! * `run`: one backup. `targets`: the places that it goes to, each by itself. `tasks`: the thread that begins them, and `turns`: when
//!   they may write. `status`: what is remembered of each.
//! * `snapshot`: the other kind of file, an image of the storage.
//! * `archive`: the journal, beside the backups of a task with `PointInTime`.
//! * `survey`: what a place has. `points` and `restore`: the way back; `restored_record`: what of the settings comes along.

mod administration;
mod archive;
mod configuration;
mod destination;
mod encryption;
mod failure;
mod file;
mod names;
mod points;
mod restore;
mod restored_record;
mod result;
mod retention;
mod run;
mod schedule;
mod server_wide;
mod snapshot;
mod spool;
mod status;
mod survey;
mod targets;
mod tasks;
mod turns;

pub(crate) use administration::archive_bytes_max;
pub use archive::{Archive, ArchiveStatus, Until};
pub(crate) use archive::{ArchiveState, Archiver, Host as ArchiveHost};
pub use configuration::{
    BackupConfiguration, BackupKind, BackupTask, DestinationKind, DestinationSettings, set_restricted,
};
pub(crate) use configuration::{PERIODIC_BACKUPS, check_tasks};
pub(crate) use destination::FoldersOnly;
pub use destination::{Contents, Destination, FolderDestination, IsEnded, OpenDestination, StoredFile};
pub use failure::DestinationError;
pub use names::{BackupName, FileKind};
pub use points::RestorePoint;
pub use restore::{Restore, RestoreRequest};
pub use result::{BackupResult, UploadCounts};
pub(crate) use server_wide::{leave_out_keys as leave_out_server_wide_keys, set_tasks as set_server_wide_tasks};
pub(crate) use spool::IN_PROGRESS;
pub use status::BackupStatus;
pub(crate) use tasks::BackupTasks;
pub use tasks::{BackupStarted, RunningBackup};
