//! The parsed settings of one database.
//!
//! A record and the node's client configuration are JSON. They are parsed here, once after each change, and the layers below are handed
//! typed values: [`StoreSettings`] go to the documents, [`QueryOverrides`] to queries. What a record may configure and this version lacks
//! is refused before the record is stored (`record_properties.rs`), so that nothing of it has to be parsed. A feature that is added
//! parses its property here, and hands it to the layer that heeds it.

use std::sync::Arc;

use documents::StoreSettings;
use json::Value;
use query::analysis::CustomAnalyzers;

use crate::analyzers::{self, ANALYZERS};
use crate::client_configuration::ClientConfiguration;
use crate::due::DueSettings;
use crate::query_settings::QueryOverrides;
use crate::revisions::{self, BinCleaner};
use crate::{Database, DatabaseRecord};

/// What a node sets for all its databases.
#[derive(Clone, Debug)]
pub(crate) struct NodeSettings {
    /// Its client configuration.
    pub client: Arc<ClientConfiguration>,
    /// Its custom analyzers.
    pub analyzers: Arc<CustomAnalyzers>,
}

impl Default for NodeSettings {
    fn default() -> NodeSettings {
        NodeSettings { client: Arc::new(ClientConfiguration::NONE), analyzers: Arc::default() }
    }
}

/// The settings of one database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseSettings {
    /// The configuration that clients read: that of the database over that of the node.
    pub client: Arc<ClientConfiguration>,
    /// How its documents are written.
    store: StoreSettings,
    /// How its queries treat indexes, where that is not as the node is set.
    queries: QueryOverrides,
    /// Its enabled tasks by the clock; none while it is disabled.
    pub due: DueSettings,
    /// The enabled cleaner of its revisions bin.
    revisions_bin: Option<BinCleaner>,
    /// The custom analyzers that its indexes may name: its own, then those of the node.
    analyzers: Arc<CustomAnalyzers>,
}

impl DatabaseSettings {
    /// What a record and the node say.
    pub fn of(record: &DatabaseRecord, node: &NodeSettings) -> DatabaseSettings {
        let client = ClientConfiguration::merged(&node.client, &client_configuration(record));
        let mut store = StoreSettings::default();
        if let Some(separator) = client.identity_separator() {
            store.id_separator = separator;
        }
        store.revisions = revisions::configuration(&record.value);
        let revisions_bin = if record.is_disabled() { None } else { revisions::bin_cleaner(&record.value) };
        let queries = QueryOverrides::of(&record.value);
        let due = if record.is_disabled() { DueSettings::default() } else { DueSettings::of(&record.value) };
        let analyzers = analyzers::of(record.value.get(ANALYZERS), record.name()).over(&node.analyzers);
        DatabaseSettings {
            client: Arc::new(client),
            store,
            queries,
            due,
            revisions_bin,
            analyzers: Arc::new(analyzers),
        }
    }

    /// Hands an open database what concerns it.
    pub fn apply(&self, database: &Database) {
        database.documents().configure(self.store.clone());
        database.set_due_settings(self.due);
        database.revisions_bin().configure(self.revisions_bin);
        database.set_analyzers(self.analyzers.clone());
        database.set_query_settings(self.queries.over(database.limits().queries));
    }
}

/// The client configuration in a record.
fn client_configuration(record: &DatabaseRecord) -> ClientConfiguration {
    match record.value.get("Client") {
        Some(value @ Value::Object(_)) => {
            let etag = value.get("Etag").and_then(Value::as_i64).unwrap_or(record.etag as i64);
            ClientConfiguration { etag, value: Some(value.clone()) }
        }
        _ => ClientConfiguration::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(node: &str, record: &str, separator: char, etag: i64) {
        let parse = |text: &str| Value::parse(text.as_bytes()).unwrap();
        let node = match node {
            "" => ClientConfiguration::NONE,
            node => ClientConfiguration { etag: 3, value: Some(parse(node)) },
        };
        let node = NodeSettings { client: Arc::new(node), ..NodeSettings::default() };
        let settings = DatabaseSettings::of(&DatabaseRecord { value: parse(record), etag: 7 }, &node);
        assert_eq!((settings.store.id_separator, settings.client.etag), (separator, etag), "{record}");
    }

    #[test]
    fn the_separator_is_that_of_the_record_over_that_of_the_node() {
        check("", "{}", '/', -2);
        check("", r#"{"Client":{"IdentityPartsSeparator":"-"}}"#, '-', 7);
        check(r#"{"IdentityPartsSeparator":"_"}"#, "{}", '_', 3);
        check(r#"{"IdentityPartsSeparator":"_"}"#, r#"{"Client":{"IdentityPartsSeparator":"-","Etag":9}}"#, '-', 9);
        check(r#"{"IdentityPartsSeparator":"_"}"#, r#"{"Client":{"IdentityPartsSeparator":null}}"#, '_', 7);
        check("", r#"{"Client":{"IdentityPartsSeparator":"-","Disabled":true}}"#, '/', 7);
        check("", r#"{"Client":null}"#, '/', -2);
    }
}
