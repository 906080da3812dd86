//! A running server: what it needs, how it starts, how it stops.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use database::backups::DestinationKind;
use database::limits::{BODIES_MEMORY, MEMORY};
use database::{AsyncWrites, Clock, Databases, DatabasesOptions, SystemClock};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::bells::Bells;
use crate::bridge::{Bridge, Pool};
use crate::certificates::certificate::TrustedThumbprint;
use crate::certificates::files::{CertificateError, CertificateFiles, Password};
use crate::consumer_memory::ConsumerMemory;
use crate::database_opening::Openings;
use crate::feed::Feeds;
use crate::limits::{DATABASES_LOGGED_MAX, Limits};
use crate::memory::Memory;
use crate::messages::answers::Answers;
use crate::monitoring::audit::{AuditLog, AuditOptions};
use crate::monitoring::latency::Latencies;
use crate::monitoring::log_control::LogControl;
use crate::monitoring::metrics::Metrics;
use crate::monitoring::recent_log::RecentLog;
use crate::monitoring::slow::SlowRequests;
use crate::network::attempts::Attempts;
use crate::network::connection::Connections;
use crate::network::hosts::Hosts;
use crate::network::listener;
use crate::network::peer::Scheme;
use crate::network::tls::Tls;
use crate::node::Node;
use crate::routing::dispatch::Dispatcher;
use crate::setting::Setting;
use crate::traces::{TraceOptions, Traces};
use crate::writable;

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 picks a free one. Not empty.
    pub addresses: Vec<SocketAddr>,
    /// What is spoken there.
    pub scheme: Scheme,
    /// Where to listen for TCP connections of subscriptions; port 0 picks a free one. Empty: at the host of the first address, on a free
    /// port.
    pub tcp_addresses: Vec<SocketAddr>,
    /// The URL under which clients find that, where it cannot be told from their requests: `tcp://db.example.com:38888`.
    pub public_tcp_url: Option<String>,
    /// The certificate that HTTPS needs.
    pub certificate: CertificateOptions,
    /// The thumbprints of certificates whose owners may do everything, beside the server's own certificate.
    pub admins: Vec<TrustedThumbprint>,
    /// The URL under which clients find this server, where it cannot be told from their requests.
    pub public_url: Option<String>,
    /// Names by which clients may call the server, besides `localhost`, addresses and the host of `public_url`.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages of others that may call the server: `http://localhost:5173`.
    pub allowed_origins: Vec<String>,
    /// The folder of the databases; ignored when they are in memory.
    pub data_directory: PathBuf,
    /// Keep everything in memory and lose it at the end.
    pub in_memory: bool,
    /// Offer the tools of MCP that write.
    pub mcp_writes_allowed: bool,
    /// Allow addresses that other machines reach, although nobody has to show a certificate.
    pub unsecured_access: bool,
    /// The bounds.
    pub limits: Limits,
    /// What was set, and where, to be told; nothing follows from it.
    pub settings: Vec<Setting>,
    /// Where the log is kept that is to be told.
    pub log: Arc<RecentLog>,
    /// Changes the level of the log while the server runs.
    pub log_control: Arc<LogControl>,
    /// Where spans of requests are sent; `None`: there are none.
    pub traces: Option<TraceOptions>,
    /// Log a line for each request.
    pub access_log: bool,
    /// Keep an audit log there.
    pub audit: Option<AuditOptions>,
    /// The folder below which all backups to folders lie; `None`: anywhere.
    pub backup_root: Option<PathBuf>,
    /// The kinds of places that backups may go to; `None`: all.
    pub allowed_destinations: Option<Vec<DestinationKind>>,
    /// The commit that the program was built from, for `/metrics`; `None`: not known.
    pub commit: Option<String>,
    /// The clock by which documents expire, are refreshed and archived.
    pub clock: Arc<dyn Clock>,
    /// Between two rounds of what is due now and then: keys and certificates that expired, tombstones that are not needed.
    pub maintain_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            addresses: vec![SocketAddr::from(([127, 0, 0, 1], 8080))],
            scheme: Scheme::Http,
            tcp_addresses: Vec::new(),
            public_tcp_url: None,
            certificate: CertificateOptions::default(),
            admins: Vec::new(),
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            data_directory: PathBuf::from("data"),
            in_memory: false,
            mcp_writes_allowed: false,
            unsecured_access: false,
            limits: Limits::default(),
            settings: Vec::new(),
            log: Arc::default(),
            log_control: Arc::default(),
            traces: None,
            access_log: false,
            audit: None,
            backup_root: None,
            allowed_destinations: None,
            commit: None,
            clock: Arc::new(SystemClock),
            maintain_every: MAINTAIN_EVERY,
        }
    }
}

impl Options {
    /// Checks what can be checked without opening databases and ports, reads the certificate, and tries to write into the folders of the
    /// data and of the audit log. Returns what an operator should know.
    ///
    /// # Errors
    ///
    /// [`StartError::NotLoopback`] if other machines would reach the server without a certificate, and that was not allowed;
    /// [`StartError::CertificateSettings`], [`StartError::Certificate`], [`StartError::Databases`] and [`StartError::AuditLog`].
    pub fn check(&self) -> Result<Vec<String>, StartError> {
        let tls = self.tls()?;
        if !self.in_memory {
            let directory = &self.data_directory;
            writable::check(directory).map_err(|error| StartError::Databases {
                directory: directory.clone(),
                source: Box::new(database::Error::Io {
                    operation: "write",
                    path: directory.clone(),
                    source: Arc::new(error),
                }),
            })?;
        }
        if let Some(AuditOptions { folder, .. }) = &self.audit {
            writable::check(folder).map_err(|source| StartError::AuditLog { folder: folder.clone(), source })?;
        }
        let mut warnings = tls.iter().flat_map(|tls| tls.warnings(SystemTime::now())).collect::<Vec<_>>();
        if tls.is_some() && self.admins.is_empty() {
            warnings.push(format!("unless the data folder has one, {NO_ADMINISTRATOR}"));
        }
        Ok(warnings)
    }

    /// The certificate, if there is to be one, and the other checks.
    fn tls(&self) -> Result<Option<Tls>, StartError> {
        let files = self.certificate.files().map_err(StartError::CertificateSettings)?;
        match (self.scheme, files) {
            (Scheme::Http, Some(_)) => Err(StartError::CertificateSettings(
                "there is a certificate, and ServerUrl begins with http://, which does not use it. Write https:// in ServerUrl, or remove \
                 the settings Security.Certificate.*",
            )),
            (Scheme::Http, None) if !self.admins.is_empty() => Err(StartError::CertificateSettings(
                "Security.WellKnownCertificates.Admin needs HTTPS: without it the server sees no certificates of clients. Write https:// in \
                 ServerUrl, and set Security.Certificate.Path",
            )),
            (Scheme::Http, None) => match self.reachable_address() {
                Some(address) if !self.unsecured_access => Err(StartError::NotLoopback(address)),
                _ => Ok(None),
            },
            (Scheme::Https, None) => Err(StartError::CertificateSettings(
                "ServerUrl begins with https://, which needs a certificate. Set Security.Certificate.Path to a PFX file, or \
                 Security.Certificate.PemPath and Security.Certificate.KeyPath to PEM files; 'rookery cert' makes them",
            )),
            (Scheme::Https, Some(files)) => {
                Tls::load(files, self.admins.clone()).map(Some).map_err(StartError::Certificate)
            }
        }
    }

    /// An address that other machines may reach.
    fn reachable_address(&self) -> Option<SocketAddr> {
        self.addresses.iter().chain(&self.tcp_addresses).copied().find(|address| !address.ip().is_loopback())
    }
}

/// The certificate as the settings name it.
#[derive(Debug, Clone, Default)]
pub struct CertificateOptions {
    /// A PFX file with certificate and key.
    pub pfx: Option<PathBuf>,
    /// The password of the PFX file.
    pub password: Option<Password>,
    /// A PEM file with the certificate and those of its issuers.
    pub pem: Option<PathBuf>,
    /// A PEM file with the key, if it is not in the other one.
    pub key: Option<PathBuf>,
}

impl CertificateOptions {
    /// The files, if any are named.
    ///
    /// # Errors
    ///
    /// Settings that do not belong together, as a sentence.
    fn files(&self) -> Result<Option<CertificateFiles>, &'static str> {
        let CertificateOptions { pfx, password, pem, key } = self.clone();
        match (pfx, pem) {
            (Some(_), Some(_)) => Err(
                "Security.Certificate.Path and Security.Certificate.PemPath both name a certificate; remove one of the two settings",
            ),
            (Some(_), None) if key.is_some() => Err(
                "Security.Certificate.KeyPath belongs to Security.Certificate.PemPath; the key of a PFX file is in that file",
            ),
            (Some(path), None) => Ok(Some(CertificateFiles::Pfx { path, password: password.unwrap_or_default() })),
            (None, Some(_)) if password.is_some() => Err(
                "Security.Certificate.Password is that of a PFX file, in Security.Certificate.Path; a key in a PEM file must not be encrypted",
            ),
            (None, Some(certificate)) => {
                let key = key.unwrap_or_else(|| certificate.clone());
                Ok(Some(CertificateFiles::Pem { certificate, key }))
            }
            (None, None) if key.is_some() => Err(
                "Security.Certificate.KeyPath is set without Security.Certificate.PemPath, the file of the certificate",
            ),
            (None, None) if password.is_some() => {
                Err("Security.Certificate.Password is set without Security.Certificate.Path, the file that it opens")
            }
            (None, None) => Ok(None),
        }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Without certificates only this machine may reach the server. Allow it explicitly, or listen on loopback.
    #[error(
        "{0} can be reached from other machines, and without a certificate anyone could use the server. \
         Listen on a loopback address, use HTTPS with a certificate ('rookery cert' makes one), or allow it with \
         --Security.UnsecuredAccessAllowed=PublicNetwork"
    )]
    NotLoopback(SocketAddr),
    /// The settings of the certificate contradict each other, or ServerUrl.
    #[error("{0}")]
    CertificateSettings(&'static str),
    /// The certificate cannot be used.
    #[error("the server's certificate cannot be used")]
    Certificate(#[source] CertificateError),
    /// Somebody else has the port, or it is not ours to have.
    #[error("cannot listen on {address}")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The databases' folder cannot be used; in use by another instance, for example.
    #[error("cannot open the data directory {}", directory.display())]
    Databases {
        /// The folder.
        directory: PathBuf,
        /// Why.
        source: Box<database::Error>,
    },
    /// The files of the audit log cannot be written.
    #[error("cannot write the audit log in {}", folder.display())]
    AuditLog {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The system gives no threads.
    #[error("cannot start the threads of bulk inserts")]
    Threads(#[source] std::io::Error),
}

/// Those who could let others in are not let in themselves.
const NO_ADMINISTRATOR: &str = "no administrator has a certificate or API key: only the owner of the server's own certificate can administer \
    the server. Set Security.WellKnownCertificates.Admin to the thumbprint of an administrator's certificate; 'rookery cert show admin.pem' \
    prints it";

/// How long requests that run may go on when the server stops.
const STOP_GRACE: Duration = Duration::from_millis(700);

/// How long connections that were cut off may take to notice.
const CLOSE_GRACE: Duration = Duration::from_millis(100);

/// How long the end of the runtime waits for writes on their way to the device.
const LAST_WRITES_GRACE: Duration = Duration::from_millis(500);

/// Between two rounds of what is due now and then.
const MAINTAIN_EVERY: Duration = Duration::from_secs(60);

/// A server that answers. Stop it with [`Server::stop`]; dropping it cuts everything off.
#[derive(Debug)]
pub struct Server {
    pub(crate) node: Arc<Node>,
    addresses: Vec<SocketAddr>,
    scheme: Scheme,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Opens the databases and the ports. Must be called inside of a tokio runtime; from then on requests are answered.
    ///
    /// # Errors
    ///
    /// [`StartError`], and nothing is left running.
    pub async fn start(options: Options) -> Result<Server, StartError> {
        let tls = options.tls()?;
        for warning in tls.iter().flat_map(|tls| tls.warnings(SystemTime::now())) {
            tracing::warn!("{warning}");
        }
        let reachable = options.reachable_address();
        if let (None, Some(address)) = (&tls, reachable) {
            tracing::warn!(%address, "UNSECURED: anyone who reaches this address can read and change everything");
        }
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for &address in &options.addresses {
            let listen = |source| StartError::Listen { address, source };
            let listener = listener::bind(address).map_err(listen)?;
            addresses.push(listener.local_addr().map_err(listen)?);
            listeners.push(listener);
        }
        let beside_http = || options.addresses.first().map(|address| SocketAddr::new(address.ip(), 0));
        let tcp_addresses = match &options.tcp_addresses[..] {
            [] => beside_http().into_iter().collect(),
            given => given.to_vec(),
        };
        let (mut tcp_listeners, mut tcp_port) = (Vec::new(), None);
        for address in tcp_addresses {
            let listen = |source| StartError::Listen { address, source };
            let listener = listener::bind(address).map_err(listen)?;
            tcp_port = tcp_port.or(Some(listener.local_addr().map_err(listen)?.port()));
            tcp_listeners.push(listener);
        }
        let folder = (!options.in_memory).then(|| options.data_directory.clone());
        let memory = Memory::new(MEMORY, options.limits.memory_size);
        let bodies = memory.share(BODIES_MEMORY, options.limits.bodies_size);
        let (async_writes, write_ends) = begin_async_writes().unzip();
        let databases =
            open_databases(folder.clone(), &options, (&memory, &bodies), async_writes.clone()).map_err(|source| {
                StartError::Databases { directory: options.data_directory.clone(), source: Box::new(source) }
            })?;
        log_databases(&databases, folder.as_deref());
        if let Some(tls) = &tls {
            let failed =
                |source| StartError::Databases { directory: options.data_directory.clone(), source: Box::new(source) };
            tls.registry.load(&databases).map_err(failed)?;
            if tls.admins().is_empty() && !tls.registry.has_administrator(SystemTime::now()) {
                tracing::warn!("{NO_ADMINISTRATOR}");
            }
        }
        let bridge = Bridge::new(&options.limits, memory.clone(), async_writes.clone()).map_err(StartError::Threads)?;
        let url = addresses.first().map_or_else(String::new, |address| options.scheme.url(address));
        // The names of its certificate are the server's own.
        let names: Vec<_> = options.allowed_hosts.into_iter().chain(tls.iter().flat_map(Tls::hosts)).collect();
        let audit = options.audit.map(|options| {
            let folder = options.folder.clone();
            AuditLog::start(options).map_err(|source| StartError::AuditLog { folder, source })
        });
        let audit = audit.transpose()?;
        let (stop, stopped) = watch::channel(false);
        let node = Arc::new(Node {
            dispatch: &Dispatcher,
            stopped: stopped.clone(),
            databases,
            openings: Openings::default(),
            mcp_calls: Arc::new(Semaphore::new(options.limits.mcp_call_count)),
            mcp_writes_allowed: options.mcp_writes_allowed,
            bridge,
            consumers: ConsumerMemory::new(&memory, options.limits.consumers_size.min(options.limits.memory_size / 2)),
            memory,
            bodies,
            answers: Answers::default(),
            connections: Arc::new(Connections::new()),
            attempts: Attempts::new(Instant::now()),
            unidentified: Attempts::new(Instant::now()),
            audit,
            metrics: Metrics::default(),
            latencies: Latencies::default(),
            slow: SlowRequests::new(options.limits.slow_request),
            running: Arc::default(),
            log: options.log,
            log_control: options.log_control,
            traces: options.traces.as_ref().map(Traces::start),
            has_access_log: options.access_log,
            commit: options.commit,
            settings: options.settings,
            data_directory: folder,
            feeds: Feeds::default(),
            bells: Bells::default(),
            tcp_port,
            public_tcp_url: options.public_tcp_url,
            traffic_watch: parking_lot::Mutex::default(),
            hosts: Hosts::new(options.public_url.as_deref(), &names, &options.allowed_origins, options.scheme),
            tls,
            reachable,
            url,
            public_url: options.public_url,
            started: Instant::now(),
            started_at: SystemTime::now(),
            request_count: AtomicU64::new(0),
            limits: options.limits,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(listener::sweep(node.clone()));
        tasks.spawn(maintain(node.clone(), options.maintain_every, stopped.clone()));
        if let Some(ends) = write_ends {
            // Not one of `tasks`, which end with the server: it ends with the last environment.
            tokio::spawn(ends.reap());
        }
        for listener in listeners {
            tasks.spawn(listener::accept(listener, listener::Protocol::Http, node.clone(), stopped.clone()));
        }
        for listener in tcp_listeners {
            tasks.spawn(listener::accept(listener, listener::Protocol::Subscriptions, node.clone(), stopped.clone()));
        }
        Ok(Server { node, addresses, scheme: options.scheme, stop, tasks })
    }

    /// The first address as a URL, `http://127.0.0.1:8080`.
    pub fn url(&self) -> &str {
        &self.node.url
    }

    /// All addresses as URLs.
    pub fn urls(&self) -> Vec<String> {
        self.addresses.iter().map(|address| self.scheme.url(address)).collect()
    }

    /// Where the server listens, with the ports that were picked.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes no more requests, lets those that run end for a moment, cuts off what is left, and closes the databases. Nothing
    /// that a client does or leaves undone makes it take longer.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let is_over = tokio::time::timeout(STOP_GRACE, self.node.connections.all_ended()).await.is_ok();
        if !is_over {
            self.node.connections.close_all();
            let _ = tokio::time::timeout(CLOSE_GRACE, self.node.connections.all_ended()).await;
        }
        if self.node.tls.is_some() {
            let now = SystemTime::now();
            maintain_access(&self.node, now, now).await;
        }
        // Only now the sweeper as well: until here it closes connections whose deadlines pass.
        self.tasks.abort_all();
    }
}

/// Has the log know which databases there are.
fn log_databases(databases: &Databases, folder: Option<&Path>) {
    let names = databases.names();
    let mut listed = names.iter().take(DATABASES_LOGGED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > DATABASES_LOGGED_MAX {
        listed.push_str(", ..");
    }
    let folder = folder.map_or_else(
        || "(memory)".to_owned(),
        |folder| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string(),
    );
    tracing::info!(data = folder, count = names.len(), names = listed, "databases found");
}

/// Asynchronous writes with their ends, if the system has them.
fn begin_async_writes() -> Option<(Arc<AsyncWrites>, WriteEnds)> {
    let begun = AsyncWrites::new().and_then(|writes| {
        let writes = Arc::new(writes);
        let ends = WriteEnds::of(&writes)?;
        Ok((writes, ends))
    });
    begun
        .inspect_err(|error| {
            tracing::info!(%error, "the system has no asynchronous writes: threads wait for the device");
        })
        .ok()
}

/// The ends of asynchronous writes. A write on its way holds its database open, so that each has to end, also those of a server that was
/// dropped, or whose runtime ends.
struct WriteEnds {
    /// Weak: the task ends when the last environment is closed.
    writes: Weak<AsyncWrites>,
    event: AsyncFd<OwnedFd>,
}

impl WriteEnds {
    /// # Errors
    ///
    /// The runtime cannot watch the descriptor.
    fn of(writes: &Arc<AsyncWrites>) -> std::io::Result<WriteEnds> {
        #[expect(
            deprecated,
            reason = "an `OwnedFd` keeps its descriptor, as the unsafe function in its place asks for"
        )]
        let event = AsyncFd::new(writes.event().try_clone_to_owned()?)?;
        Ok(WriteEnds { writes: Arc::downgrade(writes), event })
    }

    /// Answers the writes that have ended, on the network's threads, until no environment is left.
    async fn reap(self) {
        while let Ok(mut ready) = self.event.readable().await {
            ready.clear_ready();
            loop {
                let Some(writes) = self.writes.upgrade() else { return };
                let reaped = catch_unwind(AssertUnwindSafe(|| writes.reap()));
                drop(writes);
                match reaped {
                    Ok(false) => break,
                    Ok(true) => tokio::task::yield_now().await,
                    Err(_) => {
                        // No write of any database would ever be answered again.
                        tracing::error!("the task that answers asynchronous writes panicked");
                        std::process::abort();
                    }
                }
            }
        }
    }
}

impl Drop for WriteEnds {
    /// The runtime ends.
    fn drop(&mut self) {
        if let Some(writes) = self.writes.upgrade() {
            writes.drain(LAST_WRITES_GRACE);
        }
    }
}

/// Reads the files of the certificate again if they were changed, ends sessions of the studio and the connections of keys and certificates
/// that expired, and stores when API keys were used last.
///
/// * `last`: when it did so before.
async fn maintain_access(node: &Arc<Node>, last: SystemTime, now: SystemTime) {
    let maintained = node.clone();
    let work = move || {
        if let Some(tls) = &maintained.tls {
            tls.reload_if_changed();
            let is_valid = |key: &[u8; 32]| tls.registry.key(key).is_some_and(|key| key.expired(now).is_none());
            for session in tls.sessions.sweep(Instant::now(), is_valid) {
                maintained.connections.close_sockets_of(&session);
            }
            for key in tls.registry.expired_between(last, now) {
                maintained.connections.close_those_of(&key, |_| true);
            }
            let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            maintained.connections.close_expired(i64::try_from(seconds).unwrap_or(i64::MAX));
            tls.registry.store_uses(&maintained.databases)?;
        }
        Ok(())
    };
    if let Err(error) = node.bridge.run(Pool::Short, work).await {
        tracing::debug!(%error, "the certificate's files and the uses of API keys were not looked at");
    }
}

/// What is due now and then in the databases and for the certificate, until the server stops.
async fn maintain(node: Arc<Node>, every: Duration, mut stopped: watch::Receiver<bool>) {
    let mut last = SystemTime::now();
    while tokio::time::timeout(every, stopped.changed()).await.is_err() {
        if node.tls.is_some() {
            let now = SystemTime::now();
            maintain_access(&node, last, now).await;
            last = now;
        }
        let databases = node.databases.clone();
        let work = move || Ok(databases.maintain());
        tokio::select! {
            _ = stopped.changed() => return,
            outcome = node.bridge.run(Pool::Short, work) => if let Ok(cleaned @ 1..) = outcome {
                tracing::info!(cleaned, "tombstones that all indexes have read were removed");
            },
        }
    }
}

fn open_databases(
    folder: Option<PathBuf>,
    given: &Options,
    (memory, bodies): (&Arc<Memory>, &Arc<Memory>),
    async_writes: Option<Arc<AsyncWrites>>,
) -> database::Result<Arc<Databases>> {
    let mut options = match folder {
        Some(folder) => DatabasesOptions::folder(folder),
        None => DatabasesOptions::in_memory(),
    };
    let limits = &given.limits;
    options.clock = given.clock.clone();
    options.async_writes = async_writes;
    #[cfg(feature = "cloud")]
    {
        options.destinations = Arc::new(destinations::ObjectStores::default());
    }
    options.backup_root = given.backup_root.clone();
    options.allowed_destinations = given.allowed_destinations.clone();
    options.limits.memory = memory.clone();
    options.limits.bodies = bodies.clone();
    options.limits.page_versions_size = limits.page_versions_size;
    options.limits.script.steps = limits.script_steps;
    options.limits.automatic_index_idle_after = limits.automatic_index_idle_after;
    options.limits.idle_index_kept = limits.idle_index_kept;
    options.limits.queries = limits.queries;
    Databases::open(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_stops_although_a_task_does_not_end() {
        let addresses = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let mut server = Server::start(Options { addresses, in_memory: true, ..Options::default() }).await.unwrap();
        server.tasks.spawn(std::future::pending());
        tokio::time::timeout(testing::wait::LONG, server.stop()).await.expect("it does not stop");
    }

    mod write_ends {
        use super::super::*;
        use std::sync::mpsc::{Receiver, Sender, channel};
        use storage::io::simulated::SimulatedIo;
        use storage::{Environment, Job, TransactionId, Tree, WriteTransaction};
        use tokio::runtime::{Builder, Runtime};

        /// Holds its environment, as a write of a database does.
        struct Put {
            _environment: Arc<Environment>,
            answered: Sender<bool>,
        }

        impl Job for Put {
            fn short_size(&self) -> Option<usize> {
                Some(0)
            }
            fn run(&mut self, tx: &mut WriteTransaction<'_>) -> bool {
                Tree::open_or_create(tx, b"tree").is_ok()
            }
            fn done(self: Box<Self>, outcome: storage::Result<TransactionId>) {
                self.answered.send(outcome.is_ok()).unwrap();
            }
        }

        fn runtime() -> Runtime {
            Builder::new_current_thread().enable_all().build().unwrap()
        }

        /// An environment whose only holder is a write on its way.
        fn begin_write(writes: &Arc<AsyncWrites>) -> Receiver<bool> {
            let (io, async_writes) = (Arc::new(SimulatedIo::new()), Some(writes.clone()));
            let options = storage::Options { io, async_writes, background: false, ..storage::Options::default() };
            let environment = Arc::new(Environment::open("/x", options).unwrap());
            let (answered, answers) = channel();
            let job = Put { _environment: environment.clone(), answered };
            environment.submit(Box::new(job)).expect("no thread leads").begin(writes);
            answers
        }

        #[test]
        fn a_write_on_its_way_is_answered_although_its_server_is_gone() {
            runtime().block_on(async {
                let (writes, ends) = begin_async_writes().expect("Linux has asynchronous I/O");
                let answers = begin_write(&writes);
                let reaping = tokio::spawn(ends.reap());
                // The databases' own handles go.
                drop(writes);
                let ended = tokio::time::timeout(testing::wait::LONG, reaping).await;
                ended.expect("it ends with the last environment").unwrap();
                assert_eq!(answers.try_recv(), Ok(true));
            });
        }

        #[test]
        fn a_write_on_its_way_is_answered_when_its_runtime_ends() {
            let runtime = runtime();
            let (writes, answers) = {
                let _entered = runtime.enter();
                let (writes, ends) = begin_async_writes().expect("Linux has asynchronous I/O");
                let answers = begin_write(&writes);
                // Never polled: nothing runs on this runtime.
                runtime.spawn(ends.reap());
                (writes, answers)
            };
            assert!(answers.try_recv().is_err(), "it is on its way");
            drop(runtime);
            assert_eq!(answers.try_recv(), Ok(true));
            assert_eq!(Arc::strong_count(&writes), 1, "its environment is closed");
        }
    }
}
