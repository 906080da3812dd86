//! `/databases/{name}/admin/constraints`: unique constraints of collections ([`database::documents::UniqueConstraint`]).

use database::documents::{ConstraintChange, UniqueConstraint, Write};
use hyper::StatusCode;
use json::{Value, Writer};

use super::databases::strings;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// GET: `{Results}`, by name.
pub(crate) fn list(exchange: &Exchange) -> Result<Reply> {
    let constraints = exchange.database().read().constraints()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            constraints.iter().for_each(|constraint| constraint.write(json));
        });
    }))
}

/// PUT: body `{Name, Collection, Fields, CaseSensitive}`. Without a name it is called by its collection and fields. 201 with what was made;
/// 409 if documents break it.
pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let body = exchange.read_whole_object().await?;
    let constraint = constraint_of(&body)?;
    let change = ConstraintChange::Put(constraint.clone());
    let database = exchange.database().clone();
    exchange.node.bridge.run(Pool::Short, move || Ok(database.write(&Write::Constraint(change))?)).await?;
    let mut body = Vec::new();
    constraint.write(&mut Writer::new(&mut body));
    Ok(reply::json(StatusCode::CREATED, body))
}

fn constraint_of(body: &Value) -> Result<UniqueConstraint> {
    const KNOWN: [&str; 4] = ["Name", "Collection", "Fields", "CaseSensitive"];
    if let Some((unknown, _)) = body.members().iter().find(|(name, _)| !KNOWN.contains(&name.as_str())) {
        let unknown: String = unknown.chars().take(100).collect();
        return Err(Error::Argument(format!("a constraint has no property '{unknown}': {}", KNOWN.join(", "))));
    }
    let text = |name: &'static str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Error::Argument(format!("'{name}' must be a text"))),
    };
    let collection = text("Collection")?.unwrap_or_default();
    let fields = strings(body, "Fields")?;
    let name = text("Name")?.unwrap_or_else(|| UniqueConstraint::default_name(&collection, &fields));
    let is_case_sensitive = match body.get("CaseSensitive") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_sensitive)) => *is_sensitive,
        Some(_) => return Err(Error::Argument("'CaseSensitive' must be true or false".to_owned())),
    };
    let constraint = UniqueConstraint { name, collection, fields, is_case_sensitive };
    constraint.check().map_err(|error| Error::Database(error.into()))?;
    Ok(constraint)
}

/// DELETE: `name`. 204; 404 if there is none.
pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let database = exchange.database().clone();
    let write = Write::Constraint(ConstraintChange::Delete(name));
    let delete = move || Ok(database.write(&write)?.count()?);
    Ok(match exchange.node.bridge.run(Pool::Short, delete).await? {
        0 => reply::empty(StatusCode::NOT_FOUND),
        _ => reply::empty(StatusCode::NO_CONTENT),
    })
}
