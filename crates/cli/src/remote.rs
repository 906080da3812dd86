//! One database of a running server, as `query`, `export` and `shell` see it.

use std::time::Duration;

use anyhow::{Context, anyhow};
use json::{Value, Writer};

use crate::client::{Client, Unexplained, escape};
use crate::similar::similar;

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

/// A query that runs on the server.
pub(crate) struct RunningQuery {
    pub number: u64,
    pub index: String,
    pub text: String,
    pub duration: Duration,
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
        let answer = self.client.post(&self.path("queries"), &body_of(asked));
        let mut answer = answer.map_err(|error| self.named_index(&asked.rql, error))?;
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

    /// The error of a query that is of an index that is not there, in words: clients want an answer without a body.
    fn named_index(&self, rql: &str, error: anyhow::Error) -> anyhow::Error {
        let is_missing = error.downcast_ref::<Unexplained>().is_some_and(|error| error.status == 404);
        let Some(name) = index_of(rql).filter(|_| is_missing) else { return error };
        let indexes = self.indexes().unwrap_or_default();
        let names = indexes.iter().filter_map(|index| index.get("Name")?.as_str());
        match similar(&name, names) {
            Some(known) => anyhow!("there is no index '{name}'; did you mean '{known}'?"),
            None => anyhow!("there is no index '{name}'; `rookery status` lists the indexes"),
        }
    }

    /// The queries of the database that run, the oldest first.
    pub fn running_queries(&self) -> anyhow::Result<Vec<RunningQuery>> {
        let answer = self.client.get(&self.path("debug/queries/running"))?;
        let of_indexes = answer.members().iter().filter_map(|(_, queries)| elements(queries)).flatten();
        let mut queries: Vec<RunningQuery> = of_indexes.filter_map(running_query).collect();
        queries.sort_by_key(|query| query.number);
        Ok(queries)
    }

    /// Ends a query that runs.
    pub fn end_query(&self, number: u64) -> anyhow::Result<()> {
        let queries = self.running_queries()?;
        let query = queries.iter().find(|query| query.number == number);
        let index = &query.with_context(|| format!("no query with the number {number} runs"))?.index;
        let path = format!("debug/queries/kill?indexName={}&id={number}", escape(index));
        self.client.stream("POST", &self.path(&path), &[])?;
        Ok(())
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

fn running_query(query: &Value) -> Option<RunningQuery> {
    let number = |name: &str| query.get(name)?.as_i64().and_then(|number| u64::try_from(number).ok());
    Some(RunningQuery {
        number: number("QueryId")?,
        index: query.get("IndexName")?.as_str()?.to_owned(),
        text: query.get("QueryInfo")?.get("Query")?.as_str()?.to_owned(),
        duration: Duration::from_millis(number("DurationInMs")?),
    })
}

/// The index that a query names: `from index 'Orders/Totals'`.
fn index_of(rql: &str) -> Option<String> {
    let rest = rql.trim_start();
    let rest = rest.get(..4).filter(|from| from.eq_ignore_ascii_case("from")).map(|_| rest[4..].trim_start())?;
    let rest = rest.get(..5).filter(|index| index.eq_ignore_ascii_case("index")).map(|_| rest[5..].trim_start())?;
    let name = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest[1..].split(quote).next()?,
        _ => rest.split_whitespace().next()?,
    };
    Some(name.to_owned())
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
    fn the_index_of_a_query_is_found() {
        assert_eq!(index_of(" From index 'Orders/Totals' where A = 1").as_deref(), Some("Orders/Totals"));
        assert_eq!(index_of("from index \"a b\"").as_deref(), Some("a b"));
        assert_eq!(index_of("from INDEX Totals where A = 1").as_deref(), Some("Totals"));
        assert_eq!(index_of("from Orders"), None);
        assert_eq!(index_of("från"), None);
    }

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
