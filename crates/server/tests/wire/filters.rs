//! The clause `filter`. Results and counts are those of the reference, but for the few that the comments name.

use super::support::Wire;

fn with_users() -> Wire {
    let wire = Wire::with_database();
    for age in 0..12 {
        let tags = if age % 2 == 1 { r#"["a","b"]"# } else { "[]" };
        let (name, city) = (age % 3, age % 4);
        let document = format!(
            r#"{{"Name":"n{name}","Age":{age},"Tags":{tags},"Addr":{{"City":"c{city}"}},"Nul":null,"@metadata":{{"@collection":"Users"}}}}"#
        );
        wire.put(&format!("users/{age}"), &document);
    }
    let fields = r#"{"Name":{"Storage":"Yes"}}"#;
    for index in [
        format!(r#"{{"Name":"I","Maps":["from u in docs.Users select new {{ u.Name, u.Age }}"],"Fields":{fields}}}"#),
        r#"{"Name":"R","Maps":["from u in docs.Users select new { u.Name, Count = 1 }"],"Reduce":"from r in results group r by r.Name into g select new { Name = g.Key, Count = g.Sum(x => x.Count) }"}"#.to_owned(),
    ] {
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &format!(r#"{{"Indexes":[{index}]}}"#)).status, 201);
    }
    wire
}

/// The numbers in the ids of the results, else their JSON; then total, refused and scanned.
fn ask(wire: &Wire, query: &str) -> String {
    let mut body = json::Value::object();
    body.set("Query", json::Value::String(query.to_owned()));
    body.set("QueryParameters", json::Value::parse(br#"{"p":5}"#).unwrap());
    body.set("WaitForNonStaleResults", json::Value::Bool(true));
    let answer = wire.call("POST /databases/db/queries", &String::from_utf8(body.to_vec()).unwrap());
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{query}") };
    let shown = results.iter().map(|result| match result.get("@metadata").and_then(|it| it.get("@id")?.as_str()) {
        Some(id) => id.trim_start_matches("users/").to_owned(),
        None => {
            result.get("Count").or(result.get("Age")).map(|value| String::from_utf8(value.to_vec()).unwrap()).unwrap()
        }
    });
    let count = |name| answer.get(name).and_then(json::Value::as_i64).unwrap();
    let counts = ["TotalResults", "SkippedResults", "ScannedResults"].map(count);
    format!("{} | {counts:?}", shown.collect::<Vec<_>>().join(" "))
}

#[test]
fn results_are_filtered_as_they_stand() {
    let wire = with_users();
    let check = |query: &str, expected: &str| assert_eq!(ask(&wire, query), expected, "{query}");
    check("from Users filter Age > 8", "9 10 11 | [3, 9, 12]");
    check("from Users filter Age > 8 limit 1", "9 | [1, 9, 10]");
    check("from Users filter Age > 8 filter_limit 4", " | [0, 4, 4]");
    check("from Users filter Age > 2 limit 3 filter_limit 5", "3 4 | [2, 3, 5]");
    check("from Users filter Age > 2 limit 1, 2", "3 4 | [2, 2, 4]");
    check("from Users as u filter u.Addr.City = 'c1'", "1 5 9 | [3, 9, 12]");
    check("from Users as u filter u.Addr.City = 'C1'", " | [0, 12, 12]");
    check("from Users filter startsWith(Name, 'n1') and endsWith(Name, '1')", "1 4 7 10 | [4, 8, 12]");
    check("from Users filter regex(Name, '^.1$')", "1 4 7 10 | [4, 8, 12]");
    check("from Users filter Age in (1, 2, 'x')", "1 2 | [2, 10, 12]");
    check("from Users filter Age < 1e400 and Age > -1e400 and Age > 9", "10 11 | [2, 10, 12]");
    check("from Users filter Age > '9'", "10 11 | [2, 10, 12]");
    check("from Users filter Name > 'n1' and Age < 6", "2 5 | [2, 10, 12]");
    check("from Users filter Age = $p or Age = 'x'", "5 | [1, 11, 12]");
    check("from Users filter true and not Age > 3", "0 1 2 3 | [4, 8, 12]");
    check("from Users filter Tags = 'a' or Tags[] = 'a'", " | [0, 12, 12]");
    check("from Users filter Nul = null and exists(Nul)", "0 1 2 3 4 5 6 7 8 9 10 11 | [12, 0, 12]");
    check("from Users filter Missing = null or exists(Missing) or Nul != null or Missing < 5", " | [0, 12, 12]");
    check("from Users filter Missing != 5 and Age < 2", "0 1 | [2, 10, 12]");
    check("from Users filter id() = 'users/3'", "3 | [1, 11, 12]");
    check("from Users filter '@metadata'.'@collection' = 'Users' and Age = 3", "3 | [1, 11, 12]");
    check("from @all_docs filter Age > 9", "10 11 | [2, 10, 12]");
    check("from Users where id() = 'users/3' filter Age = 3", "3 | [1, 0, 1]");
    // These find nothing in the reference.
    check("from Users filter Age = Age and Age < 3", "0 1 2 | [3, 9, 12]");
    check("from Users as u filter u.Name < u.Addr.City or u.Age > u.Name or u.Age < u.Missing", " | [0, 12, 12]");
    check("from Users filter Nul = Nul and Age != Missing and Age < 2", "0 1 | [2, 10, 12]");
    check("from Users filter Age between 1 and 3", "1 2 3 | [3, 9, 12]");
    check("from Users filter Tags all in ('a', 'b') and Age < 5", "1 3 | [2, 10, 12]");
}

/// As in JavaScript, and as the reference answers.
#[test]
fn arrays_and_texts_have_a_length_in_a_filter() {
    let wire = Wire::with_database();
    let documents = [r#""T":[]"#, r#""T":[1,2],"S":"abc""#, r#""S":"""#, r#""T":null,"N":5"#, r#""O":{"length":7}"#];
    for (at, document) in documents.iter().enumerate() {
        wire.put(&format!("xs/{at}"), &format!(r#"{{"Age":{at},{document},"@metadata":{{"@collection":"Xs"}}}}"#));
    }
    let found = |filter: &str| {
        let answer = wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"from Xs as b filter {filter}"}}"#));
        let answer = answer.json();
        let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{filter}") };
        let ages = results.iter().map(|result| result.get("Age").and_then(json::Value::as_i64).unwrap().to_string());
        ages.collect::<Vec<_>>().join(" ")
    };
    for (filter, expected) in [
        // What is missing has the length 0, and null has none.
        ("b.T.length = 0", "0 2 4"),
        ("b.T.length != 0", "1 3"),
        ("b.T.length > 0", "1"),
        ("b.S.length = 3", "1"),
        ("b.N.length = 0", "0 1 2 4"),
        ("b.O.length = 7", "4"),
        ("b.T.Length = 2 or b.T.Count = 2 or b.S.Length = 3", ""),
        ("b.T.Count = null", "2 3 4"),
    ] {
        assert_eq!(found(filter), expected, "{filter}");
    }
}

/// What is before the page is passed over and not asked, so that a client finds the next page behind what did not fit.
#[test]
fn a_page_of_what_fits_begins_behind_so_many_results() {
    let wire = with_users();
    let check = |query: &str, expected: &str| assert_eq!(ask(&wire, query), expected, "{query}");
    for (page, of_index, of_collection) in [
        ("limit 2", "1 4 | [12, 3, 5]", "1 4 | [2, 3, 5]"),
        ("limit 2 offset 1", "1 4 | [12, 2, 4]", "1 4 | [2, 2, 4]"),
        ("limit 2 offset 2", "4 7 | [12, 4, 6]", "4 7 | [2, 4, 6]"),
        ("limit 2 offset 5", "7 10 | [12, 4, 6]", "7 10 | [2, 4, 6]"),
        ("limit 2 offset 100", " | [12, 0, 0]", " | [0, 0, 0]"),
        ("limit 2 offset 1 filter_limit 5", "1 4 | [12, 2, 4]", "1 4 | [2, 2, 4]"),
        ("limit 2 offset 2 filter_limit 5", "4 | [12, 4, 5]", "4 | [1, 4, 5]"),
    ] {
        check(&format!("from index 'I' filter Name = 'n1' {page}"), of_index);
        check(&format!("from Users where Age >= 0 filter Name = 'n1' {page}"), of_index);
        check(&format!("from Users filter Name = 'n1' {page}"), of_collection);
    }
    let falling = "from Users where Age >= 0 order by Age as long desc filter Name = 'n1' limit 2 offset 1";
    check(falling, "10 7 | [12, 2, 4]");
}

#[test]
fn what_an_index_finds_is_filtered_by_its_documents_or_groups() {
    let wire = with_users();
    let check = |query: &str, expected: &str| assert_eq!(ask(&wire, query), expected, "{query}");
    check("from Users where Name = 'N1' filter Age > 3", "4 7 10 | [4, 1, 4]");
    check("from Users where Name = 'n1' order by Age as long desc filter Age > 3 limit 2", "10 7 | [4, 0, 2]");
    check("from Users as u where u.Name = 'n1' filter u.Age > 3 select u.Age", "4 7 10 | [4, 1, 4]");
    check("from index 'I' filter Age > 8", "9 10 11 | [12, 9, 12]");
    check("from index 'I' where Name = 'n1' filter Addr.City = 'c1'", "1 | [4, 3, 4]");
    check("from index 'R' filter Count > 3", "4 4 4 | [3, 0, 3]");
    check("from index 'R' where Name = 'n1' filter Count > 5", " | [1, 1, 1]");
    check("from Users group by Name where Name = 'n1' filter Count > 3 select count() as Count, Name", "4 | [1, 0, 1]");
    check(
        "from Users as u order by u.Age as long desc filter u.Age < 5 select { Age: u.Age }",
        "4 3 2 1 0 | [12, 7, 12]",
    );
    check("from Users where search(Name, 'n1 n2') order by score(), Age as long filter Age > 9", "10 11 | [8, 6, 8]");
    let lines =
        wire.call("GET /databases/db/streams/queries?format=jsonl&query=from%20Users%20filter%20Age%20%3E%209", "");
    assert_eq!(lines.text().matches(r#""@id":"#).count(), 2, "{}", lines.text());
}

#[test]
fn what_a_filter_cannot_ask_is_refused_by_name() {
    let wire = with_users();
    let version = env!("CARGO_PKG_VERSION");
    let refused = |line: &str, body: &str, feature: &str| {
        let message = format!("Rookery {version} does not support {feature} yet");
        wire.check_error(line, body, 501, "RavenException", &message);
    };
    let post = "POST /databases/db/queries";
    refused(post, r#"{"Query":"from Users filter search(Name, 'n1')"}"#, "search() in 'filter'");
    let suggest = r#"{"Query":"from Users filter Age > 3 select suggest(Name, 'x')"}"#;
    refused(post, suggest, "'filter' beside suggest()");
    refused(
        post,
        r#"{"Query":"from Users where Age > 1 filter Age > 3 include explanations()"}"#,
        "'filter' beside explanations()",
    );
    refused(post, r#"{"Query":"explain from Users filter Age > 3"}"#, "'filter' with 'explain'");
    for (query, message) in [
        ("from Users filter Age > 3 select facet(Name)", "Facet query does not support a filter clause."),
        ("from Users filter_limit 5", "'filter_limit' needs 'filter'"),
        ("from Users filter regex(Name, '(')", "'('"),
        ("from Users filter exists(5)", "Expected a field, but got a value"),
        ("from Users filter startsWith(Name)", "Method startsWith() needs a field and a text"),
    ] {
        let body = format!(r#"{{"Query":"{query}"}}"#);
        wire.check_error(post, &body, 400, "InvalidQueryException", message);
    }
}

/// All as the reference has it.
#[test]
fn one_element_of_an_array_is_asked() {
    let wire = with_orders();
    let check = |filter: &str, expected: &str| {
        assert_eq!(ask(&wire, &format!("from Orders {filter}")), expected, "{filter}");
    };
    check("filter Lines[0].Quantity = 5", "orders/1 | [1, 2, 3]");
    check("as o filter o.Lines[1].Quantity > 5", "orders/1 | [1, 2, 3]");
    check("filter Lines[0].P in ('x', 'z')", "orders/1 orders/2 | [2, 1, 3]");
    check("filter Lines[0].Quantity < Lines[1].Quantity", "orders/1 | [1, 2, 3]");
    check("filter Tags[1] = 'b'", "orders/1 orders/3 | [2, 1, 3]");
    check("filter exists(Tags[1])", "orders/1 orders/3 | [2, 1, 3]");
    check("filter Matrix[0][1] = 2", "orders/1 | [1, 2, 3]");
    check("filter Lines[99999999999999999999].Quantity = 5 or exists(N[0])", " | [0, 3, 3]");
    check("filter exists(Lines[1].Quantity)", "orders/1 orders/3 | [2, 1, 3]");
    check("filter Lines[0] = null", "orders/3 | [1, 2, 3]");
}

/// All as the reference has it, but for what it finds with functions that are not declared: nothing.
#[test]
fn declared_functions_are_asked() {
    let wire = with_orders();
    let check = |query: &str, expected: &str| assert_eq!(ask(&wire, query), expected, "{query}");
    const MANY: &str = "declare function f(o) { return o.N > 1 }";
    check(&format!("{MANY} from Orders as o filter f(o)"), "orders/2 orders/3 | [2, 1, 3]");
    check(&format!("{MANY} from Orders as o filter f(o) = true"), "orders/2 orders/3 | [2, 1, 3]");
    check(&format!("{MANY} from Orders filter f(N)"), " | [0, 3, 3]");
    check(&format!("{MANY} from Orders as o filter true and not f(o)"), "orders/1 | [1, 2, 3]");
    check(&format!("{MANY} from Orders as o filter f(o) and o.T = 'b'"), "orders/2 | [1, 2, 3]");
    check(&format!("{MANY} from Orders as o filter o.T = 'a' or f(o)"), "orders/1 orders/2 orders/3 | [3, 0, 3]");
    check(&format!("{MANY} from Orders as o filter f(o) filter_limit 2"), "orders/2 | [1, 1, 2]");
    check(&format!("{MANY} from Orders as o filter f(o) limit 1"), "orders/2 | [1, 1, 2]");
    check(&format!("{MANY} from Orders as o where o.N > 0 filter f(o)"), "orders/2 orders/3 | [3, 1, 3]");
    const VALUE: &str = "declare function f(n, k) { return k ? n > k : n }";
    check(&format!("{VALUE} from Orders filter f(N, 2)"), "orders/3 | [1, 2, 3]");
    check(&format!("{VALUE} from Orders as o filter f(o.N, $p)"), " | [0, 3, 3]");
    check(&format!("{VALUE} from Orders as o filter f(o.N) > 1"), "orders/2 orders/3 | [2, 1, 3]");
    check(&format!("{VALUE} from Orders as o filter f(o.N)"), " | [0, 3, 3]");
    check(&format!("{VALUE} from Orders as o filter o.N = f(o.N)"), "orders/1 orders/2 orders/3 | [3, 0, 3]");
    check(&format!("{VALUE} from Orders as o filter f(o.N) in (1, 2)"), "orders/1 orders/2 | [2, 1, 3]");
    check(&format!("{VALUE} from Orders as o filter startsWith(f(o.T), 'a')"), "orders/1 | [1, 2, 3]");
    const ID: &str = "declare function f(o) { return g(o) } declare function g(o) { return id(o) == 'orders/1' && load('x') == null }";
    check(&format!("{ID} from Orders as o filter f(o)"), "orders/1 | [1, 2, 3]");
    const GROUP: &str = "declare function f(g, n) { return g.Count > 0 && n > 0 }";
    check(&format!("{GROUP} from Orders as o group by o.T filter f(o, Count) select count()"), "1 1 1 | [3, 0, 3]");
    let refused = |query: &str, status: u16, exception: &str, message: &str| {
        let body = format!(r#"{{"Query":"{query}"}}"#);
        let answer = wire.call("POST /databases/db/queries", &body);
        let text = answer.text();
        assert_eq!(answer.status, status, "{query}: {text}");
        assert!(text.contains(exception) && text.contains(message), "{query}: {text}");
    };
    let of = |body: &str| format!("declare function f(o) {{ {body} }} from Orders as o filter f(o)");
    refused(&of("throw new Error('x')"), 400, "JavaScriptException", "x");
    refused(&of("while (true) { }"), 400, "JavaScriptException", "Patching.MaxStepsForScript");
    refused(&of("put('a/b', {}); return true"), 400, "InvalidOperationException", "modifications in readonly context");
    refused("from Orders as o filter f(o)", 501, "", "f() in 'filter'");
    let calls = vec!["f(o)"; 17].join(" or ");
    let many = format!("declare function f(o) {{ return true }} from Orders as o filter {calls}");
    refused(&many, 400, "InvalidQueryException", "'filter' calls more than 16 functions");
}

/// As in the reference, but for arrays of documents, which it cannot parse, given ids, which it does not load, and a document that is not
/// there: its null is the one of a property that is null.
#[test]
fn loaded_documents_are_asked() {
    let wire = Wire::with_database();
    for (id, document) in [
        ("c/1", r#"{"Name":"Ann","N":5,"H":"h/1","Tags":["a","b"],"@metadata":{"@collection":"Cs"}}"#),
        ("h/1", r#"{"T":"head","@metadata":{"@collection":"Hs"}}"#),
        ("users/1", r#"{"C":"c/1","L":5,"Cs":["c/1","c/2"],"@metadata":{"@collection":"Os"}}"#),
        ("users/2", r#"{"C":"c/2","L":6,"Cs":[],"@metadata":{"@collection":"Os"}}"#),
        ("users/3", r#"{"C":null,"L":7,"Cs":["c/2"],"@metadata":{"@collection":"Os"}}"#),
        ("users/4", r#"{"L":5,"@metadata":{"@collection":"Os"}}"#),
    ] {
        wire.put(id, document);
    }
    let check = |query: &str, expected: &str| assert_eq!(ask(&wire, query), expected, "{query}");
    let one = |filter: &str, expected: &str| check(&format!("from Os as o load o.C as c filter {filter}"), expected);
    one("c.Name = 'Ann'", "1 | [1, 3, 4]");
    one("c.Name != 'Ann'", "2 3 4 | [3, 1, 4]");
    one("c.Name = null", "2 3 4 | [3, 1, 4]");
    one("c.N = o.L", "1 | [1, 3, 4]");
    one("c.N = L", "1 | [1, 3, 4]");
    one("o.L = c.N", "1 | [1, 3, 4]");
    one("o.L >= c.N", "1 2 3 4 | [4, 0, 4]");
    one("c.N < 10", "1 2 3 4 | [4, 0, 4]");
    one("c.N between 5 and $p", "1 | [1, 3, 4]");
    one("startsWith(c.Name, 'A') and endsWith(c.Name, 'n') and regex(c.Name, '^A')", "1 | [1, 3, 4]");
    one("exists(c.Name)", "1 | [1, 3, 4]");
    one("exists(c)", "1 | [1, 3, 4]");
    one("c = null", "2 3 4 | [3, 1, 4]");
    one("c != null", "1 | [1, 3, 4]");
    one("id(c) = 'c/1'", "1 | [1, 3, 4]");
    one("o.C = id(c)", "1 3 | [2, 2, 4]");
    one("id() = 'users/2'", "2 | [1, 3, 4]");
    one("c.Name in ('Ann', 'Bob')", "1 | [1, 3, 4]");
    one("c.Tags = 'a'", " | [0, 4, 4]");
    one("c.Tags[0] = 'a'", "1 | [1, 3, 4]");
    one("c.Tags.length = 2", "1 | [1, 3, 4]");
    one("c.Tags all in ('b', 'a')", "1 | [1, 3, 4]");
    one("c.'@metadata'.'@collection' = 'Cs' and c.'@metadata'.'@id' = 'c/1'", "1 | [1, 3, 4]");
    one("true and not c.Name = 'Ann' filter_limit 3", "2 3 | [2, 1, 3]");
    one("c.Name = 'Ann' select c.N as Age", "1 | [1, 3, 4]");
    check("from Os load C as c filter c.N = 5", "1 | [1, 3, 4]");
    check("from Os as o load o.C as c, c.H as h filter h.T = 'head'", "1 | [1, 3, 4]");
    check("from Os as o where o.L = 5 load o.C as c filter c.Name = 'Ann'", "1 | [2, 1, 2]");
    check("from Os as o load 'c/1' as c filter c.N = o.L", "1 4 | [2, 2, 4]");
    let several = |filter: &str, expected: &str| {
        check(&format!("from Os as o load o.Cs as cs[] filter {filter}"), expected);
    };
    several("cs[0].Name = 'Ann'", "1 | [1, 3, 4]");
    several("cs[].Name in ('Ann')", "1 | [1, 3, 4]");
    several("cs.Name in ('Ann')", "1 | [1, 3, 4]");
    several("cs.length = 0", "2 3 4 | [3, 1, 4]");
    const VALUE: &str = "declare function f(c) { return c != null && c.N == 5 }";
    check(&format!("{VALUE} from Os as o load o.C as c filter f(c)"), "1 | [1, 3, 4]");
    check(&format!("{VALUE} from Os as o load o.C as c filter f(c) and c.Name = 'Bob'"), " | [0, 4, 4]");
    const OF_BOTH: &str = "declare function f(o, c) { return c ? c.N : -1 }";
    check(&format!("{OF_BOTH} from Os as o load o.C as c filter f(o, c) = o.L"), "1 | [1, 3, 4]");
    const COUNT: &str = "declare function f(cs) { return cs.length }";
    check(&format!("{COUNT} from Os as o load o.Cs as cs[] filter f(cs) = 1"), "1 | [1, 3, 4]");
    let body = r#"{"Query":"from Os as o load o.Cs as c filter c.N = 5"}"#;
    let answer = wire.call("POST /databases/db/queries", body);
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.text().contains("did you forget '[]'"), "{}", answer.text());
}

/// What a function loads may have changed, although the collection did not.
#[test]
fn an_answer_that_depends_on_loaded_documents_is_not_taken_for_the_same() {
    let wire = with_orders();
    wire.put("settings/1", r#"{"Least":2,"@metadata":{"@collection":"Settings"}}"#);
    let query =
        br#"{"Query":"declare function f(o) { return o.N > load('settings/1').Least } from Orders as o filter f(o)"}"#;
    let answer = wire.call_with("POST /databases/db/queries", &[], query);
    assert!(answer.text().starts_with("{\"TotalResults\":1,"), "{}", answer.text());
    let header = format!("If-None-Match: \"{}\"", answer.header("etag").unwrap());
    wire.put("settings/1", r#"{"Least":0,"@metadata":{"@collection":"Settings"}}"#);
    let changed = wire.call_with("POST /databases/db/queries", &[&header], query);
    assert!(changed.text().starts_with("{\"TotalResults\":3,"), "{} {}", changed.status, changed.text());
}

/// The same of what `load` finds.
#[test]
fn an_answer_that_depends_on_loaded_values_is_not_taken_for_the_same() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"C":"c/1","@metadata":{"@collection":"Os"}}"#);
    wire.put("c/1", r#"{"N":1,"@metadata":{"@collection":"Cs"}}"#);
    let query = br#"{"Query":"from Os as o load o.C as c filter c.N = 1"}"#;
    let answer = wire.call_with("POST /databases/db/queries", &[], query);
    assert!(answer.text().starts_with("{\"TotalResults\":1,"), "{}", answer.text());
    let header = format!("If-None-Match: \"{}\"", answer.header("etag").unwrap());
    wire.put("c/1", r#"{"N":2,"@metadata":{"@collection":"Cs"}}"#);
    let changed = wire.call_with("POST /databases/db/queries", &[&header], query);
    assert!(changed.text().starts_with("{\"TotalResults\":0,"), "{} {}", changed.status, changed.text());
}

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for (id, members) in [
        (
            1,
            r#""T":"a","Lines":[{"Quantity":5,"P":"x"},{"Quantity":7,"P":"y"}],"Tags":["a","b"],"Matrix":[[1,2],[3,4]]"#,
        ),
        (2, r#""T":"b","Lines":[{"Quantity":3,"P":"z"}],"Tags":[],"Matrix":[]"#),
        (3, r#""T":"c","Lines":null,"Tags":"abc""#),
    ] {
        let document = format!(r#"{{"N":{id},{members},"@metadata":{{"@collection":"Orders"}}}}"#);
        wire.put(&format!("orders/{id}"), &document);
    }
    wire
}

/// Outside of `filter`, `[0]` is a property of that name: nothing, but in the names of columns and indexes.
#[test]
fn brackets_elsewhere_are_names_as_in_the_reference() {
    let wire = with_orders();
    let results = |query: &str| {
        let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body);
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{query}") };
        let index = answer.json().get("IndexName").and_then(json::Value::as_str).unwrap().to_owned();
        let shown = results.into_iter().map(|mut result| {
            result.remove("@metadata");
            String::from_utf8(result.to_vec()).unwrap()
        });
        format!("{index} {}", shown.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(
        results("from Orders select Lines[0].Quantity, Tags[1] as Tag limit 1"),
        r#"collection/Orders {"Lines.0.Quantity":[],"Tag":[]}"#
    );
    assert_eq!(
        results("from Orders as o select o.Lines[0].Quantity, o.Lines.P, o.T[0] limit 1"),
        r#"collection/Orders {"Lines.0.Quantity":[],"Lines.P":["x","y"]}"#
    );
    assert_eq!(results("from Orders where Lines[0].Quantity = 5"), "Auto/Orders/ByLines.0.Quantity ");
    assert_eq!(
        results("from Orders order by Lines[0].Quantity select N"),
        r#"Auto/Orders/ByLines.0.Quantity {"N":1} {"N":2} {"N":3}"#
    );
}

/// As JavaScript does, so as the reference.
#[test]
fn values_of_different_kinds_are_compared_as_javascript_does() {
    let wire = Wire::with_database();
    for (number, values) in [
        (1, r#""A":5,"O":{"B":1},"S":"x""#),
        (2, r#""A":null,"O":null,"S":null"#),
        (3, r#""X":0"#),
        (4, r#""A":"5","O":{},"S":"""#),
        (5, r#""A":-1,"O":{"B":null},"S":"y""#),
        (6, r#""A":7.5,"O":{"B":"1"},"S":"z""#),
    ] {
        wire.put(&format!("users/{number}"), &format!(r#"{{{values},"@metadata":{{"@collection":"Users"}}}}"#));
    }
    let check = |filter: &str, expected: &str| {
        let answer = ask(&wire, &format!("from Users filter {filter}"));
        assert_eq!(answer.split_once(" |").unwrap().0, expected, "{filter}");
    };
    check("A = 5", "1");
    check("A = 5.0", "1");
    check("A = '5'", "4");
    check("A != 5", "2 3 4 5 6");
    check("A in (5)", "1");
    check("A < 6", "1 2 4 5");
    check("A >= -1", "1 2 4 5 6");
    check("S >= ''", "1 2 4 5 6");
    check("O.B = null", "2 3 5");
    check("O.B < 2", "1 2 3 5 6");
    check("Z.Y = null", "1 2 3 4 5 6");
    check("Z.Y < 1", "1 2 3 4 5 6");
    check("Z = null", "");
    check("exists(O.B)", "1 5 6");
    check("O.B = A", "2");
    check("A = O.B", "2");
    check("A > O.B", "1 6");
    check("O.B < A", "1 6");
}
