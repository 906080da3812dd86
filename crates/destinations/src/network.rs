//! The runtime and the HTTP client of all object stores of the process, made when the first one is opened.
//!
//! They stay until the process ends. A request runs while a thread waits for it, so that the threads `object-stores` sleep at rest.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use database::{Error, Result};
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::addresses::CheckedResolver;
use crate::limits::{
    CONNECT_TIME_MAX, KEEP_ALIVE_TIME, PROGRESS_PERIOD, RESOLVER_THREADS_MAX, RETRY_PAUSE_MAX, RETRY_PAUSE_MIN,
    THREADS, UPLOAD_RATE_MIN,
};
use crate::options::ObjectStores;
use crate::settings::bad;

/// What all object stores of the process share.
#[derive(Debug)]
pub(crate) struct Network {
    runtime: Runtime,
    client: reqwest::Client,
    /// The same for settings that are not an operator's.
    restricted: reqwest::Client,
}

static NETWORK: Mutex<Option<Arc<Network>>> = Mutex::new(None);

impl Network {
    /// The one of the process.
    ///
    /// # Errors
    ///
    /// [`Error::BadBackup`]: the machine has no threads or memory for it.
    pub fn get() -> Result<Arc<Network>> {
        let mut network = NETWORK.lock();
        if let Some(network) = &*network {
            return Ok(network.clone());
        }
        let made =
            Arc::new(Network::make().map_err(|reason| bad(format!("object stores cannot be reached: {reason}")))?);
        *network = Some(made.clone());
        Ok(made)
    }

    fn make() -> std::result::Result<Network, String> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(RESOLVER_THREADS_MAX)
            .thread_name("object-stores")
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let mut roots = rustls::RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "certificates of authorities were not read");
        }
        roots.add_parsable_certificates(found.certs);
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = || {
            reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .http1_only()
                // A store that answers from elsewhere has another address in its settings; keys go nowhere else.
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(CONNECT_TIME_MAX)
                .pool_idle_timeout(KEEP_ALIVE_TIME)
                .user_agent(concat!("Rookery/", env!("CARGO_PKG_VERSION")))
        };
        // A proxy of the environment would look names up by itself, where nothing checks their addresses.
        let restricted = client().no_proxy().dns_resolver(Arc::new(CheckedResolver));
        let restricted = restricted.build().map_err(|error| error.to_string())?;
        let client = client().build().map_err(|error| error.to_string())?;
        Ok(Network { runtime, client, restricted })
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Runs a request to its end on the runtime, and waits.
    ///
    /// * `tick`: called every [`PROGRESS_PERIOD`]; an error of it ends the request.
    ///
    /// # Errors
    ///
    /// Those of `tick`.
    pub fn wait<T: Send + 'static>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send + 'static,
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<object_store::Result<T>> {
        let (ended, end) = mpsc::sync_channel(1);
        let task = self.runtime.spawn(async move {
            // The waiting thread may have given up.
            _ = ended.send(request.await);
        });
        let given_up = loop {
            match end.recv_timeout(PROGRESS_PERIOD) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(panicked())),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = tick() {
                        break error;
                    }
                }
            }
        };
        task.abort();
        Err::<_, Error>(given_up)
    }
}

/// The error of a request that ended without an outcome.
pub(crate) fn panicked() -> object_store::Error {
    let source = "the request panicked; the log says where".into();
    object_store::Error::Generic { store: "object", source }
}

/// How requests are tried again.
pub(crate) fn retries(options: &ObjectStores) -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: RETRY_PAUSE_MIN, max_backoff: RETRY_PAUSE_MAX, base: 2.0 };
    // Time is the bound, not their number.
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: options.retry_time_max }
}

/// Gives the stores the one client, with their time limits.
#[derive(Debug)]
pub(crate) struct Connector {
    client: TimedClient,
}

impl Connector {
    /// # Errors
    ///
    /// As [`Network::get`].
    ///
    /// * `is_restricted`: whether requests must not go to this machine.
    pub fn new(options: &ObjectStores, is_restricted: bool) -> Result<Connector> {
        let network = Network::get()?;
        let client = if is_restricted { &network.restricted } else { &network.client };
        Ok(Connector { client: TimedClient { client: client.clone(), idle_time_max: options.idle_time_max } })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.client.clone()))
    }
}

/// A client whose requests end although the other side stands still.
#[derive(Clone, Debug)]
struct TimedClient {
    client: reqwest::Client,
    idle_time_max: Duration,
}

/// Nothing came for too long.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} s", .0.as_secs())]
struct Stalled(Duration);

/// The store has no room. Trying again would not help.
#[derive(Debug, thiserror::Error)]
#[error("Server returned non-2xx status code: 507 Insufficient Storage: {0}")]
struct Full(String);

impl TimedClient {
    async fn answer(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let size = request.body().content_length() as u64;
        let time = self.idle_time_max + Duration::from_secs(size / UPLOAD_RATE_MIN);
        let idle = self.idle_time_max;
        let stalled = move |time| HttpError::new(HttpErrorKind::Timeout, Stalled(time));
        let response = timeout(time, self.client.call(request)).await.map_err(|_| stalled(time))??;
        let (head, body) = response.into_parts();
        let frames = stream::unfold(Some(body), move |body| async move {
            let mut body = body?;
            match timeout(idle, body.frame()).await {
                Ok(None) => None,
                Ok(Some(frame)) => Some((frame, Some(body))),
                Err(_) => Some((Err(stalled(idle)), None)),
            }
        });
        let body = HttpResponseBody::new(StreamBody::new(frames));
        if head.status.as_u16() == INSUFFICIENT_STORAGE {
            let text = body.bytes().await.unwrap_or_default();
            return Err(HttpError::new(HttpErrorKind::Unknown, Full(String::from_utf8_lossy(&text).into_owned())));
        }
        Ok(HttpResponse::from_parts(head, body))
    }
}

/// The status of a store that has no room.
const INSUFFICIENT_STORAGE: u16 = 507;

// As `async_trait` writes it, which the trait was declared with.
impl HttpService for TimedClient {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.answer(request))
    }
}
