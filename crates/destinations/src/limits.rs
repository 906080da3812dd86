//! What an object store may take of time and memory.

use std::time::Duration;

/// Bytes of a part of a multipart upload, and of a file that is sent in one request. S3 wants at least 5 MiB.
pub const PART_SIZE: u64 = 8 << 20;
/// Parts of a file. Files over [`PART_SIZE`] times this have larger parts: 5 TiB, the most that S3 takes, come in parts of 525 MiB.
pub const PARTS_MAX: u64 = 10_000;
/// Bytes of the largest part that a store takes: 5 GiB in S3, 4000 MiB in Azure.
pub const PART_SIZE_MAX: u64 = 4000 << 20;
/// Bytes of the parts that are sent at once, which are in memory. One part goes at a time where the parts are larger.
pub const PARTS_IN_FLIGHT_SIZE: u64 = 32 << 20;
/// Pieces of a download that are read ahead; each has what one read of the connection gave, less than 1 MiB.
pub const PIECES_AHEAD_MAX: usize = 4;
/// Files that are listed: their names are in memory.
pub const FILES_LISTED_MAX: usize = 1_000_000;

/// How long a request that fails for a while is tried again, with pauses from [`RETRY_PAUSE_MIN`] to [`RETRY_PAUSE_MAX`]; and how long a
/// download goes on trying without a byte of progress. Stores refuse requests whose signature is older than some minutes.
pub const RETRY_TIME_MAX: Duration = Duration::from_secs(120);
/// The first pause before a request is tried again.
pub const RETRY_PAUSE_MIN: Duration = Duration::from_millis(200);
/// The longest one.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(15);
/// How long a connection, with TLS, may take to come about.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// How long an answer, or its next piece, may take to come.
pub const IDLE_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes in a second that a request with a body gets time for, beside [`IDLE_TIME_MAX`]: a part of 8 MiB may take 9 minutes.
pub const UPLOAD_RATE_MIN: u64 = 16 << 10;
/// How long a connection is kept for the next request.
pub const KEEP_ALIVE_TIME: Duration = Duration::from_secs(30);
/// How long the parts of an upload that failed are being removed at most. After that a rule of the bucket has to remove them. And how long
/// requests that would leave something behind may go on after a kill, all together: less than a service has to end.
pub const ABORT_TIME_MAX: Duration = Duration::from_secs(20);
/// How often the caller of an upload is called back, and can end it.
pub const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

/// Threads of the runtime of all object stores of the process. They encrypt and sign.
pub const THREADS: usize = 2;
/// Threads that look up names of hosts.
pub const RESOLVER_THREADS_MAX: usize = 4;

/// Bytes of what a store says that are repeated in an error.
pub const MESSAGE_SIZE_MAX: usize = 300;
