//! From an accepted socket to a stream of TLS, or the end of the connection.
//!
//! It runs in the connection's own task, so that nothing a client does here delays another one, and within
//! [`header_deadline`](crate::limits::Limits::header_deadline).

use std::io;
use std::time::SystemTime;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::Connection;
use super::tls::Tls;
use crate::certificates::certificate::Certificate;
use crate::limits::{CLEAR_TEXT_SIZE_MAX, LINGER_AFTER_END};
use crate::routing::access::Identity;

/// The answer to a request in clear text. Without the header that clients take for a server's: what they see is no answer of the database.
const USE_HTTPS: &str = "This port speaks HTTPS: write https:// in the URL of the server\n";

/// Why there is no stream of TLS.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    /// The client closed the connection before it sent anything, as health checks of load balancers do.
    #[error("the client sent nothing")]
    Nothing,
    /// The client speaks HTTP without TLS.
    #[error("the client sent a request in clear text")]
    ClearText,
    /// What the client sent is no TLS, or none that we support.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

/// A connection after its handshake.
pub(crate) struct Accepted {
    pub(crate) stream: TlsStream<TcpStream>,
    pub(crate) identity: Identity,
    /// What the client sent.
    pub(crate) certificate: Option<Certificate>,
}

/// Makes the handshake, and says who the client is.
///
/// # Errors
///
/// [`HandshakeError`]; the client was sent an alert or an answer, where that makes sense.
pub(crate) async fn accept(
    tls: &Tls,
    mut stream: TcpStream,
    connection: &Connection,
) -> Result<Accepted, HandshakeError> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Err(HandshakeError::Nothing);
    }
    // A request begins with the name of its method, TLS with the number of its kind of record.
    if first[0].is_ascii_alphabetic() {
        refuse_clear_text(&mut stream).await?;
        return Err(HandshakeError::ClearText);
    }
    let current = tls.current();
    let stream = TlsAcceptor::from(current.config.clone()).accept(stream).await?;
    let sent = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    // The handshake has refused what cannot be read.
    let certificate = sent.and_then(|der| Certificate::parse(der));
    // First this: a change of rights finds the connection, or the connection finds the changed rights.
    if let Some(certificate) = &certificate {
        connection.has_principal(*certificate.public_key_hash());
        connection.has_certificate_until(tls.rights_end(certificate));
    }
    let identity = tls.identity(&current, certificate.as_ref(), SystemTime::now());
    Ok(Accepted { stream, identity, certificate })
}

/// Answers a request in clear text. A socket that is closed with unread bytes takes the answer away from its client, so they are read.
async fn refuse_clear_text(stream: &mut TcpStream) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{USE_HTTPS}",
        USE_HTTPS.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let mut bytes = [0; 4 << 10];
    let drain = async {
        let mut size = 0;
        while size < CLEAR_TEXT_SIZE_MAX {
            match stream.read(&mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(read) => size += read,
            }
        }
    };
    let _ = tokio::time::timeout(LINGER_AFTER_END, drain).await;
    Ok(())
}
