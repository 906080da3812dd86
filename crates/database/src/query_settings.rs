//! Settings of queries: those of the node, and those of a database over them.

use json::Value;

/// How queries of a database treat its indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuerySettings {
    /// [`QuerySwitch::DISABLE_AUTOMATIC`]: queries that need an automatic index are refused.
    pub refuses_automatic: bool,
    /// [`QuerySwitch::NEVER_WIDEN`]: a query that no index covers gets an index of its own fields alone.
    pub never_widens: bool,
    /// [`QuerySwitch::FRESH_READS`]: each query waits until its index has everything that was written before the query came.
    pub reads_fresh: bool,
}

/// One of these settings.
#[derive(Clone, Copy, Debug)]
pub struct QuerySwitch {
    /// Its name in settings.
    pub name: &'static str,
    /// Sets it.
    pub set: fn(&mut QuerySettings, bool),
}

impl QuerySwitch {
    /// RavenDB's name for refusing automatic indexes.
    pub const DISABLE_AUTOMATIC: &'static str = "Indexing.DisableQueryOptimizerGeneratedIndexes";
    /// The name of the setting with which automatic indexes are never widened.
    pub const NEVER_WIDEN: &'static str = "Indexing.Auto.NeverWiden";
    /// The name of the setting with which queries are never stale.
    pub const FRESH_READS: &'static str = "Query.FreshReads";

    /// All of them.
    pub const ALL: [QuerySwitch; 3] = [
        QuerySwitch { name: Self::DISABLE_AUTOMATIC, set: |settings, is_on| settings.refuses_automatic = is_on },
        QuerySwitch { name: Self::NEVER_WIDEN, set: |settings, is_on| settings.never_widens = is_on },
        QuerySwitch { name: Self::FRESH_READS, set: |settings, is_on| settings.reads_fresh = is_on },
    ];
}

/// The switches that the record of a database sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryOverrides(Vec<(QuerySwitch, bool)>);

impl QueryOverrides {
    /// Reads `Settings` of a record. A value that is neither true nor false was refused when it was set.
    pub fn of(record: &Value) -> QueryOverrides {
        let Some(settings @ Value::Object(_)) = record.get("Settings") else { return QueryOverrides::default() };
        let of_setting = |(name, value): &(String, Value)| {
            let switch = QuerySwitch::ALL.into_iter().find(|switch| switch.name.eq_ignore_ascii_case(name))?;
            let is_on = match value {
                Value::Bool(is_on) => *is_on,
                value => value.as_str()?.trim().to_ascii_lowercase().parse().ok()?,
            };
            Some((switch, is_on))
        };
        QueryOverrides(settings.members().iter().filter_map(of_setting).collect())
    }

    /// The settings of the node with these over them.
    pub fn over(&self, node: QuerySettings) -> QuerySettings {
        let mut settings = node;
        self.0.iter().for_each(|(switch, is_on)| (switch.set)(&mut settings, *is_on));
        settings
    }
}

impl QuerySettings {
    /// What queries may do where no automatic index covers them.
    pub fn automatic_indexes(self) -> AutomaticIndexes {
        match self {
            QuerySettings { refuses_automatic: true, .. } => AutomaticIndexes::Refused,
            QuerySettings { never_widens: true, .. } => AutomaticIndexes::Separate,
            _ => AutomaticIndexes::Widened,
        }
    }
}

/// What a query may do where no automatic index covers it; of two, the greater one is the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutomaticIndexes {
    /// It creates one with its own fields and those of the widest index of its source, which that replaces.
    #[default]
    Widened,
    /// It creates one with its own fields.
    Separate,
    /// It creates none, and is refused. Those that exist answer.
    NotCreated,
    /// It is refused, and so are queries that one covers.
    Refused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(node: QuerySettings, record: &str, expected: QuerySettings) {
        assert_eq!(QueryOverrides::of(&Value::parse(record.as_bytes()).unwrap()).over(node), expected, "{record}");
    }

    #[test]
    fn settings_of_a_database_are_over_those_of_the_node() {
        let (node, fresh) = (QuerySettings::default(), QuerySettings { reads_fresh: true, ..QuerySettings::default() });
        check(fresh, "{}", fresh);
        check(fresh, r#"{"Settings":{"Query.FreshReads":"false"}}"#, node);
        check(node, r#"{"Settings":{"query.freshreads":" True ","Mine":"1"}}"#, fresh);
        check(node, r#"{"Settings":{"Query.FreshReads":true}}"#, fresh);
        check(fresh, r#"{"Settings":{"Query.FreshReads":null}}"#, fresh);
        let refuses = QuerySettings { refuses_automatic: true, never_widens: true, reads_fresh: false };
        let record = r#"{"Settings":{"Indexing.DisableQueryOptimizerGeneratedIndexes":"true","Indexing.Auto.NeverWiden":"true"}}"#;
        check(node, record, refuses);
        assert_eq!(refuses.automatic_indexes(), AutomaticIndexes::Refused);
    }
}
