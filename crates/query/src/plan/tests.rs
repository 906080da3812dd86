//! What queries come to, with and without an index.

use super::*;
use crate::definition::AutomaticIndex;

fn plan(text: &str, parameters: &str) -> Result<Plan, Refused> {
    let parameters = json::Value::parse(parameters.as_bytes()).unwrap();
    Plan::new(&rql::parse(text).unwrap(), Parameters::new(Some(&parameters)))
}

/// The parts of a collection query.
#[derive(Debug, PartialEq)]
struct Collected {
    source: Source,
    filter: Filter,
    order: Order,
    includes: Vec<String>,
    skip: u64,
    take: Option<u64>,
    is_limited: bool,
}

#[track_caller]
fn check(text: &str, change: impl FnOnce(&mut Collected)) {
    let mut expected = Collected {
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
    let Plan { find: Find::Collection(CollectionQuery { source, filter, order }), includes, page, .. } =
        plan(text, parameters).unwrap()
    else {
        panic!("it needs no index: {text}")
    };
    let Page { skip, take, written } = page;
    let is_limited = written.is_some_and(|written| (written.skip, written.take) == (skip, take));
    assert_eq!(Collected { source, filter, order, includes, skip, take, is_limited }, expected, "{text}");
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
    check("from Users limit 9223372036854775807", |query| query.take = Some(9_223_372_036_854_775_807));
    check("from Users as u include u.Friend, u.Lines[].Product, 'a b', 'U.Dict.$Keys', $path limit 1", |query| {
        query.includes = ["Friend", "Lines[].Product", "a b", "Dict.$Keys", "Friend"].map(str::to_owned).to_vec();
        query.take = Some(1);
    });
    check("from Users include u, u2.x", |query| query.includes = ["u", "u2.x"].map(str::to_owned).to_vec());
    check_refused(
        "from Users as u include u, u2.x",
        "Unknown alias u2, but there are aliases specified in the query (u)",
    );
}

/// The fields that the index needs, then the condition, then the order.
#[track_caller]
fn check_index(text: &str, fields: &[&str], condition: &str, order: &str) {
    let parameters = r#"{"p":"P","n":7,"list":["A",1,[null]],"yes":true,"none":null}"#;
    let Find::Index(query) = plan(text, parameters).unwrap().find else { panic!("it needs an index: {text}") };
    let needed = match &query.index {
        IndexChoice::Covering(index) => index.clone(),
        IndexChoice::Named(name, fields) => AutomaticIndex::new(Some(name.clone()), fields.clone()),
    };
    let field = |field: &crate::definition::Field| match field.needs.is_exact {
        true => format!("exact {}", field.name.path),
        false => field.name.path.clone(),
    };
    assert_eq!(needed.fields().iter().map(field).collect::<Vec<_>>(), fields, "{text}");
    assert_eq!(told(&query.condition), condition, "{text}");
    let key = |key: &SortKey| {
        let by = match &key.by {
            SortBy::Text(field) => format!("text {}", field.name.path),
            SortBy::Number(field) => format!("number {}", field.name.path),
            SortBy::AlphaNumeric(field) => format!("alphanumeric {}", field.name.path),
            other => format!("{other:?}"),
        };
        format!("{by}{}", if key.is_descending { " desc" } else { "" })
    };
    assert_eq!(query.order.iter().map(key).collect::<Vec<_>>().join(", "), order, "{text}");
}

/// A condition as a line.
fn told(condition: &Condition) -> String {
    let field = |field: &FieldUse| field.name.stored(field.analysis.kind());
    let all = |conditions: &[Condition]| conditions.iter().map(told).collect::<Vec<_>>().join(", ");
    let terms = |terms: &[TermValue]| {
        let term = |term: &TermValue| match term {
            TermValue::Null => "null".to_owned(),
            TermValue::Text(text) => format!("'{text}'"),
            TermValue::Number(number) => number.as_f64().to_string(),
        };
        terms.iter().map(term).collect::<Vec<_>>().join(" ")
    };
    match condition {
        Condition::AnyOf(name, values) => format!("{} any {}", field(name), terms(values)),
        Condition::AllOf(name, values) => format!("{} all {}", field(name), terms(values)),
        Condition::Numbers(name, low, high) => format!("{} {low:?} {high:?}", field(name)),
        Condition::Texts(name, low, high) => format!("{} {low:?} {high:?}", field(name)),
        Condition::Prefix(name, text) => format!("{} begins '{text}'", field(name)),
        Condition::Suffix(name, text) => format!("{} ends '{text}'", field(name)),
        Condition::Pattern(name, regex) => format!("{} fits '{regex}'", field(name)),
        Condition::Exists(name) => format!("{} exists", field(name)),
        Condition::And(conditions) => format!("and({})", all(conditions)),
        Condition::Or(conditions) => format!("or({})", all(conditions)),
        Condition::Not(condition) => format!("not({})", told(condition)),
        Condition::OfDocuments(condition) => format!("documents({})", told(condition)),
        Condition::Boosted(condition, boost) => format!("{} ^{boost}", told(condition)),
        Condition::Like(like) => format!("like {:?}", like.options),
        Condition::Words(name, TextQuery::Search { parts, is_all }) => {
            let parts: Vec<String> = parts.iter().map(|part| format!("{:?} '{}'", part.wildcard, part.text)).collect();
            format!("{} {} of {}", field(name), if *is_all { "all" } else { "any" }, parts.join(" "))
        }
        Condition::Words(name, query) => format!("{} {query:?}", field(name)),
        Condition::Spatial(name, query) => {
            format!("{} {:?} {:?} {:?}", field(name), query.operation, query.geometry.parts, query.units)
        }
        Condition::Vector(name, query) => {
            let asked = match &query.asked {
                VectorTarget::Given(json) => String::from_utf8_lossy(json).into_owned(),
                VectorTarget::Document(id) => format!("document {id}"),
            };
            let kind = if query.is_exact { "exact" } else { "nearest" };
            format!("{} {kind} {} of {asked} from {}", field(name), query.count_max, query.similarity_min)
        }
        Condition::All | Condition::Nothing | Condition::Ids(_) | Condition::IdPrefix(_) | Condition::IdRange(..) => {
            format!("{condition:?}")
        }
    }
}

#[test]
fn ends_of_a_range_beside_each_other_are_one_range() {
    let check = |text: &str, condition: &str| check_index(&format!("from U where {text}"), &["A", "B"], condition, "");
    check("A > 1 and A < 5 and B = 2", "and(A Excluded(Long(1)) Excluded(Long(5)), B any 2)");
    check("B = 2 and A <= 5 and A >= 1", "and(B any 2, A Included(Long(1)) Included(Long(5)))");
    check("A > 1 and B = 2 and A < 5", "and(A Excluded(Long(1)) Unbounded, B any 2, A Unbounded Excluded(Long(5)))");
    check(
        "A > 1 and A > 2 and B < 5",
        "and(A Excluded(Long(1)) Unbounded, A Excluded(Long(2)) Unbounded, B Unbounded Excluded(Long(5)))",
    );
    check("A > 1 and A < 'x' and B = 2", "and(A Excluded(Long(1)) Unbounded, A Unbounded Excluded(\"x\"), B any 2)");
    check(
        "A > 1 and (A < 5 and B = 2)",
        "and(A Excluded(Long(1)) Unbounded, and(A Unbounded Excluded(Long(5)), B any 2))",
    );
    check(
        "B > '2020-01-01' and B < 'x' and A = 2",
        r#"and(B Excluded("2020-01-01") Unbounded, B Unbounded Excluded("x"), A any 2)"#,
    );
    check(
        "B > '2020-01-01' and B < '2021-01-01T00:00:00' and A = 2",
        r#"and(B Excluded("2020-01-01") Excluded("2021-01-01T00:00:00"), A any 2)"#,
    );
    check_index("from U where A > 'a' and A < 'c'", &["A"], "A Excluded(\"a\") Excluded(\"c\")", "");
}

#[test]
fn conditions_name_the_fields_that_an_index_needs() {
    check_index("from Users where Name = 'ANN'", &["Name"], "Name any 'ANN'", "");
    check_index(
        "from Users as u where u.A.B[].C = $n and u.D != null",
        &["A.B[].C", "D"],
        "and(A.B[].C any 7, not(D any null))",
        "",
    );
    check_index(
        "from U where exact(Name = 'Ann' or Age = 1.50)",
        &["exact Age", "exact Name"],
        "or(exact(Name) any 'Ann', exact(Age) any 1.5)",
        "",
    );
    check_index("from U where A in ($list, 'b')", &["A"], "A any 'A' 1 null 'b'", "");
    check_index("from U where A all in ('x', true)", &["A"], "A all 'x' 'true'", "");
    check_index("from U where A in ()", &["A"], "Nothing", "");
    check_index("from U where A > 3", &["A"], "A Excluded(Long(3)) Unbounded", "");
    check_index("from U where A between 1.5 and $n", &["A"], "A Included(Double(1.5)) Included(Long(7))", "");
    check_index("from U where A <= 'B'", &["A"], "A Unbounded Included(\"B\")", "");
    check_index(
        "from U where startsWith(A, $p) and not endsWith(A, 'Q')",
        &["A"],
        "and(A begins 'P', not(A ends 'Q'))",
        "",
    );
    check_index("from U where regex(A, '^x')", &["A"], "A fits '^x'", "");
    check_index("from U where exists(A) and true", &["A"], "and(A exists, All)", "");
    check_index("from U where id() > 'a'", &[], "IdRange(Excluded(\"a\"), Unbounded)", "");
    check_index("from U where id() between 'a' and 'b'", &[], "IdRange(Included(\"a\"), Included(\"b\"))", "");
    check_index("from U where id() >= 'a' and id() < 'b'", &[], "IdRange(Included(\"a\"), Excluded(\"b\"))", "");
    check_index("from U where when($yes, A = 1) or B = 2", &["A", "B"], "or(A any 1, B any 2)", "");
    check_index("from U where when(false, A = 1) or B = 2", &["B"], "B any 2", "");
    check_index("from U where when(null, A = 1) and B = 2", &["B"], "B any 2", "");
    check_index("from U where B = 2 and not when(false, A = 1)", &["B"], "B any 2", "");
    check_index("from U where (when(false, A = 1) or when(false, C = 1)) and B = 2", &["B"], "B any 2", "");
    check_index("from U where id() != 'a'", &[], "not(Ids([\"a\"]))", "");
    check_index("from U where startsWith(id(), 'u/') or A = $yes", &["A"], "or(IdPrefix(\"u/\"), A any 'true')", "");
    check_index(
        "from U where '@metadata'.'@collection' = 'x'",
        &["@metadata.@collection"],
        "@metadata.@collection any 'x'",
        "",
    );
    check_index("from index 'Auto/U/ByA' where A = 1", &["A"], "A any 1", "");
    check_index("from index 'X'", &[], "All", "");
}

#[test]
fn words_are_searched_for() {
    check_index("from U where search(A, 'x y*')", &["A"], "search(A) any of None 'x' Behind 'y'", "");
    check_index("from U where search(A, $p, AND)", &["A"], "search(A) all of None 'P'", "");
    check_index("from U where search(A, 'x', or) or B = 1", &["B", "A"], "or(search(A) any of None 'x', B any 1)", "");
    check_index("from U where boost(A = 'x', 1.5)", &["A"], "A any 'x' ^1.5", "Score");
    check_index("from U where boost(A = 'x', $n) order by A", &["A"], "A any 'x' ^7", "text A");
    check_index("from U where fuzzy(A = 'x', 0.5)", &["A"], "A Fuzzy { text: \"x\", similarity: 0.5 }", "");
    let Find::Index(query) = plan("from U where search(A, 'x') and exact(A = 'y')", "{}").unwrap().find else {
        panic!("it needs an index")
    };
    let IndexChoice::Covering(index) = query.index else { panic!("it names none") };
    assert_eq!(index.name(), "Auto/U/BySearch(A)AndExact(A)");
}

#[test]
fn places_are_asked_for_and_sorted_by() {
    check_index(
        "from Users as u where spatial.within(spatial.point(u.Lat, u.Home.Lng), spatial.circle($n, 52.5, 13, 'miles'), 0.1)",
        &["spatial.point(Lat, Home.Lng)"],
        "spatial.point(Lat, Home.Lng) Within [Circle { center: Position { x: 13.0, y: 52.5 }, radius: 7.0 }] Some(Miles)",
        "",
    );
    check_index(
        "from index 'X' where spatial.disjoint(Loc, spatial.wkt('POINT(1 2)')) order by spatial.distance(Loc, spatial.point(2, 1), 5) desc",
        &["Loc"],
        "Loc Disjoint [Point(Position { x: 1.0, y: 2.0 })] None",
        "Distance(DistanceKey { field: FieldUse { name: FieldName { path: \"Loc\", is_quoted: false }, analysis: LowerCase }, \
         geometry: Geometry { parts: [Point(Position { x: 1.0, y: 2.0 })] }, round: Some(5.0) }) desc",
    );
}

/// In the words of the reference, as far as those say what is wrong.
#[test]
fn places_that_mean_nothing_are_refused() {
    for (text, message) in [
        (
            "from X where spatial.within(spatial.point(A, B))",
            "Method spatial.within() expects 2-3 arguments to be provided",
        ),
        (
            "from X where spatial.within(A, spatial.circle(1, 2, 3))",
            "expects spatial.point() or spatial.wkt() as first argument",
        ),
        ("from X where spatial.within(spatial.point(A), spatial.circle(1, 2, 3))", "point() method with 2 arguments"),
        (
            "from index 'X' where spatial.within(spatial.point(A, B), spatial.circle(1, 2, 3))",
            "when static index is queried",
        ),
        (
            "from index 'X' where spatial.within(L, spatial.circle(1, 2))",
            "Method 'circle()' expects three or four arguments",
        ),
        ("from index 'X' where spatial.within(L, spatial.circle('1', 2, 3))", "expects a number"),
        (
            "from index 'X' where spatial.within(L, spatial.circle(1, 2, 3, 'Feet'))",
            "either 'Kilometers' or 'Miles' but was 'Feet'",
        ),
        ("from index 'X' where spatial.within(L, spatial.wkt('POINT(1'))", "Value 'POINT(1' is not a valid WKT value."),
        (
            "from index 'X' where spatial.within(L, spatial.circle(1, 2, 3), 5)",
            "distErrPct 5 must be between [0 to 0.5]",
        ),
        ("from index 'X' where spatial.within(L, 'POINT(1 1)')", "expects a shape as second argument"),
        ("from index 'X' where spatial.within(L, spatial.point(1, 1))", "needs a circle or well-known text"),
        ("from index 'X' where spatial.within(L, spatial.foo(1))", "Method 'spatial.foo' is not supported."),
        (
            "from X group by A where spatial.within(spatial.point(A, B), spatial.circle(1, 2, 3)) select key()",
            "of groups",
        ),
        ("from index 'X' order by spatial.distance(L, spatial.point(1, 2), 'x')", "not in a correct format"),
    ] {
        match plan(text, "{}") {
            Err(Refused::Invalid(found)) => assert!(found.contains(message), "{text}: {found}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn orders_name_the_fields_that_an_index_needs() {
    check_index("from U order by A", &["A"], "All", "text A");
    check_index("from U order by A as long desc, B as double, id()", &["A", "B"], "All", "number A desc, number B, Id");
    check_index("from U order by A as alphaNumeric", &["A"], "All", "alphanumeric A");
    check_index(
        "from U where B = 1 order by score() desc, random('x')",
        &["B"],
        "B any 1",
        "Score desc, Random(Some(\"x\"))",
    );
}

#[test]
fn names_of_columns_mean_what_the_columns_hold() {
    let index = |text, fields: &[&str], condition, order| check_index(text, fields, condition, order);
    index("from U where T = 1 select A as T", &["A"], "A any 1", "");
    index("from U where A = 1 order by T select A as T, T as A", &["A", "T"], "T any 1", "text A");
    index("from U where exact(startsWith(T, 'x')) select A as T", &["exact A"], "exact(A) begins 'x'", "");
    index("from U as u where T = 1 order by u.T select u.A as T", &["A", "T"], "A any 1", "text T");
    check("from Users order by X desc select id() as X", |query| query.order = Order::IdDescending);
    // Without a name of its own a column has none that hides a field, and a value has no field.
    index("from U where T = 1 and X = 2 select O.T, 3 as X", &["T", "X"], "and(T any 1, X any 2)", "");
    check_refused(
        "from U where O.T = 1 select A as O",
        "Field alias O cannot be used in a compound field, but got: O.T",
    );
}

/// The columns as a line: the name, and what it holds.
#[track_caller]
fn check_projection(text: &str, columns: &str) {
    let projection = plan(text, r#"{"p":[1]}"#).unwrap().projection;
    let steps = |steps: &[PathStep]| {
        let step = |step: &PathStep| match step {
            PathStep::Name(name) => name.clone(),
            PathStep::Elements => "[]".to_owned(),
            PathStep::Element(number) => format!("[{number}]"),
        };
        steps.iter().map(step).collect::<Vec<_>>().join("/")
    };
    let column = |column: &ProjectedColumn| {
        let value = match &column.value {
            Projected::Path { steps: path, .. } => steps(path),
            Projected::Metadata(path) => format!("metadata {}", steps(path)),
            Projected::Key(fields) => format!("key({})", fields.join(", ")),
            Projected::Id => "its id".to_owned(),
            Projected::Literal(json) => String::from_utf8(json.clone()).unwrap(),
        };
        format!("{}={value}", column.name)
    };
    let told = projection.map(|projection| {
        let distinct = if projection.is_distinct { "distinct " } else { "" };
        distinct.to_owned() + &projection.columns.iter().map(column).collect::<Vec<_>>().join(" ")
    });
    assert_eq!(told.unwrap_or_default(), columns, "{text}");
}

#[test]
fn columns_have_the_names_that_the_reference_gives_them() {
    check_projection("from U", "");
    check_projection("from U select *", "");
    check_projection("from U as u select u", "");
    check_projection("from U select Name, A.City, L[].P as p", "Name=Name A.City=A/City p=L/[]/P");
    check_projection("from U as u select u.Name, u.A.City, u.L[].P as p", "Name=Name A.City=A/City p=L/[]/P");
    check_projection("from U as u select u.L[0].P, u.L[].P", "L.0.P=L/0/P L[].P=L/[]/P");
    check_projection("from U select distinct Name", "distinct Name=Name");
    check_projection("from U as u select id(), id(u) as i", "id()=its id i=its id");
    check_projection("from U select 1.50 as one, 'x', null as n, $p as v", "one=1.50 x=\"x\" n=null v=[1]");
    check_projection("from U select '@metadata'.'@nested-object-types' as N", "N=metadata @nested-object-types");
}

#[track_caller]
fn check_script(text: &str, expected: &str) {
    let script = plan(text, r#"{"p":1}"#).unwrap().script.expect(text);
    let loads: Vec<String> = script.loads.iter().map(|load| format!("{}{:?}", load.alias, load.ids)).collect();
    assert_eq!(format!("{}{:?} {}", script.declarations, script.form, loads.join(" ")), expected, "{text}");
}

#[test]
fn what_is_run_is_told_from_what_is_read() {
    check_script("from U as u select { A: u.A }", "Object(\"{ A: u.A }\") ");
    check_script("from U update { this.x = 1 }", "Update(\" this.x = 1 \") ");
    check_script(
        "from U as u load u.F as f, $p as g[] update { u.f = f }",
        "Update(\" u.f = f \") fPath(\"F\") gGiven([\"1\"])",
    );
    check_script(
        "declare function f(a, b) { return a } from U as u select f(u, $p)",
        "function f(a,b) { return a }\nCall(\"f(u,$p)\") ",
    );
    check_script(
        "declare function f(a) { return a } from U as u select f(u.A) as x, u.B, id()",
        "function f(a) { return a }\nColumns { text: \"{\\\"x\\\":f(u?.[\\\"A\\\"]),\\\"B\\\":u?.[\\\"B\\\"],\\\"id\\\":id(u),}\", fields: [(\"B\", \"B\")] } ",
    );
    check_script(
        "from U as u load 'a/1' as a, u.F as f, f.G as g, g.H.I as h select { N: h.N }",
        "Object(\"{ N: h.N }\") aGiven([\"a/1\"]) fPath(\"F\") gLoaded { alias: \"f\", path: \"G\" } hLoaded { alias: \"g\", path: \"H.I\" }",
    );
    assert!(plan("from U as u load u.F as f select u.A", "{}").unwrap().script.is_none());
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    for (text, feature) in [
        ("from Users (Revisions = true)", "revisions"),
        ("declare timeseries f(x) { from x.T } from Users as u select f(u)", "'declare timeseries'"),
        ("from Users where search(id(), 'x')", "search() of id()"),
        ("from Users where A = cmpxchg('x')", "cmpxchg() as a value"),
        ("from Users where D.$Keys = 'x'", "'.$Keys' in the name"),
    ] {
        let refused = plan(text, "{}").unwrap_err();
        let is_unsupported = matches!(refused, Refused::NotSupported(_) | Refused::MissingFeature(_));
        assert!(is_unsupported && refused.to_string().contains(feature), "{text}: {refused:?}");
    }
}

#[test]
fn a_filter_loads_what_its_conditions_name() {
    let loads = |filter: &str| {
        let text = format!("declare function f(c) {{ return c }} from Users as u load u.A as a, a.B as b {filter}");
        let clause = plan(&text, "{}").unwrap().filter.unwrap();
        let names = |loads: &[Load]| loads.iter().map(|load| load.alias.clone()).collect::<Vec<_>>().join(" ");
        (names(&clause.loads), clause.calls.iter().map(|call| names(&call.loads)).collect::<Vec<_>>().join("|"))
    };
    let check = |filter: &str, own: &str, calls: &str| {
        assert_eq!(loads(filter), (own.to_owned(), calls.to_owned()), "{filter}");
    };
    check("filter u.Name = 'x'", "", "");
    check("filter a.Name = 'x'", "a b", "");
    check("filter u.Name = b.Name", "a b", "");
    check("filter id(b) = 'x'", "a b", "");
    check("filter 'a.Name' = 'x'", "", "");
    check("filter f(u)", "", "");
    check("filter f(a) or f(u)", "", "a b|");
    check("filter f(f(b)) and a.N = 1", "a b", "a b");
    check("filter exists(a)", "a b", "");
}

#[test]
fn a_sorter_of_the_user_does_not_exist() {
    let refused = plan("from Users order by custom(Name, 'Mine') desc", "{}").unwrap_err();
    assert_eq!(refused, Refused::NoSuchSorter("Mine".to_owned()));
}

#[test]
fn what_means_nothing_is_refused() {
    for text in [
        "from Users order by custom(Name)",
        "from Users filter A = 1 select facet(A)",
        "from Users where id() = $p9",
        "from Users where startsWith(id(), $many)",
        "from Users limit $many",
        "from Users limit $p9",
        "from Users include $o",
        "from Users where A = $many",
        "from Users where startsWith(A, $o)",
        "from Users where search(A, $o)",
        "from Users limit $o",
        "from Users where A between 1 and 'x'",
        "from Users where A > null",
        "from Users where nonsense(A, 'x')",
        "from Users where startsWith(A, 5)",
        "from Users where regex(A, '(')",
        "from Users where exists(A, B)",
        "from Users where search(A)",
        "from Users where search(A, 5)",
        "from Users where search(A, 'x', xor)",
        "from Users where boost(A = 1)",
        "from Users where boost(A = 1, 'x')",
        "from Users where fuzzy(A = 'x')",
        "from Users where fuzzy(A > 'x', 0.5)",
        "from Users where fuzzy(A = 'x', 1)",
        "from Users where fuzzy(A = 5, 0.5)",
        "from Users where proximity(A = 'x', 1)",
        "from Users where proximity(search(A, 'x y*'), 1)",
        "from Users where proximity(search(A, 'x y'), 1.5)",
        "from Users where proximity(search(A, 'x y'), -1)",
        "from Users select A, B as A",
        "from Users select sum(A)",
        "from Users select nonsense(A)",
        "from Users select $many as m, $p9",
    ] {
        check_refused(text, "Invalid");
    }
    check_refused(&format!("from Users where search(A, '{}')", "x ".repeat(1025)), "SEARCH_CLAUSES_MAX");
    check_refused(&format!("from Users where startsWith(A, '{}')", "x".repeat(600)), "BOUND_SIZE_MAX");
    let no_parameters = Plan::new(&rql::parse("from Users where id() = $a").unwrap(), Parameters::default());
    assert!(no_parameters.unwrap_err().to_string().starts_with("The query is parametrized"));
}

#[test]
fn vectors_are_looked_for_in_fields_of_their_own() {
    let by_score = "Score";
    let check = |query: &str, fields: &[&str], condition: &str| check_index(query, fields, condition, by_score);
    check(
        "from Users as u where vector.search(u.A.V, $list)",
        &["vector.search(A.V)"],
        "vector.search(A.V) nearest 16 of [\"A\",1,[null]] from 0",
    );
    check(
        "from Users where exact(vector.search(embedding.F32_i8(V), 'AAA=', 0.75, 20)) and A = 1",
        &["A", "vector.search(embedding.f32_i8(V))"],
        "and(vector.search(embedding.f32_i8(V)) exact 20 of \"AAA=\" from 0.75, A any 1)",
    );
    check(
        "from Users where vector.search(embedding.f32('V'), embedding.forDoc($p), null, $n)",
        &["vector.search(V)"],
        "vector.search(V) nearest 7 of document P from 0",
    );
    check("from index 'X' where vector.search(V, $n)", &["V"], "V nearest 16 of 7 from 0");
    for (query, message) in [
        ("from X where vector.search(V)", "expects 2-4 arguments"),
        ("from X where vector.search(V, $a, 'x')", "minimumMatch must be a float"),
        ("from X where vector.search(V, $a, 1, 1.5)", "numberOfCandidates must be a whole number"),
        ("from X where vector.search(embedding.f32_f32(V), $a)", "'embedding.f32_f32' is not supported"),
        ("from index 'X' where vector.search(embedding.i8(V), $a)", "first argument will be a field name"),
        ("from X group by A where vector.search(V, $a) select A", "vector.search() of groups"),
    ] {
        check_refused(query, message);
    }
}
