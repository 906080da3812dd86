//! Every example of `docs/rql.md` is RQL.

use rookery_query::rql::parse;

/// The queries of a block: each begins with `from` or with what it declares.
fn queries(block: &str) -> Vec<String> {
    let mut queries: Vec<String> = Vec::new();
    let mut is_declaring = false;
    for line in block.lines() {
        match queries.last_mut() {
            Some(query) if is_declaring || !line.starts_with("from ") => *query += &format!("\n{line}"),
            _ => queries.push(line.to_owned()),
        }
        is_declaring = (is_declaring || line.starts_with("declare ")) && !line.starts_with("from ");
    }
    queries
}

#[test]
fn every_example_of_the_documentation_is_parsed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rql.md");
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let queries: Vec<String> = blocks.flat_map(queries).collect();
    assert!(queries.len() > 30, "{} examples are too few: was the file read?", queries.len());
    for query in queries {
        parse(&query).unwrap_or_else(|error| panic!("{query}\n{error}"));
    }
}
