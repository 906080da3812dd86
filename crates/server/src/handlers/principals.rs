//! What the administration of certificates and of API keys has in common: who may change what, and how their rights are written.
//!
//! An operator may do all of it, but not with those of cluster admins: it would be the way to become one.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use database::documents::Date;
use database::{Clearance, Principal, Rights, check_principal_name};
use json::{Value, Writer};

use crate::error::{Error, Result};
use crate::limits::CHANGED_RIGHTS_PAUSE;
use crate::node::Node;
use crate::routing::exchange::Exchange;

/// What a body says of a principal, of whatever kind.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) rights: Rights,
}

impl Definition {
    /// * `body`: `{"Name":"...","SecurityClearance":"ValidUser","Permissions":{"Shop":"ReadWrite"}}`, and whatever else.
    ///
    /// # Errors
    ///
    /// [`Error::Database`]: the name or the rights cannot be.
    pub(crate) fn parse<P: Principal>(body: &Value) -> Result<Definition> {
        let name = text(body, "Name")?.unwrap_or_default().to_owned();
        check_principal_name::<P>(&name)?;
        Ok(Definition { name, rights: Rights::from_json(body)? })
    }
}

/// The property `name`; `None` if it is missing or null.
///
/// # Errors
///
/// [`Error::Argument`]: it is no text.
pub(crate) fn text<'a>(body: &'a Value, name: &str) -> Result<Option<&'a str>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(Error::Argument(format!("'{name}' must be a text"))),
    }
}

/// The same, where it must be there.
pub(crate) fn required<'a>(body: &'a Value, name: &str) -> Result<&'a str> {
    let given = text(body, name)?.filter(|text| !text.is_empty());
    given.ok_or_else(|| Error::Argument(format!("'{name}' is required")))
}

/// The property `name` as a flag; one that is missing or null is false.
///
/// # Errors
///
/// [`Error::Argument`]: it is neither true nor false.
pub(crate) fn flag(body: &Value, name: &str) -> Result<bool> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(Error::Argument(format!("'{name}' must be true or false"))),
    }
}

/// Refuses properties that mean nothing and are not null.
///
/// * `what`: what the body asks for: `restore`.
///
/// # Errors
///
/// [`Error::Argument`] with the first of them.
pub(crate) fn refuse_unknown(body: &Value, known: &[&str], what: &str) -> Result<()> {
    let unknown = body.members().iter().find(|(name, value)| !known.contains(&name.as_str()) && *value != Value::Null);
    let Some((name, _)) = unknown else { return Ok(()) };
    let name: String = name.chars().take(OPTION_LENGTH_TOLD).collect();
    Err(Error::Argument(format!("a {what} has no option '{name}'. Remove it, or correct its name")))
}

/// Characters of the name of an unknown option that its refusal repeats.
const OPTION_LENGTH_TOLD: usize = 80;

/// The property `name` as a moment after `now`; `None` if it is missing or null.
///
/// # Errors
///
/// [`Error::Argument`]: it is no date in the future.
pub(crate) fn future(body: &Value, name: &str, now: SystemTime) -> Result<Option<SystemTime>> {
    let Some(date) = text(body, name)? else { return Ok(None) };
    let wait = Date::parse(date).map(|end| end.since(Date::from(now))).filter(|wait| !wait.is_zero());
    match wait.and_then(|wait| now.checked_add(wait)) {
        Some(end) => Ok(Some(end)),
        None => Err(Error::Argument(format!("'{name}' must be a date in the future, not '{date}'"))),
    }
}

/// A moment as clients read dates of certificates and keys: without `Z`.
pub(crate) fn date(time: SystemTime) -> String {
    Date::from(time.max(UNIX_EPOCH)).to_string().trim_end_matches('Z').to_owned()
}

/// `"Permissions":{"Shop":"ReadWrite"}`
pub(crate) fn write_permissions(json: &mut Writer<'_>, rights: Option<&Rights>) {
    json.name("Permissions").object(|json| {
        for (database, permission) in rights.iter().flat_map(|rights| &rights.permissions) {
            json.name(database).string(permission.wire_name());
        }
    });
}

/// Who changes certificates and keys.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    is_cluster_admin: bool,
    /// The number of its connection.
    connection: u64,
}

impl Caller {
    /// # Errors
    ///
    /// [`Error::InvalidOperation`]: the server has no HTTPS, and so neither certificates nor keys.
    pub(crate) fn of(exchange: &Exchange) -> Result<Caller> {
        if exchange.node.tls.is_none() {
            return Err(Error::InvalidOperation(
                "Certificates and API keys of clients need HTTPS: this server speaks HTTP. Start it with https:// in ServerUrl and with \
                 Security.Certificate.Path"
                    .to_owned(),
            ));
        }
        let is_cluster_admin = exchange.peer.identity.is_cluster_admin();
        Ok(Caller { is_cluster_admin, connection: exchange.peer.connection })
    }

    fn check<P: Principal>(self, clearance: Option<Clearance>) -> Result<()> {
        if clearance == Some(Clearance::ClusterAdmin) && !self.is_cluster_admin {
            return Err(Error::Forbidden(format!(
                "Only a cluster admin may create, change or delete the {} of one; the connection has 'operator'",
                P::KIND
            )));
        }
        Ok(())
    }

    /// Changes what is stored under an id, and closes the connections whose rights that may change. A certificate that is new here may
    /// have the key of others.
    ///
    /// * `change`: is given what is stored now, and gives what is to be stored; `None` deletes it.
    /// * `hash`: under which connections know a principal.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]: the caller may not touch what is stored now, or not grant what is to be stored; and what `change` gives.
    pub(crate) fn change<P: Principal + Sync>(
        self,
        node: &Arc<Node>,
        operation: &str,
        id: &str,
        request_id: Option<&str>,
        change: impl FnOnce(Option<P>) -> Result<Option<P>>,
        hash: impl Fn(&P) -> Option<[u8; 32]>,
    ) -> Result<()> {
        let Some(tls) = &node.tls else { return Ok(()) };
        let mut known_as = None;
        node.databases.change_principal(operation, id, request_id, |stored: Option<P>| {
            known_as = stored.as_ref().and_then(&hash);
            self.check::<P>(stored.as_ref().map(|stored| stored.rights().clearance))?;
            let after = change(stored)?;
            self.check::<P>(after.as_ref().map(|after| after.rights().clearance))?;
            known_as = known_as.or_else(|| after.as_ref().and_then(&hash));
            Ok::<_, Error>(after)
        })?;
        tls.registry.load(&node.databases)?;
        if let Some(hash) = known_as {
            let caller = self.connection;
            node.connections.close_those_of(&hash, |number| number != caller);
            // A client that changes its own rights gets the answer first. Its later connections have the new rights.
            let node = node.clone();
            tokio::spawn(async move {
                tokio::time::sleep(CHANGED_RIGHTS_PAUSE).await;
                node.connections.close_those_of(&hash, |number| number == caller);
            });
        }
        tracing::info!(id, "{operation}");
        Ok(())
    }
}
