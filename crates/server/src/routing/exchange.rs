//! One request on its way through a handler.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use database::Database;
use hyper::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use hyper::{HeaderMap, Method, Uri};
use storage::limits::UNCOUNTED_SIZE;

use crate::error::{Error, Result};
use crate::limits::OBJECT_BODY;
use crate::memory::MemoryReservation;
use crate::messages::body::RequestBody;
use crate::messages::date;
use crate::messages::query_string::QueryString;
use crate::messages::reply;
use crate::network::connection::Admitted;
use crate::network::peer::Peer;
use crate::node::Node;

/// A body up to this size, in bytes, makes no tree that would be counted.
const TREE_UNCOUNTED_SIZE: usize = UNCOUNTED_SIZE / 128;

/// The request that a handler answers. Heads are parsed once; the body is read by the handler that wants it.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) node: Arc<Node>,
    /// Who sent it, over what.
    pub(crate) peer: Arc<Peer>,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: RequestBody,
    /// The way to another protocol, and the connection's place among all, if the client may ask for one.
    pub(crate) upgrade: Option<Upgrade>,
    /// The database of a route below `/databases/{name}/`.
    pub(crate) database: Option<Arc<Database>>,
    /// Memory of the tree of values that its body became, held until the request is answered.
    pub(crate) tree: Option<MemoryReservation>,
}

/// What a WebSocket needs of its connection.
#[derive(Debug)]
pub(crate) struct Upgrade {
    pub(crate) on_upgrade: hyper::upgrade::OnUpgrade,
    /// Held for as long as the socket is open, so that it counts as a connection.
    pub(crate) place: Arc<Admitted>,
}

/// `"@metadata":{"DateTime","WebUrl","NodeTag"}`, which some answers begin with.
pub(crate) fn write_origin(json: &mut json::Writer<'_>, exchange: &Exchange) {
    json.name("@metadata").object(|json| {
        json.name("DateTime").string(&date::wire(SystemTime::now()));
        json.name("WebUrl").string(&exchange.own_url()).name("NodeTag").string(exchange.node.databases.node_tag());
    });
}

impl Exchange {
    pub(crate) fn query(&self) -> QueryString<'_> {
        QueryString::new(self.uri.query().unwrap_or_default())
    }

    /// The parameter `name`, unescaped.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if it is missing or empty.
    pub(crate) fn required(&self, name: &str) -> Result<Cow<'_, str>> {
        self.query()
            .get_nonempty(name)
            .ok_or_else(|| Error::Argument(format!("Query string value '{name}' must have a non empty value")))
    }

    /// The parameter `name` as a whole number from 0 on.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if it is missing or empty, [`Error::Parameter`] if it is no such number.
    pub(crate) fn required_number(&self, name: &str) -> Result<u64> {
        self.required(name)?;
        Ok(self.query().number(name)?.unwrap_or_default())
    }

    /// True for a request that a handler makes of another route.
    pub(crate) fn is_inner(&self) -> bool {
        matches!(self.body, RequestBody::Whole(_))
    }

    /// The database that the path names.
    pub(crate) fn database(&self) -> &Arc<Database> {
        self.database.as_ref().expect("the route table resolves the database of every route below /databases/{name}/")
    }

    /// Takes the body and reads all of it.
    pub(crate) async fn read_body(&mut self) -> Result<Bytes> {
        let body = std::mem::replace(&mut self.body, RequestBody::empty());
        body.read(&self.headers, &self.node).await
    }

    /// Takes the body, reads all of it and parses it: a large one on a thread of the pool, so that no network thread is held.
    pub(crate) async fn parse_body<T: Send + 'static>(
        &mut self,
        parse: impl FnOnce(&[u8]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let body = self.read_body().await?;
        self.node.bridge.run_sized(body.len(), move || parse(&body)).await
    }

    /// The same for a body that becomes a tree of values, as none with a document does. It is smaller
    /// ([`Limits::object_body_size`](crate::limits::Limits::object_body_size)), and the memory of the tree is reserved before it is made.
    pub(crate) async fn parse_tree<T: Send + 'static>(
        &mut self,
        parse: impl FnOnce(&[u8]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let body = std::mem::replace(&mut self.body, RequestBody::empty());
        let size_max = self.node.limits.object_body_size;
        let body = body.read_at_most(size_max, &self.headers, &self.node).await;
        let body = body.map_err(|error| error.of_limit(OBJECT_BODY))?;
        let size = body.len();
        let memory = (size > TREE_UNCOUNTED_SIZE).then(|| self.node.memory_of_request());
        let parse = move || -> Result<_> {
            let tree = memory.map(|memory| {
                let mut tree = memory.reservation();
                tree.grow(json::Value::tree_size(&body)).map(|()| tree)
            });
            Ok((tree.transpose()?, parse(&body)?))
        };
        let (tree, parsed) = self.node.bridge.run_sized(size, parse).await?;
        self.tree = tree;
        Ok(parsed)
    }

    /// Takes the body and reads it as JSON; it must be an object. An empty body is an empty object.
    pub(crate) async fn read_object(&mut self) -> Result<json::Value> {
        self.parse_tree(parse_object).await
    }

    /// The same, where an empty body is a mistake: what it would replace is kept.
    pub(crate) async fn read_whole_object(&mut self) -> Result<json::Value> {
        self.parse_tree(parse_whole_object).await
    }

    /// The change vector that `If-Match` asks for, without quotes.
    pub(crate) fn if_match(&self) -> Option<Cow<'_, str>> {
        self.headers.get(IF_MATCH).map(|value| String::from_utf8_lossy(reply::unquote(value.as_bytes())))
    }

    pub(crate) fn if_none_match(&self) -> Option<&HeaderValue> {
        self.headers.get(IF_NONE_MATCH)
    }

    /// A header of ours that holds an etag: quoted or bare, rubbish (`"None"`) is `None`.
    pub(crate) fn etag_header(&self, name: &HeaderName) -> Option<i64> {
        std::str::from_utf8(reply::unquote(self.headers.get(name)?.as_bytes())).ok()?.parse().ok()
    }

    /// The address by which the client reached us, for answers that have to name it.
    pub(crate) fn own_url(&self) -> String {
        if let Some(url) = &self.node.public_url {
            return url.clone();
        }
        let host = self.headers.get(hyper::header::HOST).and_then(|host| host.to_str().ok());
        let authority = host.or_else(|| self.uri.authority().map(|authority| authority.as_str()));
        // A Host header is the client's word: only what looks like one is sent back.
        let is_plausible = |host: &&str| {
            !host.is_empty()
                && host.len() < 256
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte))
        };
        match authority.filter(is_plausible) {
            Some(authority) => self.peer.scheme.url(authority),
            None => self.node.url.clone(),
        }
    }
}

/// Reads JSON that must be an object; nothing at all is an empty one.
pub(crate) fn parse_object(body: &[u8]) -> Result<json::Value> {
    if body.trim_ascii().is_empty() { Ok(json::Value::object()) } else { parse_whole_object(body) }
}

/// The same for a query, whose parameters are compared and not kept: they may have numbers beyond a double.
pub(crate) fn parse_query(body: &[u8]) -> Result<json::Value> {
    if body.trim_ascii().is_empty() {
        Ok(json::Value::object())
    } else {
        object(json::Value::parse_with_any_number(body)?)
    }
}

fn parse_whole_object(body: &[u8]) -> Result<json::Value> {
    object(json::Value::parse(body)?)
}

fn object(value: json::Value) -> Result<json::Value> {
    match value {
        object @ json::Value::Object(_) => Ok(object),
        json::Value::Array(_) => Err(Error::NotAnObject { found: "StartArray" }),
        _ => Err(Error::NotAnObject { found: "a value" }),
    }
}
