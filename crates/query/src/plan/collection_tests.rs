//! Which queries need no index, and what they come to.

use super::*;

fn plan(text: &str, parameters: &str) -> Result<CollectionQuery, Refused> {
    let parameters = json::Value::parse(parameters.as_bytes()).unwrap();
    CollectionQuery::plan(&rql::parse(text).unwrap(), Parameters::new(Some(&parameters)))
}

#[track_caller]
fn check(text: &str, change: impl FnOnce(&mut CollectionQuery)) {
    let mut expected = CollectionQuery {
        source: Source::Collection("Users".to_owned()),
        filter: Filter::All,
        order: Order::Etag,
        includes: Vec::new(),
        skip: 0,
        take: None,
        is_limited: text.contains("limit") || text.contains("offset"),
    };
    change(&mut expected);
    let parameters = r#"{"p0":"users/1","p1":["users/2","USERS/2"],"p2":3,"nothing":null,"path":"Friend"}"#;
    assert_eq!(plan(text, parameters), Ok(expected), "{text}");
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let refused = format!("{:?}", plan(text, r#"{"a":1,"o":{},"many":["a","b"]}"#).unwrap_err());
    assert!(refused.contains(expected), "{text}: {refused}");
}

fn ids(ids: &[&str]) -> Filter {
    Filter::Ids(ids.iter().map(|id| (*id).to_owned()).collect())
}

#[test]
fn sources() {
    check("from Users", |_| {});
    check("  FROM 'Users' AS u ", |_| {});
    check("from \"Users\" u // all of them", |_| {});
    check("from /* which? */ @all_docs", |query| query.source = Source::All);
    check("from 'My \\'Things'", |query| query.source = Source::Collection("My 'Things".to_owned()));
    check("from My-Things.Old", |query| query.source = Source::Collection("My-Things.Old".to_owned()));
}

#[test]
fn ids_and_prefixes() {
    check("from Users where id() = 'users/1'", |query| query.filter = ids(&["users/1"]));
    check("from Users as u where (id(u) == $p0)", |query| query.filter = ids(&["users/1"]));
    check("from Users where id() in ($p1, 'x', $p0)", |query| query.filter = ids(&["users/2", "x", "users/1"]));
    check("from Users where id() in ()", |query| query.filter = ids(&[]));
    check("from Users where id() = null", |query| query.filter = ids(&[]));
    check("from Users where startsWith(id(), 'users/1')", |query| {
        query.filter = Filter::IdPrefix("users/1".to_owned());
    });
}

#[test]
fn orders_limits_and_includes() {
    check("from Users order by id() desc", |query| query.order = Order::IdDescending);
    check("from Users order by id() as string", |query| query.order = Order::IdAscending);
    check("from Users limit 5", |query| query.take = Some(5));
    check("from Users limit 2, $p2", |query| (query.skip, query.take) = (2, Some(3)));
    check("from Users limit $nothing, $p2", |query| query.take = Some(3));
    check("from Users limit 1 offset 2", |query| (query.skip, query.take) = (2, Some(1)));
    check("from Users offset 9", |query| query.skip = 9);
    check("from Users limit 9223372036854775807", |query| query.take = Some(9_223_372_036_854_775_807 + 1));
    check("from Users as u include u.Friend, Lines[].Product, 'a b', Dict.$Keys, $path limit 1", |query| {
        query.includes = ["Friend", "Lines[].Product", "a b", "Dict.$Keys", "Friend"].map(str::to_owned).to_vec();
        query.take = Some(1);
    });
    check("from Users as u include u, u2.x", |query| query.includes = ["u", "u2.x"].map(str::to_owned).to_vec());
}

#[test]
fn what_needs_an_index_is_told_from_what_is_wrong() {
    for text in [
        "from Users where Name = 'x'",
        "from Users where id() = 'a' or id() = 'b'",
        "from Users where id() > 'a'",
        "from Users where id(u) = 'a'",
        "from Users where id() all in ('a')",
        "from Users where id() between 'a' and 'b'",
        "from Users where startsWith(Name, 'a')",
        "from Users where true",
        "from Users order by Name",
        "from Users order by id() as long",
        "from Users order by id(), Name",
        "from Users order by id() nulls last",
        "from Users select Name",
        "from Users update { this.x = 1 }",
        "from Users load Friend as f",
        "from Users filter Name = 'x'",
        "from Users filter_limit 3",
        "from Users include counters('x')",
        "from Users (Revisions = true)",
        "from Users group by Name select count()",
        "declare function f(x) { return x } from Users as u select f(u)",
    ] {
        check_refused(text, "NeedsIndex");
    }
    check_refused("from index 'Users/ByName'", "NoSuchIndex(\"Users/ByName\")");
    for text in [
        "from Users where id() = $p9",
        "from Users where startsWith(id(), $many)",
        "from Users limit $many",
        "from Users limit $p9",
        "from Users include $o",
    ] {
        check_refused(text, "Invalid");
    }
    let no_parameters =
        CollectionQuery::plan(&rql::parse("from Users where id() = $a").unwrap(), Parameters::default());
    assert!(no_parameters.unwrap_err().to_string().starts_with("The query is parametrized"));
}
