//! `POST /admin/test-connection`: whether this server reaches another one over HTTP, and then over TCP as tasks between servers would.
//!
//! Only operators may call it, because the answer tells which addresses of the network have a listener. Of what the other side sends, only
//! the addresses that it names and its id are passed on. Redirects are not followed. All steps together take [`TEST_CONNECTION_TIME_MAX`].

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::limits::{TEST_CONNECTION_ADDRESSES_MAX, TEST_CONNECTION_ANSWER_SIZE_MAX, TEST_CONNECTION_TIME_MAX};
use crate::messages::query_string::encode_segment;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;
use crate::subscriptions::{Incoming, TEST_VERSION};

/// The type of the error by which a server says that it does not have the database of a path.
const NO_DATABASE: &str = "DatabaseDoesNotExistException";

/// What was reached, in the order of the steps.
#[derive(Default)]
struct Progress {
    /// The address that was connected to over TCP. `None`: HTTP failed.
    tcp_url: Option<String>,
    log: Vec<String>,
}

/// What a server answers to `GET /info/tcp`.
struct TcpInfo {
    urls: Vec<String>,
    server_id: String,
}

/// `url` (required), `database`. 200 in any case: `{Success, HTTPSuccess, TcpServerUrl, Error, Log}`.
///
/// # Errors
///
/// [`Error::Argument`] without `url`; [`Error::NotSupported`] for an `https` address.
pub(crate) async fn post(exchange: Exchange) -> Result<Reply> {
    let url = exchange.required("url")?.into_owned();
    let database = exchange.query().get_nonempty("database").map(|name| name.into_owned());
    if url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")) {
        return Err(Error::NotSupported { form: "POST /admin/test-connection to an address of HTTPS".to_owned() });
    }
    let mut progress = Progress::default();
    let outcome = timeout(TEST_CONNECTION_TIME_MAX, test(&url, database.as_deref(), &mut progress)).await;
    let outcome = outcome.unwrap_or_else(|_| {
        let seconds = TEST_CONNECTION_TIME_MAX.as_secs();
        Err(format!("It did not answer within {seconds} s (TEST_CONNECTION_TIME_MAX)"))
    });
    let error = outcome.err().map(|reason| {
        let reached = progress.tcp_url.as_deref().unwrap_or(&url);
        format!("An exception was thrown while trying to connect to '{reached}':\n{reason}")
    });
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Success").bool(error.is_none());
        json.name("HTTPSuccess").bool(progress.tcp_url.is_some());
        json.name("TcpServerUrl").optional_string(progress.tcp_url.as_deref());
        json.name("Error").optional_string(error.as_deref());
        if progress.tcp_url.is_some() {
            json.name("Log").array(|json| progress.log.iter().for_each(|line| _ = json.string(line)));
        }
    }))
}

/// `Err`: why the other server is not reached, as a sentence.
async fn test(url: &str, database: Option<&str>, progress: &mut Progress) -> std::result::Result<(), String> {
    let uri: Uri = url.parse().map_err(|_| format!("'{url}' is not a valid url"))?;
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
    let authority = authority.ok_or_else(|| format!("'{url}' is not a valid url: it must begin with http://"))?;
    let address = (authority.host().trim_matches(['[', ']']), authority.port_u16().unwrap_or(80));
    let stream = TcpStream::connect(address).await.map_err(|error| failure("HTTP", url, &error))?;
    let info = info(stream, authority.as_str(), database).await?;
    let urls = info.urls.join(",");
    progress.log.push(format!("Received tcpInfo: \nurls: {urls} \nguid:{}", info.server_id));
    let mut last = "The other server names no address for TCP connections".to_owned();
    for url in info.urls {
        progress.log.push(format!("Trying to connect to :{url}"));
        progress.tcp_url = Some(url.clone());
        match negotiate(&url, database).await {
            Ok((own, other)) => {
                progress.log.push(format!("Successfully negotiated with {url}."));
                progress.log.push(format!(
                    "\nNegotiation successful for operation TestConnection.\n {own} is connected to {other}\n"
                ));
                return Ok(());
            }
            Err(reason) => last = reason,
        }
    }
    Err(last)
}

/// Asks over HTTP where the other server takes TCP connections.
async fn info(stream: TcpStream, host: &str, database: Option<&str>) -> std::result::Result<TcpInfo, String> {
    let failed = |error: &dyn std::fmt::Display| failure("HTTP", host, error);
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| failed(&error))?;
    let path = match database {
        Some(name) => format!("/databases/{}/info/tcp?tag=Test-Connection", encode_segment(name)),
        None => "/info/tcp?tag=Test-Connection".to_owned(),
    };
    let request = Request::get(&path).header(HOST, host).body(Empty::<Bytes>::new()).map_err(|error| failed(&error))?;
    let exchange = async {
        let answer = sender.send_request(request).await.map_err(|error| failed(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), TEST_CONNECTION_ANSWER_SIZE_MAX).collect().await;
        Ok::<_, String>((status, body.map_err(|error| failed(&error))?.to_bytes()))
    };
    // The connection is driven here, so that it ends with this request. It may end before the answer was looked at.
    let mut exchange = std::pin::pin!(exchange);
    let (status, body) = tokio::select! {
        answer = &mut exchange => answer?,
        _ = connection => exchange.await?,
    };
    let no_server = || "It answered, but not as a server of documents does: it names no address for TCP".to_owned();
    let info = json::Value::parse(&body);
    if status != StatusCode::OK {
        let kind = info.ok().and_then(|error| error.get("Type")?.as_str().map(str::to_owned)).unwrap_or_default();
        return Err(match database {
            Some(name) if kind.ends_with(NO_DATABASE) => format!("{NO_DATABASE}: Database '{name}' does not exist."),
            _ => format!("It answered GET {path} with {status}"),
        });
    }
    let info = info.map_err(|_| no_server())?;
    let text = |value: &json::Value| value.as_str().map(str::to_owned);
    let urls = match info.get("Urls") {
        Some(json::Value::Array(urls)) if !urls.is_empty() => {
            urls.iter().filter_map(text).take(TEST_CONNECTION_ADDRESSES_MAX).collect()
        }
        _ => vec![info.get("Url").and_then(text).ok_or_else(no_server)?],
    };
    Ok(TcpInfo { urls, server_id: info.get("ServerId").and_then(text).unwrap_or_default() })
}

/// Opens a TCP connection and says what it is for; gives its two ends.
async fn negotiate(url: &str, database: Option<&str>) -> std::result::Result<(SocketAddr, SocketAddr), String> {
    let failed = |error: &dyn std::fmt::Display| failure("TCP", url, error);
    let uri: Uri = url.parse().map_err(|error| failed(&error))?;
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("tcp"));
    let port = authority.and_then(|authority| authority.port_u16());
    let (Some(authority), Some(port)) = (authority, port) else {
        return Err(failed(&"its address must have the form tcp://host:port"));
    };
    let stream = TcpStream::connect((authority.host().trim_matches(['[', ']']), port)).await;
    let mut stream = stream.map_err(|error| failed(&error))?;
    let ends = stream.local_addr().and_then(|own| Ok((own, stream.peer_addr()?)));
    let mut message = Vec::new();
    json::Writer::new(&mut message).object(|json| {
        json.name("DatabaseName").optional_string(database);
        json.name("Operation").string("TestConnection").name("OperationVersion").signed(TEST_VERSION);
    });
    stream.write_all(&message).await.map_err(|error| failed(&error))?;
    let answer = Incoming::new(stream).next().await.map_err(|error| failed(&error))?;
    let answer = answer.ok_or_else(|| failed(&io::Error::from(io::ErrorKind::UnexpectedEof)))?;
    match answer.get("Status").and_then(json::Value::as_str) {
        Some("Ok") => ends.map_err(|error| failed(&error)),
        Some("AuthorizationFailed") => Err(failed(&"the other server does not allow it (AuthorizationFailed)")),
        Some("TcpVersionMismatch") => Err(failed(&"the other server has another version of the protocol")),
        _ => Err(failed(&"what listens there does not speak the protocol")),
    }
}

fn failure(protocol: &str, address: &str, error: &dyn std::fmt::Display) -> String {
    format!("An exception occurred while contacting {address} over {protocol}: {error}")
}
