//! One database of a running server, as `query`, `export` and `shell` see it.

use std::time::Duration;

use anyhow::Context;
use json::{Value, Writer};

use crate::client::{Client, escape};

/// The flags that name a server.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServerArguments {
    /// The server.
    #[arg(long, env = "ROOKERY_URL", hide_env_values = true, default_value = "http://127.0.0.1:8080")]
    pub url: String,
}

/// A database by its name.
pub(crate) struct Remote<'a> {
    pub client: &'a Client,
    pub database: &'a str,
}

/// What a query asks for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub rql: String,
    /// By their names without `$`.
    pub parameters: Vec<(String, Value)>,
    /// Rows that come at most.
    pub count_max: Option<u64>,
    /// Wait until the index has all that was stored before.
    pub waits: bool,
}

/// What a query found.
pub(crate) struct Found {
    pub rows: Vec<Value>,
    /// All that fits, beyond the rows that came too; `None` if the server does not know.
    pub total: Option<i64>,
    pub duration_ms: i64,
    pub index: String,
    pub is_stale: bool,
    /// Collections and fields of the query that no document has.
    pub warnings: Vec<String>,
}

/// How long a query waits for its index.
const WAIT_MAX: Duration = Duration::from_secs(15);

impl Remote<'_> {
    /// The path of something of the database.
    pub fn path(&self, rest: &str) -> String {
        format!("/databases/{}/{rest}", escape(self.database))
    }

    /// Runs a query.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses: it says why.
    pub fn query(&self, asked: &Asked) -> anyhow::Result<Found> {
        let mut answer = self.client.post(&self.path("queries"), &body_of(asked))?;
        let rows = match answer.remove("Results") {
            Some(Value::Array(rows)) => rows,
            _ => Vec::new(),
        };
        let number = |name: &str| answer.get(name).and_then(Value::as_i64);
        let warnings = answer.get("Warnings").and_then(elements).unwrap_or_default();
        Ok(Found {
            rows,
            total: number("TotalResults").filter(|total| *total >= 0),
            duration_ms: number("DurationInMs").unwrap_or_default(),
            index: answer.get("IndexName").and_then(Value::as_str).unwrap_or_default().to_owned(),
            is_stale: answer.get("IsStale").and_then(Value::as_bool).unwrap_or_default(),
            warnings: warnings.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    /// The collections with the number of their documents, in the order of their names.
    pub fn collections(&self) -> anyhow::Result<Vec<(String, i64)>> {
        let answer = self.client.get(&self.path("collections/stats"))?;
        let collections = answer.get("Collections").context("the server's answer has no collections")?;
        let counts =
            collections.members().iter().map(|(name, count)| (name.clone(), count.as_i64().unwrap_or_default()));
        let mut counts: Vec<_> = counts.collect();
        counts.sort_by_key(|(name, _)| name.to_lowercase());
        Ok(counts)
    }

    /// Statistics of each index, as the server gives them.
    pub fn indexes(&self) -> anyhow::Result<Vec<Value>> {
        let answer = self.client.get(&self.path("indexes/stats"))?;
        Ok(answer.get("Results").and_then(elements).unwrap_or_default().to_vec())
    }
}

/// The names of the databases of a server.
pub(crate) fn database_names(client: &Client) -> anyhow::Result<Vec<String>> {
    let answer = client.get("/databases?namesOnly=true")?;
    let names = answer.get("Databases").and_then(elements).unwrap_or_default();
    Ok(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The body of a request for a query.
pub(crate) fn body_of(asked: &Asked) -> Vec<u8> {
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| {
        json.name("Query").string(&asked.rql);
        json.name("QueryParameters").object(|json| {
            for (name, value) in &asked.parameters {
                value.write(json.name(name));
            }
        });
        if let Some(count_max) = asked.count_max {
            json.name("PageSize").unsigned(count_max);
        }
        if asked.waits {
            json.name("WaitForNonStaleResults").bool(true);
            json.name("WaitForNonStaleResultsTimeout").unsigned(WAIT_MAX.as_millis() as u64);
        }
    });
    body
}

/// The elements of an array.
pub(crate) fn elements(value: &Value) -> Option<&[Value]> {
    if let Value::Array(elements) = value { Some(elements) } else { None }
}

/// A name as RQL takes it: in quotes, unless it is a plain word.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'")) }
}

/// A parameter as it is written on a command line: `name=value`, where the value is JSON, or else a text.
pub(crate) fn parameter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected name=value")?;
    let name = name.strip_prefix('$').unwrap_or(name);
    if name.is_empty() {
        return Err("expected name=value".to_owned());
    }
    Ok((name.to_owned(), Value::parse(value.as_bytes()).unwrap_or_else(|_| Value::String(value.to_owned()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(quoted("Orders"), "Orders");
        assert_eq!(quoted("@empty"), "'@empty'");
        assert_eq!(quoted("it's \\ here"), "'it\\'s \\\\ here'");
    }

    #[test]
    fn a_parameter_is_json_or_a_text() {
        let check = |text: &str, name: &str, value: &str| {
            let (found, parsed) = parameter(text).unwrap();
            assert_eq!((found.as_str(), String::from_utf8(parsed.to_vec()).unwrap().as_str()), (name, value), "{text}");
        };
        check("a=5", "a", "5");
        check("$a=\"5\"", "a", "\"5\"");
        check("city=Oslo", "city", "\"Oslo\"");
        check("list=[1,2]", "list", "[1,2]");
        check("a=b=c", "a", "\"b=c\"");
        parameter("novalue").unwrap_err();
        parameter("=5").unwrap_err();
    }

    #[test]
    fn a_query_says_what_it_wants() {
        let asked = Asked { rql: "from X".to_owned(), count_max: Some(3), waits: true, ..Asked::default() };
        let expected = r#"{"Query":"from X","QueryParameters":{},"PageSize":3,"WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":15000}"#;
        assert_eq!(String::from_utf8(body_of(&asked)).unwrap(), expected);
    }
}
