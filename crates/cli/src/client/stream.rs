//! A connection to a server, with or without TLS.

use std::io::{Read, Result, Write};
use std::net::TcpStream;

use anyhow::Context;
use rustls::{ClientConnection, StreamOwned};

use super::address::Address;
use super::tls::Tls;

/// A connection whose handshake, if there is one, was made.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub fn connect(address: &Address, tls: &Tls) -> anyhow::Result<Stream> {
        let connecting = || format!("connecting to the server at {}", address.url());
        let mut stream = TcpStream::connect(&address.authority).with_context(connecting)?;
        stream.set_nodelay(true)?;
        let Some(mut connection) = tls.connection(address)? else { return Ok(Stream::Plain(stream)) };
        while connection.is_handshaking() {
            connection
                .complete_io(&mut stream)
                .map_err(|error| Tls::explain(error, address))
                .with_context(connecting)?;
        }
        Ok(Stream::Tls(Box::new(StreamOwned::new(connection, stream))))
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(bytes),
            Stream::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
