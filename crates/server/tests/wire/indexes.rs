//! `/databases/{name}/indexes`: those that queries make, how they are told, deleted and built anew.

use testing::wait::{until, until_equal};

use super::support::{Answer, Wire};

fn with_index() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","Age":33,"@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Name":null,"Age":7,"@metadata":{"@collection":"Users"}}"#);
    ask(&wire, "from Users where Name = 'Ann'");
    wire
}

#[track_caller]
fn ask(wire: &Wire, text: &str) -> json::Value {
    let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn results(answer: &Answer) -> Vec<json::Value> {
    match answer.json().get("Results") {
        Some(json::Value::Array(results)) => results.clone(),
        _ => panic!("{}", answer.text()),
    }
}

fn names(wire: &Wire) -> Vec<String> {
    let names = results(&wire.call("GET /databases/db/indexes?namesOnly=true", ""));
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_database_without_indexes_says_so() {
    let wire = Wire::with_database();
    for line in ["GET /databases/db/indexes", "GET /databases/db/indexes/stats", "GET /databases/db/indexes/errors"] {
        let answer = wire.call(line, "");
        assert!(answer.text().ends_with(r#""Results":[]}"#), "{}", answer.text());
    }
    wire.check("GET /databases/db/indexes?name=x", "", 404, "");
    wire.check("GET /databases/db/indexes/stats?name=x", "", 404, "");
    wire.check("GET /databases/db/indexes/status", "", 200, r#"{"Status":"Running","Indexes":[]}"#);
    let exception = "Indexes.IndexDoesNotExistException";
    for line in [
        "GET /databases/db/indexes/errors?name=x",
        "GET /databases/db/indexes/staleness?name=x",
        "GET /databases/db/indexes/performance?name=x",
        "GET /databases/db/indexes/terms?name=x&field=y",
        "RESET /databases/db/indexes?name=x",
    ] {
        wire.check_error(line, "", 400, exception, "There is no index with 'x' name.");
    }
    wire.check("DELETE /databases/db/indexes?name=x", "", 404, "");
    let message = "The body must have an array 'Indexes'";
    wire.check_error("PUT /databases/db/admin/indexes", "{}", 400, "ArgumentException", message);
}

#[test]
fn the_index_of_a_query_is_told_in_the_form_that_clients_know() {
    let wire = with_index();
    let [definition] = results(&wire.call("GET /databases/db/indexes?name=auto/users/byname", "")).try_into().unwrap();
    let text = String::from_utf8(definition.to_vec()).unwrap();
    let start = r#"{"Name":"Auto/Users/ByName","SourceType":"Documents","Type":"AutoMap","LockMode":"Unlock","#;
    assert!(text.starts_with(start) && text.contains(r#""Maps":["Users:[<Name:Name>]"],"Fields":{"Name":{"#), "{text}");
    let [statistics] = results(&wire.call("GET /databases/db/indexes/stats", "")).try_into().unwrap();
    let text = String::from_utf8(statistics.to_vec()).unwrap();
    assert!(text.contains(r#""MapAttempts":2,"MapSuccesses":2,"MapErrors":0"#), "{text}");
    assert!(text.contains(r#""MappedPerSecondRate":0.0333"#), "two in the last minute: {text}");
    assert!(text.contains(r#""Users":{"LastProcessedDocumentEtag":2,"LastProcessedTombstoneEtag":0"#), "{text}");
    assert!(text.contains(r#""IsStale":false"#) && text.contains(r#""EntriesCount":2"#), "{text}");
    wire.check(
        "GET /databases/db/indexes/staleness?name=Auto/Users/ByName",
        "",
        200,
        r#"{"IsStale":false,"StalenessReasons":[]}"#,
    );
    let terms = wire.call("GET /databases/db/indexes/terms?name=Auto/Users/ByName&field=Name&fromValue=&pageSize=", "");
    assert!(terms.text().ends_with(r#""Terms":["NULL_VALUE","ann"]}"#), "{}", terms.text());
    let terms = wire.call("GET /databases/db/indexes/terms?name=Auto/Users/ByName&field=Name&fromValue=ann", "");
    assert!(terms.text().ends_with(r#""Terms":[]}"#), "{}", terms.text());
    let terms = wire.call("GET /databases/db/indexes/terms?name=Auto/Users/ByName&field=Name&withCounts=true", "");
    assert!(terms.text().ends_with(r#""Terms":["NULL_VALUE","ann"],"Counts":[1,1]}"#), "{}", terms.text());
    let status = r#"{"Status":"Running","Indexes":[{"Name":"Auto/Users/ByName","Status":"Running"}]}"#;
    wire.check("GET /databases/db/indexes/status", "", 200, status);
    let database = wire.call("GET /databases/db/stats", "").text();
    assert!(
        database.contains(r#""CountOfIndexes":1"#) && database.contains(r#""Name":"Auto/Users/ByName""#),
        "{database}"
    );
}

/// Waits for the end of replacements: a query is answered by the wide index before the narrow one goes.
#[track_caller]
fn await_names(wire: &Wire, are_expected: impl Fn(&[String]) -> bool) {
    until(|| {
        let names = names(wire);
        if are_expected(&names) { Ok(()) } else { Err(format!("these stay: {names:?}")) }
    });
}

#[test]
fn an_index_is_used_widened_and_replaced() {
    let wire = with_index();
    ask(&wire, "from users where Name = 'x' order by Name desc");
    assert_eq!(names(&wire), ["Auto/Users/ByName"], "it covers that");
    let wider = ask(&wire, "from Users where Age > 1");
    assert_eq!(wider.get("IndexName").and_then(json::Value::as_str), Some("Auto/Users/ByAgeAndName"));
    assert_eq!(ask(&wire, "from Users where Name = null").get("TotalResults").and_then(json::Value::as_i64), Some(1));
    await_names(&wire, |names| names == ["Auto/Users/ByAgeAndName"]);
    ask(&wire, "from @all_docs where Age > 1");
    wire.put("pets/1", r#"{"Age":2,"@metadata":{"@collection":"Pets"}}"#);
    ask(&wire, "from Pets where Age > 1");
    assert_eq!(names(&wire), ["Auto/AllDocs/ByAge", "Auto/Pets/ByAge", "Auto/Users/ByAgeAndName"]);
}

#[test]
fn which_index_would_answer_is_told_and_none_is_made() {
    let wire = with_index();
    let explain =
        |text: &str| wire.call("POST /databases/db/queries?debug=explain", &format!(r#"{{"Query":"{text}"}}"#)).text();
    let of_collection = r#"{"IndexName":"collection/Users","Results":[{"Index":"Auto/Users/ByName","Reason":"Not asked: what the query wants are documents as they stand, by their ids"}]}"#;
    assert_eq!(explain("from users"), of_collection.replace("collection/Users", "collection/users"));
    assert_eq!(explain("from Users"), of_collection);
    assert_eq!(explain("from Pets"), r#"{"IndexName":"collection/Pets","Results":[]}"#);
    assert_eq!(explain("from Users where Name = 1"), r#"{"IndexName":"Auto/Users/ByName","Results":[]}"#);
    let missing = r#"{"IndexName":"Auto/Users/ByAgeAndName","Results":[{"Index":"Auto/Users/ByName","Reason":"The following field is missing: Age"}]}"#;
    assert_eq!(explain("from Users where Age = 1"), missing);
    assert_eq!(names(&wire), ["Auto/Users/ByName"]);
}

/// While the wider index is built, the narrow one is there still.
#[test]
fn an_index_that_is_being_replaced_is_no_other_one() {
    let wire = with_index();
    assert_eq!(wire.call("POST /databases/db/admin/indexes/stop", "").status, 204);
    let widening = wire.call("POST /databases/db/queries", r#"{"Query":"from Users where Age = 1"}"#);
    assert_eq!(widening.status, 200, "{}", widening.text());
    assert_eq!(names(&wire), ["Auto/Users/ByAgeAndName", "Auto/Users/ByName"]);
    let explain = |query: &str| wire.call("POST /databases/db/queries?debug=explain", query).text();
    let wide = r#"{"IndexName":"Auto/Users/ByAgeAndName","Results":[]}"#;
    assert_eq!(explain(r#"{"Query":"from Users where Age = 1"}"#), wide);
    let of_users = explain(r#"{"Query":"from Users"}"#);
    assert!(of_users.contains("Auto/Users/ByAgeAndName") && !of_users.contains("Auto/Users/ByName"), "{of_users}");
    let of_pets = explain(r#"{"Query":"from Pets where Age = 1"}"#);
    assert!(of_pets.contains("Auto/Users/ByAgeAndName") && !of_pets.contains("Auto/Users/ByName"), "{of_pets}");
    assert_eq!(wire.call("POST /databases/db/admin/indexes/start", "").status, 204);
}

/// The fields that others asked for keep no query from its own: it gets a further index where one would have too many.
#[test]
fn a_query_beside_an_index_of_very_many_fields_is_answered() {
    let wire = with_index();
    let many = |from: usize| {
        let fields: Vec<String> = (from..from + 700).map(|field| format!("F{field} = 1")).collect();
        ask(&wire, &format!("from Users where {}", fields.join(" or ")));
    };
    many(0);
    // The one by name is widened up to the bound, and goes once the wide one has all that it has.
    await_names(&wire, |names| names.len() == 1);
    many(700);
    await_names(&wire, |names| names.len() == 2);
    assert_eq!(found(&wire, "from Users where Age = 33"), ["users/1"]);
    assert_eq!(found(&wire, "from Users where Name = 'Ann' and F3 = null"), [""; 0]);
    let counts = names(&wire).iter().map(|name| name.matches("And").count() + 1).max();
    assert!(counts < Some(1024), "{counts:?}");
}

#[test]
fn an_index_is_deleted_and_built_anew() {
    let wire = with_index();
    wire.check("RESET /databases/db/indexes?name=Auto/Users/ByName", "", 204, "");
    let found = ask(&wire, "from index 'Auto/Users/ByName' where Name = 'ann'");
    assert_eq!(found.get("TotalResults").and_then(json::Value::as_i64), Some(1));
    wire.check("DELETE /databases/db/indexes?name=Auto/Users/ByName", "", 204, "");
    assert!(names(&wire).is_empty());
    wire.check("DELETE /databases/db/indexes?name=Auto/Users/ByName", "", 404, "");
    let version = env!("CARGO_PKG_VERSION");
    let message = format!("Rookery {version} does not support the mode 'SideBySide' of resetting an index yet");
    let mode = "RESET /databases/db/indexes?name=Auto/Users/ByName&mode=SideBySide";
    wire.check_error(mode, "", 501, "RavenException", &message);
}

const BY_AGE: &str = "from u in docs.Users select new { u.Age, Name = u.Name ?? \\\"nobody\\\", Twice = u.Age * 2 }";

/// Puts one definition.
fn put(wire: &Wire, name: &str, map: &str, more: &str) -> Answer {
    let definition = format!(
        r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"LockMode":null,"Priority":null,"Type":"None"{more}}}]}}"#
    );
    wire.call("PUT /databases/db/admin/indexes", &definition)
}

fn found(wire: &Wire, text: &str) -> Vec<String> {
    let Some(json::Value::Array(results)) = ask(wire, text).get("Results").cloned() else { panic!("{text}") };
    let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    results.iter().map(|result| id(result).unwrap()).collect()
}

#[test]
fn a_defined_index_answers_by_what_its_map_makes() {
    let wire = with_index();
    let answer = put(&wire, "Users/ByAge", BY_AGE, "");
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert!(
        answer.text().starts_with(r#"{"Results":[{"Index":"Users/ByAge","RaftCommandIndex":"#),
        "{}",
        answer.text()
    );
    assert_eq!(found(&wire, "from index 'Users/ByAge' where Twice = 66"), ["users/1"]);
    assert_eq!(found(&wire, "from index 'users/byage' where Name = 'NOBODY'"), ["users/2"]);
    assert_eq!(found(&wire, "from index 'Users/ByAge' order by Age as long"), ["users/2", "users/1"]);
    let message = "The field 'Foo' is not indexed in 'Users/ByAge', cannot query/sort on fields that are not indexed";
    let body = r#"{"Query":"from index 'Users/ByAge' where Foo = 1"}"#;
    wire.check_error("POST /databases/db/queries", body, 400, "System.ArgumentException", message);
    wire.put("users/2", r#"{"Age":50,"@metadata":{"@collection":"Users"}}"#);
    assert_eq!(
        found(&wire, "from index 'Users/ByAge' where Twice > 60 order by Age as long desc"),
        ["users/2", "users/1"]
    );
    wire.call("DELETE /databases/db/docs?id=users/1", "");
    assert_eq!(found(&wire, "from index 'Users/ByAge'"), ["users/2"]);
    let text = wire.call("GET /databases/db/indexes?name=Users/ByAge", "").text();
    assert!(text.contains(r#""Name":"Users/ByAge","SourceType":"Documents","Type":"Map","#), "{text}");
    assert!(text.contains(&format!(r#""Maps":["{BY_AGE}"]"#)), "{text}");
    wire.check("DELETE /databases/db/indexes?name=Users/ByAge", "", 204, "");
}

#[test]
fn the_batches_of_an_index_are_told() {
    let wire = with_index();
    put(&wire, "Two", "from u in docs.Users from n in new[] { 1, 100 / u.Age } select new { n }", "");
    wire.put("users/3", r#"{"Age":0,"@metadata":{"@collection":"Users"}}"#);
    ask(&wire, "from index 'Two'");
    wire.call("DELETE /databases/db/docs?id=users/1", "");
    ask(&wire, "from index 'Two'");
    let [two] = results(&wire.call("GET /databases/db/indexes/performance?name=two", "")).try_into().unwrap();
    assert_eq!(two.get("Name").and_then(json::Value::as_str), Some("Two"));
    let Some(json::Value::Array(batches)) = two.get("Performance") else { panic!("no batches") };
    let sum = |name| batches.iter().map(|batch| batch.get(name).and_then(json::Value::as_i64).unwrap()).sum::<i64>();
    let counts = ["InputCount", "FailedCount", "SuccessCount", "OutputCount", "TombstoneDeleteSuccesses"].map(sum);
    // Two entries of each document but the one that divides by zero.
    assert_eq!(counts, [3, 1, 2, 4, 1]);
    for (at, batch) in batches.iter().enumerate() {
        assert_eq!(batch.get("Id").and_then(json::Value::as_i64), Some(at as i64 + 1));
        let date = |name| batch.get(name).and_then(json::Value::as_str).unwrap();
        assert!(date("Started") <= date("Completed"));
    }
    assert_eq!(results(&wire.call("GET /databases/db/indexes/performance", "")).len(), 2);
}

#[test]
fn statistics_name_an_engine_and_dates_that_clients_know() {
    let wire = Wire::with_database();
    put(&wire, "Own", BY_AGE, r#","Configuration":{"Indexing.Static.SearchEngineType":"Lucene"}"#);
    put(&wire, "Default", BY_AGE, "");
    wire.put("users/1", r#"{"Name":"x","@metadata":{"@collection":"Users"}}"#);
    ask(&wire, "from Users where Name = 'x'");
    let statistics = results(&wire.call("GET /databases/db/indexes/stats", ""));
    let text = |index: &json::Value, name: &str| index.get(name).and_then(json::Value::as_str).unwrap().to_owned();
    let mut told: Vec<[String; 2]> =
        statistics.iter().map(|index| ["Name", "SearchEngineType"].map(|name| text(index, name))).collect();
    told.sort();
    assert_eq!(told, [["Auto/Users/ByName", "Corax"], ["Default", "Corax"], ["Own", "Lucene"]]);
    for index in &statistics {
        assert!(["LastIndexingTime", "LastQueryingTime"].iter().all(|name| text(index, name).as_str() > "2020"));
    }
}

#[test]
fn several_maps_fan_out_and_name_fields_as_they_run() {
    let wire = with_index();
    wire.put("pets/1", r#"{"Nick":"rex","Toys":[{"T":"Ball"},{"T":"Bone"}],"@metadata":{"@collection":"Pets"}}"#);
    let maps = r#"from u in docs.Users select new { Name = u.Name }","from p in docs.Pets from t in p.Toys select new { Name = t.T }"#;
    assert_eq!(put(&wire, "Names", maps, "").status, 201);
    assert_eq!(found(&wire, "from index 'Names' where Name = 'bone' or Name = 'ann'"), ["users/1", "pets/1"]);
    let dynamic = r#"from p in docs.Pets select new { _ = p.Toys.Select(t => CreateField(t.T, true)) }"#;
    assert_eq!(put(&wire, "Toys", dynamic, "").status, 201);
    assert_eq!(found(&wire, "from index 'Toys' where Ball = true"), ["pets/1"]);
    assert!(found(&wire, "from index 'Toys' where Sock = true").is_empty());
    let exact = r#","Fields":{"Nick":{"Indexing":"Exact"}}"#;
    assert_eq!(put(&wire, "Exact", "from p in docs.Pets select new { Nick = p.Nick.ToUpper() }", exact).status, 201);
    assert_eq!(found(&wire, "from index 'Exact' where Nick = 'REX'"), ["pets/1"]);
    assert!(found(&wire, "from index 'Exact' where Nick = 'rex'").is_empty());
}

#[test]
fn a_changed_definition_is_built_beside_the_old_one_and_replaces_it() {
    let wire = with_index();
    let other = "from u in docs.Users select new { Age = u.Age + 100 }";
    put(&wire, "X", BY_AGE, "");
    assert_eq!(found(&wire, "from index 'X' where Age = 33"), ["users/1"]);
    let changed = |map: &str| {
        wire.call("POST /databases/db/indexes/has-changed", &format!(r#"{{"Name":"X","Maps":["{map}"]}}"#)).text()
    };
    assert_eq!(
        (changed(BY_AGE), changed(other)),
        (r#"{"Changed":false}"#.to_owned(), r#"{"Changed":true}"#.to_owned())
    );
    assert_eq!(put(&wire, "X", BY_AGE, "").status, 201, "the same again is none");
    let same = format!(r#"{{"Indexes":[{{"Name":"X","Maps":["{BY_AGE}"]}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/indexes", &same).status, 201);
    assert_eq!(put(&wire, "X", other, "").status, 201);
    until_equal(|| found(&wire, "from index 'X' where Age = 133"), ["users/1"]);
    assert_eq!(names(&wire), ["Auto/Users/ByName", "X"]);
    assert_eq!(put(&wire, "X", BY_AGE, r#","LockMode":"LockedError""#).status, 400, "one property comes twice");
}

#[test]
fn what_a_definition_cannot_have_is_told_with_its_place() {
    let wire = with_index();
    let answer = put(&wire, "Bad", "from u in docs.Users select new { A = u.Foo( }", "");
    answer.check_error(400, "Compilation.IndexCompilationException", "Failed to compile index Bad\n\n1:");
    assert!(
        answer.text().contains(r#""IndexDefinitionProperty":"Maps","ProblematicText":"from u"#),
        "{}",
        answer.text()
    );
    let version = env!("CARGO_PKG_VERSION");
    for (map, more, feature) in [
        ("map('Users', u => ({ a: loadPath(u, 'F').A }))", "", "loadPath() in an index"),
        (
            "map('Users', u => ({ a: u.A }))",
            r#","Reduce":"groupBy(x => x.a).aggregate(g => ({ a: load(g.key).b }))""#,
            "load() in a reduce",
        ),
        (
            BY_AGE,
            r#","Fields":{"Name":{"Vector":{"SourceEmbeddingType":"Text"}}}"#,
            "the option 'Vector' of a field with 'SourceEmbeddingType' being 'Text', which needs a model",
        ),
    ] {
        let message = format!("Rookery {version} does not support {feature} yet");
        put(&wire, "X", map, more).check_error(501, "RavenException", &message);
    }
    put(&wire, "", BY_AGE, "").check_error(400, "Indexes.IndexCreationException", "Index name cannot be empty");
    assert_eq!(names(&wire), ["Auto/Users/ByName"]);
}

#[test]
fn a_document_that_fails_is_an_error_of_the_index_and_too_many_end_it() {
    let wire = with_index();
    wire.put("users/zero", r#"{"Age":0,"@metadata":{"@collection":"Users"}}"#);
    let map = "from u in docs.Users select new { A = 100 / u.Age }";
    assert_eq!(put(&wire, "Div", map, "").status, 201);
    assert_eq!(found(&wire, "from index 'Div' where A > 10"), ["users/2"]);
    let errors = wire.call("GET /databases/db/indexes/errors?name=Div", "").text();
    let expected = r#""Document":"users/zero","Action":"Map","Error":"Attempted to divide by zero."}]}]}"#;
    assert!(errors.ends_with(expected), "{errors}");
    for number in 0..100 {
        wire.put(&format!("users/x{number}"), r#"{"Age":0,"@metadata":{"@collection":"Users"}}"#);
    }
    let stats = "GET /databases/db/indexes/stats?name=Div";
    wire.until(stats, |answer| answer.text().contains(r#""State":"Error""#));
    let body = r#"{"Query":"from index 'Div'","WaitForNonStaleResults":true}"#;
    let message = "documents could not be indexed";
    let answer = wire.call("POST /databases/db/queries", body);
    assert!(answer.status == 400 && answer.text().contains(message), "{}", answer.text());
    let other = wire.call("POST /databases/db/queries", &body.replace("Div", "Auto/Users/ByName"));
    assert!(other.text().contains(r#""IsStale":false"#), "{}", other.text());
    let live = wire.call("GET /admin/live?name=db", "").text();
    assert!(live.contains(r#""StaleIndexes":0,"FailedIndexes":1,"#), "{live}");
}

/// What a map loads is followed: when it changes, comes or goes, what asked for it is mapped again.
#[test]
fn entries_follow_the_documents_that_their_maps_load() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","City":"cities/1","@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Name":"Bob","City":"CITIES/2","@metadata":{"@collection":"Users"}}"#);
    wire.put("cities/1", r#"{"Name":"Oslo","@metadata":{"@collection":"Cities"}}"#);
    wire.put("cities/2", r#"{"Name":"Rome","@metadata":{"@collection":"Towns"}}"#);
    let map = r#"from u in docs.Users let c = LoadDocument(u.City, \"Cities\") select new { u.Name, City = c.Name }"#;
    assert_eq!(put(&wire, "ByCity", map, "").status, 201);
    assert_eq!(found(&wire, "from index 'ByCity' where City = 'oslo'"), ["users/1"]);
    assert!(found(&wire, "from index 'ByCity' where City = 'rome'").is_empty(), "it is of another collection");
    wire.put("cities/1", r#"{"Name":"Bergen","@metadata":{"@collection":"Cities"}}"#);
    assert_eq!(found(&wire, "from index 'ByCity' where City = 'bergen'"), ["users/1"]);
    wire.call("DELETE /databases/db/docs?id=cities/2", "");
    wire.put("Cities/2", r#"{"Name":"Rome","@metadata":{"@collection":"Cities"}}"#);
    assert_eq!(found(&wire, "from index 'ByCity' where City = 'rome'"), ["users/2"]);
    wire.call("DELETE /databases/db/docs?id=cities/1", "");
    assert_eq!(found(&wire, "from index 'ByCity' where true and not exists(City)"), ["users/1"]);
    let text = wire.call("GET /databases/db/indexes/stats?name=ByCity", "").text();
    assert!(text.contains(r#""ReferencedCollections":["Cities"]"#) && !text.contains(r#""Cities":{"#), "{text}");
}

/// Metadata of what is mapped and of what is loaded for it.
#[test]
fn maps_that_load_documents_read_metadata() {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"City":"cities/1","@metadata":{"@collection":"Users","X-Own":"u"}}"#);
    wire.put("users/2", r#"{"City":"cities/9","@metadata":{"@collection":"Users","X-Own":"v"}}"#);
    wire.put("cities/1", r#"{"Name":"Oslo","@metadata":{"@collection":"Cities","X-Own":"c"}}"#);
    let map = r#"from u in docs.Users let c = LoadDocument(u.City, \"Cities\") let m = MetadataFor(c) select new { U = MetadataFor(u)[\"X-Own\"], C = m[\"X-Own\"], I = m[\"@id\"], M = m[\"@collection\"], V = m[\"@change-vector\"] == null, D = c[\"@metadata\"][\"@last-modified\"] == null }"#;
    assert_eq!(put(&wire, "Meta", map, "").status, 201);
    let of = |condition: &str| found(&wire, &format!("from index 'Meta' where {condition}"));
    assert_eq!(of("U = 'u' and C = 'c' and I = 'cities/1' and M = 'cities' and V = false and D = false"), ["users/1"]);
    assert_eq!(of("U = 'v' and V = true and D = true"), ["users/2"]);
    wire.put("cities/9", r#"{"@metadata":{"@collection":"Cities","X-Own":"d"}}"#);
    assert_eq!(of("C = 'd'"), ["users/2"]);
}

fn status(wire: &Wire) -> String {
    wire.call("GET /databases/db/indexes/status", "").text()
}

#[test]
fn indexes_are_stopped_started_disabled_and_enabled() {
    let wire = with_index();
    let of = |all: &str, one: &str| {
        format!(r#"{{"Status":"{all}","Indexes":[{{"Name":"Auto/Users/ByName","Status":"{one}"}}]}}"#)
    };
    let name = "name=auto/users/byname";
    let post = |what: &str, expected: u16| {
        wire.check(&format!("POST /databases/db/admin/indexes/{what}"), "", expected, "");
    };
    post(&format!("stop?{name}"), 204);
    assert_eq!(status(&wire), of("Running", "Paused"));
    wire.put("users/3", r#"{"Name":"Cleo","@metadata":{"@collection":"Users"}}"#);
    let stale = wire.call(
        "POST /databases/db/queries",
        r#"{"Query":"from Users where Name = 'cleo'","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:00.01"}"#,
    );
    assert!(
        stale.text().contains(r#""TotalResults":0"#) && stale.text().contains(r#""IsStale":true"#),
        "{}",
        stale.text()
    );
    post(&format!("start?{name}"), 204);
    assert_eq!(ask(&wire, "from Users where Name = 'cleo'").get("TotalResults").and_then(json::Value::as_i64), Some(1));
    post("stop", 204);
    assert_eq!(status(&wire), of("Paused", "Paused"));
    post("start", 204);
    assert_eq!(status(&wire), of("Running", "Running"));
    post(&format!("disable?{name}"), 204);
    assert_eq!(status(&wire), of("Running", "Disabled"));
    post(&format!("start?{name}"), 204);
    assert_eq!(status(&wire), of("Running", "Disabled"), "starting does not enable");
    let definition = wire.call(&format!("GET /databases/db/indexes?{name}"), "").text();
    assert!(definition.contains(r#""State":"Disabled""#), "{definition}");
    post(&format!("enable?clusterWide=true&{name}"), 200);
    assert_eq!(status(&wire), of("Running", "Running"));
    post("stop?type=map-reduce", 204);
    assert_eq!(status(&wire), of("Running", "Running"));
    post("stop?type=Map", 204);
    assert_eq!(status(&wire), of("Running", "Paused"));
    post("start?type=map-reduce", 204);
    assert_eq!(status(&wire), of("Running", "Paused"));
    post("start?type=map", 204);
    assert_eq!(status(&wire), of("Running", "Running"));
    // The reference stops nothing then, and says nothing.
    for (wrong, status, message) in [
        ("type=mapreduce".to_owned(), 400, "Query string value 'type' must be map or map-reduce, but is 'mapreduce'"),
        ("type=".to_owned(), 400, "Query string value 'type' must have a non empty value"),
        ("name=".to_owned(), 400, "Query string value 'name' must have a non empty value"),
        (format!("type=map&{name}"), 400, "Query string value 'type' and 'names' are mutually exclusive."),
    ] {
        let line = format!("POST /databases/db/admin/indexes/stop?{wrong}");
        wire.check_error(&line, "", status, "System.ArgumentException", message);
    }
    assert_eq!(status(&wire), of("Running", "Running"));
    for line in [
        "POST /databases/db/admin/indexes/start?name=x",
        "POST /databases/db/admin/indexes/stop?name=x",
        "POST /databases/db/admin/indexes/enable?name=x",
        "POST /databases/db/admin/indexes/disable?name=x",
    ] {
        wire.check_error(line, "", 400, "Indexes.IndexDoesNotExistException", "There is no index with 'x' name.");
    }
}

#[test]
fn locks_and_priorities_are_set_for_all_that_are_named_or_for_none() {
    let wire = with_index();
    put(&wire, "X", BY_AGE, r#","State":"Normal""#);
    let set = |what: &str, body: &str| match what {
        "set-lock" => wire.call("POST /databases/db/indexes/set-lock", body),
        _ => wire.call("POST /databases/db/indexes/set-priority", body),
    };
    let told = |wire: &Wire| {
        let definition = wire.call("GET /databases/db/indexes?name=X", "").json();
        let Some(json::Value::Array(found)) = definition.get("Results") else { panic!() };
        ["LockMode", "Priority"].map(|key| found[0].get(key).and_then(json::Value::as_str).unwrap().to_owned())
    };
    assert_eq!(told(&wire), ["Unlock", "Normal"]);
    assert_eq!(set("set-lock", r#"{"IndexNames":["x"],"Mode":"LockedError"}"#).status, 204);
    assert_eq!(set("set-priority", r#"{"IndexNames":["x","Auto/Users/ByName"],"Priority":"High"}"#).status, 204);
    assert_eq!(told(&wire), ["LockedError", "High"]);
    let stats = wire.call("GET /databases/db/indexes/stats?name=X", "").text();
    assert!(stats.contains(r#""Priority":"High""#) && stats.contains(r#""LockMode":"LockedError""#), "{stats}");
    let locked = wire.call("DELETE /databases/db/indexes?name=X", "");
    locked.check_error(400, "System.InvalidOperationException", "");
    let unknown = "There is no index with 'y' name.";
    let automatic = "The lock mode of 'Auto/Users/ByName' cannot be set: a query made it";
    let absent = "Indexes.IndexDoesNotExistException";
    set("set-lock", r#"{"IndexNames":["X","y"],"Mode":"Unlock"}"#).check_error(400, absent, unknown);
    set("set-priority", r#"{"IndexNames":["X","y"],"Priority":"Low"}"#).check_error(400, absent, unknown);
    let names = r#"{"IndexNames":["X","Auto/Users/ByName"],"Mode":"Unlock"}"#;
    set("set-lock", names).check_error(400, "System.InvalidOperationException", automatic);
    let mode = r#"{"IndexNames":["X"],"Mode":"Perhaps"}"#;
    set("set-lock", mode).check_error(400, "", "'LockMode' must be one of Unlock, LockedIgnore, LockedError");
    for (what, body) in [("set-lock", r#"{"Mode":"Unlock"}"#), ("set-lock", r#"{"IndexNames":["X"]}"#)] {
        set(what, body).check_error(400, "ArgumentException", "The body must have");
    }
    assert_eq!(told(&wire), ["LockedError", "High"], "nothing was changed by what failed");
    wire.check_error(
        "POST /databases/db/indexes/replace?name=X",
        "",
        400,
        absent,
        "There is no index with 'ReplacementOf/X' name.",
    );
}

#[test]
fn errors_are_forgotten_on_demand() {
    let wire = with_index();
    wire.put("users/zero", r#"{"Age":0,"@metadata":{"@collection":"Users"}}"#);
    put(&wire, "Div", "from u in docs.Users select new { A = 100 / u.Age }", "");
    found(&wire, "from index 'Div'");
    let count =
        |wire: &Wire| wire.call("GET /databases/db/indexes/errors?name=Div", "").text().matches("Action").count();
    assert_eq!(count(&wire), 1);
    let absent = "There is no index with 'x' name.";
    let line = "DELETE /databases/db/indexes/errors?name=Div&name=x";
    wire.check_error(line, "", 400, "Indexes.IndexDoesNotExistException", absent);
    assert_eq!(count(&wire), 1);
    wire.check("DELETE /databases/db/indexes/errors", "", 204, "");
    assert_eq!(count(&wire), 0);
}

#[test]
fn a_batch_waits_for_the_indexes_of_what_it_writes() {
    let wire = with_index();
    let write = |query: &str, collection: &str| {
        let document = format!(r#"{{"Name":"Dan","@metadata":{{"@collection":"{collection}"}}}}"#);
        let body = format!(r#"{{"Commands":[{{"Type":"PUT","Id":"d|","ChangeVector":null,"Document":{document}}}]}}"#);
        wire.call(&format!("POST /databases/db/bulk_docs?{query}"), &body)
    };
    let count = || {
        let found = wire.call("POST /databases/db/queries", r#"{"Query":"from Users where Name = 'dan'"}"#);
        found.json().get("TotalResults").and_then(json::Value::as_i64).unwrap()
    };
    for number in 1..50 {
        let answer = write("waitForIndexesTimeout=00:00:30&waitForIndexThrow=true", "Users");
        assert_eq!((answer.status, count()), (201, number), "{}", answer.text());
    }
    wire.call("POST /databases/db/admin/indexes/stop", "");
    assert_eq!(write("waitForIndexesTimeout=00:00:00.01", "Pets").status, 201, "none is of its collection");
    assert_eq!(write("waitForIndexesTimeout=00:00:00.01&waitForSpecificIndex=x", "Users").status, 201);
    assert_eq!(write("waitForIndexesTimeout=00:00:00.01&waitForIndexThrow=false", "Users").status, 201);
    let late = write("waitForIndexesTimeout=00:00:00.01&waitForSpecificIndex=Auto/Users/ByName", "Users");
    late.check_error(
        408,
        "Raven.Client.Exceptions.RavenTimeoutException",
        "After waiting for 0.01 s, could not verify",
    );
    assert!(late.text().ends_with(r#""FailImmediately":true,"WriteOutcome":"Applied"}"#), "{}", late.text());
    let wrong = write("waitForIndexesTimeout=soon", "Users");
    wrong.check_error(400, "ArgumentException", "Query string value 'waitForIndexesTimeout' must be a time span");
    wire.call("POST /databases/db/admin/indexes/start", "");
    let found = ask(&wire, "from Users where Name = 'dan'");
    assert_eq!(found.get("TotalResults").and_then(json::Value::as_i64), Some(52), "what was late is written");
}

/// Who gives back the change vector of a write sees it, or is told that it does not.
#[test]
fn a_query_waits_for_the_write_that_it_names() {
    let wire = with_index();
    let query = |vector: &str, more: &str| {
        let body = format!(r#"{{"Query":"from Users where Name = 'eve'","WaitForChangeVector":"{vector}"{more}}}"#);
        wire.call("POST /databases/db/queries", &body)
    };
    for number in 1..50 {
        let written = wire.put(&format!("users/e{number}"), r#"{"Name":"Eve","@metadata":{"@collection":"Users"}}"#);
        let vector = written.json().get("ChangeVector").and_then(json::Value::as_str).unwrap().to_owned();
        let found = query(&vector, "").json();
        assert_eq!(found.get("TotalResults").and_then(json::Value::as_i64), Some(number));
        assert_eq!(found.get("IsStale").and_then(json::Value::as_bool), Some(false));
    }
    wire.call("POST /databases/db/admin/indexes/stop", "");
    let written = wire.put("users/late", r#"{"Name":"Eve","@metadata":{"@collection":"Users"}}"#);
    let vector = written.json().get("ChangeVector").and_then(json::Value::as_str).unwrap().to_owned();
    let late = query(&vector, r#","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:00.01""#);
    late.check_error(408, "RavenTimeoutException", "After waiting for 0.01 s, could not verify");
    let own = |etag: &str| format!("A:{etag}-{}", vector.split_once('-').unwrap().1);
    query(&own("999999"), "").check_error(400, "ArgumentException", "'WaitForChangeVector' names etag 999999");
    query("A:1-AAAAAAAAAAAAAAAAAAAAAA", "").check_error(
        400,
        "",
        "'WaitForChangeVector' is not of a write to this database",
    );
    query("nonsense", "").check_error(400, "ArgumentException", "'WaitForChangeVector' is no change vector");
}

/// A client that reads the record of a database and writes it back changes no index.
#[test]
fn the_record_of_a_database_tells_of_its_indexes() {
    let wire = with_index();
    put(&wire, "X", BY_AGE, "");
    ask(&wire, "from Users group by Age select Age, count()");
    let record = wire.call("GET /admin/databases?name=db", "");
    let (text, record) = (record.text(), record.json());
    let field = r#""Name":{"Storage":"No","Indexing":"Default","Aggregation":"None","Spatial":null,"Vector":null,"GroupByArrayBehavior":"NotApplicable","Suggestions":false,"IsNameQuoted":false}"#;
    let automatic = format!(
        r#""Auto/Users/ByName":{{"Type":"AutoMap","Collection":"Users","MapFields":{{{field}}},"GroupByFields":{{}},"GroupByFieldNames":[],"Name":"Auto/Users/ByName","Priority":"Normal","State":"Normal"}}"#
    );
    assert!(text.contains(&automatic), "{text}");
    assert!(text.contains(r#""Indexes":{"X":{"Name":"X","SourceType":"Documents","Type":"Map""#), "{text}");
    assert!(text.contains(r#""Count":{"Storage":"No","Indexing":"Default","Aggregation":"Count""#), "{text}");
    let etag = record.get("Etag").and_then(json::Value::as_i64).unwrap();
    let etag = format!("ETag: {etag}");
    let back = wire.call_with("PUT /admin/databases?name=db", &[&etag], text.as_bytes());
    assert_eq!(back.status, 201, "{}", back.text());
    let mut record = wire.call("GET /admin/databases?name=db", "").json();
    let etag = format!("ETag: {}", record.get("Etag").and_then(json::Value::as_i64).unwrap());
    record.set("Indexes", json::Value::parse(br#"{"Y":{}}"#).unwrap());
    let version = env!("CARGO_PKG_VERSION");
    let message = format!("Rookery {version} does not support 'Indexes' in the record of a database yet");
    let refused = wire.call_with("PUT /admin/databases?name=db", &[&etag], &record.to_vec());
    refused.check_error(501, "RavenException", &message);
}

/// The answer has the form of the reference's, and says besides what went wrong.
#[test]
fn a_definition_is_tried_on_some_documents_without_an_index_of_it() {
    let wire = Wire::with_database();
    for age in 0..6 {
        wire.put(
            &format!("u/{age}"),
            &format!(r#"{{"Name":"n{}","Age":{age},"@metadata":{{"@collection":"Users"}}}}"#, age % 3),
        );
    }
    let test = |definition: &str, more: &str| {
        wire.call("POST /databases/db/indexes/test", &format!(r#"{{"IndexDefinition":{definition}{more}}}"#))
    };
    let map = r#"{"Name":"X","Maps":["from u in docs.Users select new { u.Name, Twice = u.Age * 2 }"]}"#;
    let answer = test(map, r#","Query":"from index 'X' where Name = 'n1'","MaxDocumentsToProcess":4"#);
    let text = answer.text();
    let entry =
        r#"{"IndexEntries":[{"Name":"n1","Twice":"2","id()":"u/1"}],"QueryResults":[{"Name":"n1","Age":1,"@metadata""#;
    assert!(answer.status == 200 && text.starts_with(entry), "{text}");
    let mapped = r#""MapResults":[{"Name":"n0","Twice":0},{"Name":"n1","Twice":2},{"Name":"n2","Twice":4},{"Name":"n0","Twice":6}],"ReduceResults":[],"HasDynamicFields":false,"IsStale":true,"IndexType":"Map","Errors":[]}"#;
    assert!(text.ends_with(mapped), "{text}");
    let reduce = r#"{"Maps":["from u in docs.Users select new { u.Name, C = 1 }"],"Reduce":"from r in results group r by r.Name into g select new { Name = g.Key, C = g.Sum(x => x.C) }"}"#;
    let text = test(reduce, "").text();
    let groups = r#""ReduceResults":[{"Name":"n0","C":2"#;
    assert!(text.contains(groups) && text.contains(r#""IsStale":false,"IndexType":"MapReduce""#), "{text}");
    let failing = test(r#"{"Maps":["from u in docs.Users select new { Q = 6 / u.Age }"]}"#, "").text();
    assert!(failing.contains(r#""Document":"u/0","Action":"Map","Error":"Attempted to divide by zero.""#), "{failing}");
    assert!(failing.contains(r#""MapResults":[{"Q":6},{"Q":3},{"Q":2},{"Q":1},{"Q":1}]"#), "{failing}");
    assert!(names(&wire).is_empty(), "nothing is left of it");
    let message = "'MaxDocumentsToProcess' must be from 1 to the limit SAMPLE_COUNT_MAX = 10000";
    test(map, r#","MaxDocumentsToProcess":0"#).check_error(400, "BadRequestException", message);
    let message = "The query must be one of the index";
    test(map, r#","Query":"from Users where Name = 'n1'""#).check_error(400, "BadRequestException", message);
    test(map, r#","Query":"from index 'X' where Nope = 1""#).check_error(
        400,
        "ArgumentException",
        "The field 'Nope' is not indexed",
    );
    let compile = test(r#"{"Maps":["from u in docs.Users select new { Q = 1 / }"]}"#, "");
    compile.check_error(400, "IndexCompilationException", "Failed to compile index Test");
    wire.check_error(
        "POST /databases/db/indexes/test",
        "{}",
        400,
        "BadRequestException",
        "Index must have an IndexDefinition field",
    );
}

#[test]
fn an_index_that_others_are_asked_after_is_idle_until_it_is_asked() {
    let wire = Wire::start_with(|options| {
        options.limits.automatic_index_idle_after = std::time::Duration::from_nanos(100);
    });
    wire.create("db");
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.put("orders/1", r#"{"Total":7,"@metadata":{"@collection":"Orders"}}"#);
    let states = || {
        let told = |line: &str| {
            let found = results(&wire.call(line, ""));
            let state = |name: &str| {
                let is_it = |index: &&json::Value| index.get("Name").and_then(json::Value::as_str) == Some(name);
                let index = found.iter().find(is_it).unwrap();
                index.get("State").and_then(json::Value::as_str).unwrap().to_owned()
            };
            [state("Auto/Users/ByName"), state("Auto/Orders/ByTotal")]
        };
        let statistics = told("GET /databases/db/indexes/stats");
        assert_eq!(told("GET /databases/db/indexes"), statistics);
        statistics
    };
    ask(&wire, "from Users where Name = 'Ann'");
    ask(&wire, "from Orders where Total = 7");
    assert_eq!(states(), ["Idle", "Normal"]);
    ask(&wire, "from Users where Name = 'Bob'");
    assert_eq!(states(), ["Normal", "Idle"]);
}

#[test]
fn what_an_index_knows_of_itself_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
        })
    };
    let errors = |wire: &Wire| {
        let found = results(&wire.call("GET /databases/db/indexes/errors?name=I", ""));
        let Some(json::Value::Array(errors)) = found[0].get("Errors") else { panic!("{found:?}") };
        errors.iter().map(|error| String::from_utf8(error.to_vec()).unwrap()).collect::<Vec<_>>()
    };
    let statistics = |wire: &Wire| {
        let found = results(&wire.call("GET /databases/db/indexes/stats?name=I", ""));
        let text = |name: &str| String::from_utf8(found[0].get(name).unwrap().to_vec()).unwrap();
        ["MapAttempts", "MapErrors", "ErrorsCount", "State", "LastQueryingTime", "LastIndexingTime"].map(text)
    };
    let wire = start();
    wire.create("db");
    let put = |wire: &Wire, count: usize| {
        let document =
            |n| format!(r#"{{"Type":"PUT","Id":"us/{n}","Document":{{"D":0,"@metadata":{{"@collection":"Us"}}}}}}"#);
        let commands: Vec<_> = (0..count).map(document).collect();
        let body = format!(r#"{{"Commands":[{}]}}"#, commands.join(","));
        assert_eq!(wire.call("POST /databases/db/bulk_docs", &body).status, 201);
    };
    put(&wire, 2);
    let define = r#"{"Indexes":[{"Name":"I","Maps":["from u in docs.Us select new { Q = 10 / u.D }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", define).status, 201);
    ask(&wire, "from index 'I' where Q = 7");
    let (before, known) = (errors(&wire), statistics(&wire));
    assert_eq!((before.len(), &known[..4]), (2, &["2", "2", "2", "\"Normal\""].map(str::to_owned)[..]));
    assert!(before[0].contains("us/0") && known[4] != "null");
    drop(wire);

    let wire = start();
    assert_eq!((errors(&wire), statistics(&wire)), (before, known.clone()));
    assert_eq!(wire.call("DELETE /databases/db/indexes/errors?name=I", "").status, 204);
    drop(wire);

    let wire = start();
    assert!(errors(&wire).is_empty());
    assert_eq!(statistics(&wire)[..3], ["2", "2", "0"].map(str::to_owned));
    put(&wire, 150);
    let failed = |wire: &Wire| {
        let answer = wire.call("POST /databases/db/queries", r#"{"Query":"from index 'I'"}"#);
        (answer.status, answer.text().contains("152"), errors(wire).len(), statistics(wire)[3].clone())
    };
    ask_until_it_fails(&wire);
    assert_eq!(failed(&wire), (400, true, 150, "\"Error\"".to_owned()));
    drop(wire);

    let wire = start();
    assert_eq!(failed(&wire), (400, true, 150, "\"Error\"".to_owned()));
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    ask_until_it_fails(&wire);
    let anew = wire.call("POST /databases/db/queries", r#"{"Query":"from index 'I'"}"#);
    assert!(anew.text().contains("150"), "{}", anew.text());
}

/// Waits for the index `I` to fail.
fn ask_until_it_fails(wire: &Wire) {
    let body = r#"{"Query":"from index 'I'","WaitForNonStaleResults":true}"#;
    wire.call("POST /databases/db/queries", body).check_error(400, "", "");
}

#[test]
fn names_have_letters_digits_and_some_signs() {
    let wire = Wire::with_database();
    let put = |name: &str| {
        let body = format!(r#"{{"Indexes":[{{"Name":{name},"Maps":["from d in docs.Ds select new {{ d.N }}"]}}]}}"#);
        wire.call("PUT /databases/db/admin/indexes", &body)
    };
    for name in [r#""I\u0000b""#, r#""I/../y""#, r#""a\"b""#, r#""a//b""#, &format!("\"{}\"", "x".repeat(300))] {
        let answer = put(name);
        assert!(answer.status >= 400 && answer.text().contains("is not permitted."), "{name}: {}", answer.text());
    }
    assert!(results(&wire.call("GET /databases/db/indexes?namesOnly=true", "")).is_empty());
    assert_eq!(put(r#""ü/a.b_-""#).status, 201);
}
