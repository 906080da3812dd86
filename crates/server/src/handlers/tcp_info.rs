//! Where clients open TCP connections: `/info/tcp`, `/databases/{name}/info/tcp`, `/info/remote-task/tcp`.

use data_encoding::BASE64;
use hyper::StatusCode;

use crate::database_opening;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::access::{self, Access};
use crate::routing::exchange::Exchange;

/// `{Url, Certificate, NodeTag, ServerId, Urls}`. The certificate is the server's own in base64, which clients compare.
pub(crate) fn get(exchange: &Exchange) -> Result<Reply> {
    let node = &exchange.node;
    let Some(url) = node.tcp_url(&exchange.own_url()) else {
        return Err(Error::InvalidOperation("This server listens on no port for TCP connections".to_owned()));
    };
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Url").string(&url);
        let certificate = node.tls.as_ref().map(|tls| BASE64.encode(&tls.current().own));
        json.name("Certificate").optional_string(certificate.as_deref());
        json.name("NodeTag").string(node.databases.node_tag()).name("ServerId").string(node.databases.server_id());
        json.name("Urls").array(|json| _ = json.string(&url));
    }))
}

/// The same for a task of a database: `database`, `verify-database`, `remote-task`, `tag`.
pub(crate) async fn of_task(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    if let Some(name) = query.get_nonempty("database") {
        access::check(&exchange.peer.identity, Access::Read, Some(&name))?;
        if query.is_true("verify-database")? {
            database_opening::find(&exchange.node, &name).await?;
        }
    }
    get(&exchange)
}
