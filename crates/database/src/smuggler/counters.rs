//! Counters in dumps: groups of counters of one document, as the reference writes them.
//!
//! ```text
//! {"DocId":"users/1","ChangeVector":"A:9-…","Values":{
//!   "@dbIds":["<database id>", …],
//!   "@names":{"likes":"Likes", …},          lower-cased name: the name as it is spelled
//!   "@vals":{"likes":[3, 9, …], "gone":"<database id>:12, …"}}}
//! ```
//!
//! An array of `@vals` has value and etag of each database of `@dbIds`, in that order. A text in its place says that the
//! counter was deleted, with the etags up to which values of each database are gone.

use documents::{Counter, CounterAction, CounterCommand, CounterOperation, NodeValue, id};
use json::{Kind, Raw, Writer};

/// A counter of a group that is written.
pub(super) struct GroupedCounter {
    name: String,
    /// `None`: it was deleted.
    values: Option<Vec<NodeValue>>,
    change_vector: String,
}

/// Counters of one document that are gathered for a group.
#[derive(Default)]
pub(super) struct CounterGroup {
    document_id: String,
    counters: Vec<GroupedCounter>,
}

/// Counters of a group at most.
const GROUP_COUNT_MAX: usize = 256;

impl CounterGroup {
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// Whether a counter of a document has room in the group. One that was deleted, and made again in another collection, comes twice,
    /// and a group has each name once.
    pub fn takes(&self, document_id: &str, name: &str) -> bool {
        let is_same = |counter: &GroupedCounter| id::is_same(&counter.name, name);
        let has_room = self.document_id == document_id && self.counters.len() < GROUP_COUNT_MAX;
        self.is_empty() || has_room && !self.counters.iter().any(is_same)
    }

    /// Adds a counter, for which there [is room](Self::takes).
    pub fn add(&mut self, document_id: &str, name: &str, counter: Option<Counter<'_>>, change_vector: String) {
        if self.is_empty() {
            document_id.clone_into(&mut self.document_id);
        }
        let values = counter.map(|counter| counter.node_values().collect());
        self.counters.push(GroupedCounter { name: name.to_owned(), values, change_vector });
    }

    /// Writes the group, and empties it.
    pub fn write(&mut self, json: &mut Writer<'_>) {
        let mut databases: Vec<[u8; 16]> = Vec::new();
        for value in self.counters.iter().flat_map(|counter| counter.values.iter().flatten()) {
            if !databases.contains(&value.database) {
                databases.push(value.database);
            }
        }
        let vector = self.counters.last().map_or("", |counter| counter.change_vector.as_str());
        json.object(|json| {
            json.name("DocId").string(&self.document_id).name("ChangeVector").string(vector);
            json.name("Values").object(|json| {
                json.name("@dbIds").array(|json| {
                    for database in &databases {
                        json.string(&NodeValue { database: *database, value: 0, etag: 0 }.database_text());
                    }
                });
                json.name("@names").object(|json| {
                    for counter in &self.counters {
                        json.name(&id::lower_text(&counter.name)).string(&counter.name);
                    }
                });
                json.name("@vals").object(|json| {
                    for counter in &self.counters {
                        json.name(&id::lower_text(&counter.name));
                        write_values(json, counter, &databases);
                    }
                });
            });
        });
        self.counters.clear();
    }
}

fn write_values(json: &mut Writer<'_>, counter: &GroupedCounter, databases: &[[u8; 16]]) {
    let Some(values) = &counter.values else {
        json.string(&deletion_text(&counter.change_vector));
        return;
    };
    json.array(|json| {
        for database in databases {
            let value = values.iter().find(|value| value.database == *database);
            let (value, etag) = value.map_or((0, 0), |value| (value.value, value.etag));
            json.signed(value).unsigned(etag);
        }
    });
}

/// How a group says that a counter was deleted: the entries of the change vector of its deletion as `database:etag`.
fn deletion_text(change_vector: &str) -> String {
    let entry = |text: &str| {
        let (etag, database) = text.split_once(':')?.1.split_once('-')?;
        Some(format!("{database}:{etag}"))
    };
    change_vector.split(", ").filter_map(entry).collect::<Vec<_>>().join(", ")
}

/// The command that stores a group; `Err`: why it is none.
pub(super) fn command_of(group: Raw<'_>) -> Result<CounterCommand, String> {
    let missing = |name: &str| format!("the group of counters has no '{name}'");
    let document_id = group.get("DocId").and_then(Raw::as_str).ok_or_else(|| missing("DocId"))?;
    let values = group.get("Values").filter(|values| values.kind() == Kind::Object).ok_or_else(|| missing("Values"))?;
    let databases = values.get("@dbIds").filter(|databases| databases.kind() == Kind::Array);
    let databases: Vec<String> = databases
        .ok_or_else(|| missing("@dbIds"))?
        .elements()
        .map(|database| database.as_str().map(|database| database.into_owned()))
        .collect::<Option<_>>()
        .ok_or_else(|| "'@dbIds' must be texts".to_owned())?;
    let counters =
        values.get("@vals").filter(|counters| counters.kind() == Kind::Object).ok_or_else(|| missing("@vals"))?;
    let mut operations = Vec::new();
    for (name, counter) in counters.members() {
        let lower = name.decode();
        let names = values.get("@names").filter(|names| names.kind() == Kind::Object);
        let spelled = names.and_then(|names| names.get(&lower)).and_then(Raw::as_str);
        let values = match counter.kind() {
            Kind::Array => {
                values_of(&databases, counter).ok_or_else(|| format!("the counter '{lower}' has no whole values"))?
            }
            Kind::String => Vec::new(),
            _ => return Err(format!("the counter '{lower}' has neither values nor a change vector")),
        };
        let name = spelled.map_or_else(|| lower.into_owned(), |name| name.into_owned());
        operations.push(CounterOperation { name, action: CounterAction::Merge(values) });
    }
    CounterCommand::new(&document_id, operations, false).map_err(|error| error.to_string())
}

/// The values of each database. What one never raised is left out, and an array may be shorter than the list of databases.
fn values_of(databases: &[String], counter: Raw<'_>) -> Option<Vec<NodeValue>> {
    let numbers: Vec<i64> = counter.elements().map(Raw::as_i64).collect::<Option<_>>()?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() || pairs.len() > databases.len() || pairs.is_empty() {
        return None;
    }
    let mut values = Vec::new();
    for (database, [value, etag]) in databases.iter().zip(pairs) {
        let etag = u64::try_from(*etag).ok()?;
        if etag > 0 || *value != 0 {
            values.push(NodeValue::new(database, *value, etag)?);
        }
    }
    // A counter of nothing but zeros is there all the same.
    if values.is_empty() {
        values.push(NodeValue::new(databases.first()?, 0, 0)?);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::{CounterGroup, deletion_text};

    #[test]
    fn deletions_name_databases_before_etags() {
        assert_eq!(deletion_text("A:21-E2sWNMXJFku7WUZSA9sjfQ"), "E2sWNMXJFku7WUZSA9sjfQ:21");
        assert_eq!(deletion_text("A:7-x/+, B:12-y"), "x/+:7, y:12");
        assert_eq!(deletion_text(""), "");
    }

    #[test]
    fn a_group_has_each_name_once_and_counters_of_one_document() {
        let mut group = CounterGroup::default();
        assert!(group.takes("a", "Likes"));
        group.add("a", "Likes", None, String::new());
        assert_eq!([group.takes("a", "likes"), group.takes("a", "other"), group.takes("b", "x")], [false, true, false]);
    }
}
