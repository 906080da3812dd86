//! `GET /databases/{name}/indexes/debug`: what stands in an index, for people to look at.
//!
//! Parameters: `name`, `op`. 404 for an unknown name; another `op`: 400.
//!
//! * `entries-fields`: `[{"Name","FieldType","ValueType"}]`, `FieldType` `Static` or `Dynamic`.
//! * `source-doc-ids`: `startsWith`, `start`, `pageSize`: `{"Results":[lower-cased id],"Count"}`; of indexes with a reduce.
//! * `map-reduce-tree`: `docId`, several: `{"Results":[tree],"NumberOfGroups"}`; an index without a reduce: 400.

use std::sync::Arc;

use database::Index;
use database::queries::Deadline;
use hyper::StatusCode;
use json::{Raw, Writer};
use query::indexing::{GroupTree, Parts, SHOWN_DOCUMENTS_MAX, TreeNode, group_trees};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::SOURCE_IDS_PAGE_MAX;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn debug(exchange: Exchange) -> Result<Reply> {
    let (name, operation) = (exchange.required("name")?, exchange.required("op")?.into_owned());
    let Some(index) = exchange.database().indexes().by_name(&name) else {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    };
    drop(name);
    let node = exchange.node.clone();
    let read = move || match operation.as_str() {
        "entries-fields" => fields(&index),
        "source-doc-ids" => source_ids(&exchange, &index),
        "map-reduce-tree" => trees(&exchange, &index),
        other => Err(Error::UnknownOperation(other.chars().take(128).collect())),
    };
    node.bridge.run(Pool::Reads, read).await
}

/// All that entries have, by name: what the definition says, and what was made while documents were mapped.
fn fields(index: &Index) -> Result<Reply> {
    let definition = index.definition();
    let mut fields: Vec<(String, &str)> = definition.field_names().into_iter().map(|name| (name, "Static")).collect();
    if !definition.is_grouped() {
        fields.push(("id()".to_owned(), "Static"));
    }
    let known = index.read()?.fields()?.into_iter().map(|(name, _)| (name, "Dynamic"));
    fields.extend(known);
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    fields.dedup_by(|later, first| later.0 == first.0);
    let mut body = Vec::new();
    Writer::new(&mut body).array(|json| {
        for (name, kind) in &fields {
            json.object(|json| {
                json.name("Name").string(name).name("FieldType").string(kind).name("ValueType").string("Term");
            });
        }
    });
    Ok(reply::ok(body))
}

/// The documents that have values in groups, a page of them.
fn source_ids(exchange: &Exchange, index: &Index) -> Result<Reply> {
    if !index.definition().is_grouped() {
        return Err(Error::UnknownOperation("Getting doc ids for map indexes".to_owned()));
    }
    let query = exchange.query();
    let (mut to_skip, count) = (query.page_start()?, query.page_size()?.min(SOURCE_IDS_PAGE_MAX));
    let prefix = query.get_nonempty("startsWith").unwrap_or_default();
    let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), || false);
    let (mut ids, mut looked) = (Vec::new(), Ok(()));
    let snapshot = index.read()?;
    let each = |id: &[u8]| {
        if ids.len() as u64 >= count {
            return false;
        }
        if to_skip > 0 {
            to_skip -= 1;
            looked = deadline.look();
            return looked.is_ok();
        }
        ids.push(String::from_utf8_lossy(id).into_owned());
        true
    };
    snapshot.mapped_documents(&prefix, each).map_err(database::Error::from)?;
    looked?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| ids.iter().for_each(|id| _ = json.string(id)));
        json.name("Count").unsigned(ids.len() as u64);
    }))
}

/// The groups of some documents, with all that they are reduced from.
fn trees(exchange: &Exchange, index: &Arc<Index>) -> Result<Reply> {
    if !index.definition().is_grouped() {
        let name: String = index.name().chars().take(128).collect();
        return Err(Error::BadRequest(format!("{name} is not map-reduce index")));
    }
    let documents: Vec<String> =
        exchange.query().all("docId").filter(|id| !id.is_empty()).map(|id| id.into_owned()).collect();
    if documents.len() > SHOWN_DOCUMENTS_MAX {
        let message = format!("'docId' exceeds the limit SHOWN_DOCUMENTS_MAX = {SHOWN_DOCUMENTS_MAX}");
        return Err(Error::BadRequest(message));
    }
    let ids: Vec<&str> = documents.iter().map(String::as_str).collect();
    let snapshot = index.read()?;
    let found = group_trees(&snapshot, index.definition(), &ids).map_err(database::Error::from)?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| found.trees.iter().for_each(|tree| write_tree(json, tree, &ids)));
        json.name("NumberOfGroups").unsigned(found.group_count as u64);
    }))
}

fn write_tree(json: &mut Writer<'_>, tree: &GroupTree<'_>, ids: &[&str]) {
    let name = tree.group.name();
    json.object(|json| {
        json.name("Name").string(&name);
        match tree.key.is_empty() {
            true => json.name("DisplayName").string(&name),
            false => json.name("DisplayName").string(&String::from_utf8_lossy(&tree.key)),
        };
        json.name("Depth").unsigned(tree.level_count.into()).name("PageCount").unsigned(tree.node_count);
        json.name("NumberOfEntries").unsigned(tree.value_count).name("IsWhole").bool(tree.is_whole);
        write_node(json.name("Root"), &tree.root, ids);
    });
}

/// The recursion is as deep as the tree, which has at most 11 levels.
fn write_node(json: &mut Writer<'_>, node: &TreeNode<'_>, ids: &[&str]) {
    json.object(|json| {
        json.name("PageNumber").unsigned(node.number).name("Level").unsigned(node.level.into());
        write_results(json.name("AggregationResult"), &node.results);
        json.name("HasFailed").bool(node.has_failed);
        match &node.parts {
            Parts::Nodes(nodes) => {
                json.name("Children").array(|json| nodes.iter().for_each(|node| write_node(json, node, ids)));
                json.name("Entries").null();
            }
            Parts::Unread => {
                json.name("Children").null().name("Entries").null();
            }
            Parts::Values(values) => {
                json.name("Children").null();
                json.name("Entries").array(|json| {
                    for value in values {
                        json.object(|json| {
                            json.name("Data").raw(value.value.bytes());
                            let source = value.document.and_then(|document| ids.get(document));
                            json.name("Source").optional_string(source.copied()).name("Number").unsigned(value.number);
                        });
                    }
                });
            }
        }
    });
}

/// One result as it is, several as an array.
fn write_results(json: &mut Writer<'_>, results: &[Raw<'_>]) {
    match results {
        [] => _ = json.null(),
        [result] => _ = json.raw(result.bytes()),
        results => _ = json.array(|json| results.iter().for_each(|result| _ = json.raw(result.bytes()))),
    }
}
