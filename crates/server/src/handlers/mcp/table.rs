//! The table of tools: names, what a model reads about them, their arguments, and the function of each.

use std::future::Future;
use std::pin::Pin;

use super::arguments::{Arguments, Kind, Parameter, optional, required};
use super::inner::Caller;
use super::outcome::Outcome;
use super::{collections, databases, documentation, documents, indexes, queries};
use crate::limits::{
    MCP_LIST, MCP_LIST_MAX, MCP_ROWS, MCP_ROWS_MAX, MCP_SAMPLE, MCP_SAMPLE_MAX, MCP_SECTIONS, MCP_SECTIONS_MAX,
};

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One tool.
pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// For the model.
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Changes documents: offered only if a setting allows it.
    pub(super) writes: bool,
    pub(super) run: fn(Caller, Arguments) -> Running,
}

const DATABASE: Parameter = required("database", Kind::Text, "Name of the database.");
const RQL: Parameter = required("rql", Kind::Text, "A query, as `from Orders where Total > $least limit 10`.");
const PARAMETERS: Parameter =
    optional("parameters", Kind::Object, "Values of the query's parameters: {\"least\":100}.");
const START: Parameter = optional("start", Kind::Start, "How many to skip.");
const LIST: Parameter =
    optional("limit", Kind::Count { default: MCP_LIST, max: MCP_LIST_MAX }, "How many there are at most.");
const CHANGE_VECTOR: Parameter = optional(
    "change_vector",
    Kind::Text,
    "Write only if the document still has this change vector, which get_document gives in @metadata.",
);

/// Makes an `async fn` fit into the table.
macro_rules! running {
    ($tool:path) => {
        |caller, arguments| Box::pin($tool(caller, arguments))
    };
}

/// All of them.
pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "list_databases",
        title: "List databases",
        about: "Names of the databases of this server.",
        parameters: &[START, LIST],
        writes: false,
        run: running!(databases::list),
    },
    ToolSpec {
        name: "list_collections",
        title: "List collections",
        about: "Collections of a database, with how many documents each has.",
        parameters: &[DATABASE],
        writes: false,
        run: running!(collections::list),
    },
    ToolSpec {
        name: "describe_collection",
        title: "Describe a collection",
        about: "The shape of the documents of a collection, from a sample: for each field its types, the share of documents that have \
            it, and examples.",
        parameters: &[
            DATABASE,
            required("collection", Kind::Text, "Name of the collection."),
            optional(
                "sample",
                Kind::Count { default: MCP_SAMPLE, max: MCP_SAMPLE_MAX },
                "How many documents to look at.",
            ),
        ],
        writes: false,
        run: running!(collections::describe),
    },
    ToolSpec {
        name: "get_document",
        title: "Get a document",
        about: "One document by its id, with its @metadata.",
        parameters: &[DATABASE, required("id", Kind::Text, "Id of the document, as `orders/1-A`.")],
        writes: false,
        run: running!(documents::get),
    },
    ToolSpec {
        name: "query",
        title: "Run a query",
        about: "Runs an RQL query and gives its rows. A query that no index answers makes an automatic index.",
        parameters: &[
            DATABASE,
            RQL,
            PARAMETERS,
            optional("limit", Kind::Count { default: MCP_ROWS, max: MCP_ROWS_MAX }, "How many rows there are at most."),
            optional(
                "wait_until_fresh",
                Kind::Flag,
                "Wait until the index has all that was written before. Otherwise false.",
            ),
        ],
        writes: false,
        run: running!(queries::query),
    },
    ToolSpec {
        name: "explain_query",
        title: "Explain a query",
        about: "Which index answers an RQL query and why others do not; with `run`, also the operators with rows and times.",
        parameters: &[
            DATABASE,
            RQL,
            PARAMETERS,
            optional("run", Kind::Flag, "Run the query and measure its operators. Otherwise false."),
        ],
        writes: false,
        run: running!(queries::explain),
    },
    ToolSpec {
        name: "list_indexes",
        title: "List indexes",
        about: "Indexes of a database: kind, state, whether they lag behind (stale).",
        parameters: &[DATABASE],
        writes: false,
        run: running!(indexes::list),
    },
    ToolSpec {
        name: "get_index",
        title: "Get an index",
        about: "Definition and statistics of one index.",
        parameters: &[DATABASE, required("index", Kind::Text, "Name of the index.")],
        writes: false,
        run: running!(indexes::get),
    },
    ToolSpec {
        name: "index_errors",
        title: "Index errors",
        about: "Errors of indexes: documents that could not be indexed, and why.",
        parameters: &[DATABASE, optional("index", Kind::Text, "Of this index alone."), LIST],
        writes: false,
        run: running!(indexes::errors),
    },
    ToolSpec {
        name: "slow_requests",
        title: "Slow requests",
        about: "Requests that took long, the newest first, with the texts of queries.",
        parameters: &[optional("database", Kind::Text, "Of this database alone."), LIST],
        writes: false,
        run: running!(databases::slow_requests),
    },
    ToolSpec {
        name: "search_documentation",
        title: "Search the documentation",
        about: "Sections of Rookery's manual that have the words of a query: RQL, indexes, HTTP, settings, errors.",
        parameters: &[
            required("query", Kind::Text, "Words to look for."),
            optional("limit", Kind::Count { default: MCP_SECTIONS, max: MCP_SECTIONS_MAX }, "How many sections."),
        ],
        writes: false,
        run: running!(documentation::search),
    },
    ToolSpec {
        name: "read_documentation",
        title: "Read the documentation",
        about: "One page of the manual, as search_documentation names it. Without a page: the list of pages.",
        parameters: &[
            optional("page", Kind::Text, "`docs/rql.md`."),
            optional("start", Kind::Start, "Where to go on in a long page, in bytes."),
        ],
        writes: false,
        run: running!(documentation::read),
    },
    ToolSpec {
        name: "put_document",
        title: "Put a document",
        about: "Stores a document under an id, in place of the one that is there.",
        parameters: &[
            DATABASE,
            required("id", Kind::Text, "Id of the document; one that ends with `/` gets a number."),
            required(
                "document",
                Kind::Document,
                "The document. {\"@metadata\":{\"@collection\":\"Orders\"}} in it names its collection. As text, its numbers are kept as \
                 they are written.",
            ),
            CHANGE_VECTOR,
        ],
        writes: true,
        run: running!(documents::put),
    },
    ToolSpec {
        name: "patch_document",
        title: "Patch a document",
        about: "Changes one document by a JavaScript, as `this.Total = args.total`.",
        parameters: &[
            DATABASE,
            required("id", Kind::Text, "Id of the document."),
            required("script", Kind::Text, "The script; `this` is the document."),
            optional("arguments", Kind::Object, "What the script has as `args`."),
            CHANGE_VECTOR,
        ],
        writes: true,
        run: running!(documents::patch),
    },
    ToolSpec {
        name: "delete_document",
        title: "Delete a document",
        about: "Deletes one document.",
        parameters: &[DATABASE, required("id", Kind::Text, "Id of the document."), CHANGE_VECTOR],
        writes: true,
        run: running!(documents::delete),
    },
];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::handlers::mcp::arguments::schema;

    #[track_caller]
    fn refused(tool: &str, given: Value) -> String {
        let spec = TOOLS.iter().find(|spec| spec.name == tool).unwrap();
        let Value::Object(given) = given else { panic!("no object") };
        Arguments::check(spec.name, spec.parameters, given).err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused_by_name() {
        let all = json!({"database": "db", "rql": "from A", "limit": 1000, "parameters": {}, "wait_until_fresh": true});
        assert_eq!(refused("query", all), "");
        assert_eq!(refused("query", json!({"database": "db", "rql": "from A", "limit": 5.0, "parameters": null})), "");
        let begins = |tool, given, expected: &str| {
            let message = refused(tool, given);
            assert!(message.starts_with(expected), "{message}");
        };
        begins("query", json!({"database": "db"}), "The argument 'rql' is missing. A query");
        begins(
            "query",
            json!({"database": "db", "rql": "from A", "limit": 1001}),
            "The argument 'limit' must be a whole number from 1 to 1000",
        );
        begins("query", json!({"database": "db", "rql": "from A", "limit": 1e300}), "The argument 'limit' must be");
        begins("query", json!({"database": "db", "rql": "from A", "limit": -1}), "The argument 'limit' must be");
        begins("query", json!({"database": 7, "rql": "from A"}), "The argument 'database' must be text");
        begins(
            "query",
            json!({"sql": "x"}),
            "'query' has no argument 'sql'; its arguments are: database, rql, parameters",
        );
        begins(
            "put_document",
            json!({"database": "db", "id": "a", "document": []}),
            "The argument 'document' must be an object",
        );
    }

    #[test]
    fn every_tool_has_a_name_of_its_own_and_a_schema() {
        for (place, spec) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..place].iter().all(|other| other.name != spec.name), "{}", spec.name);
            let schema = schema(spec.parameters);
            assert_eq!(schema["properties"].as_object().unwrap().len(), spec.parameters.len(), "{}", spec.name);
        }
    }
}
