//! `GET /databases/{name}/indexes/debug`: fields, documents and groups of an index. Shapes and refusals are those of the reference.

use json::Value;

use super::support::Wire;

const SUMS: &str =
    "from r in results group r by r.Company into g select new { Company = g.Key, Total = g.Sum(x => x.Total) }";

/// Orders with lines; `Lines` of 5,000 for one of `large`.
fn with_index(reduce: &str) -> Wire {
    let wire = Wire::with_database();
    let lines = |totals: &[u64]| {
        let lines: Vec<String> = totals.iter().map(|total| format!("{{\"Total\":{total}}}")).collect();
        format!("[{}]", lines.join(","))
    };
    for (id, company, lines) in [
        ("Orders/1", "A", lines(&[1, 20])),
        ("Orders/2", "A", lines(&[300])),
        ("Orders/3", "B", lines(&[4000])),
        ("Other/1", "Large", lines(&(0..5000).collect::<Vec<u64>>())),
        ("Other/2", "Large", lines(&[7])),
        ("Other/3", "None", lines(&[])),
    ] {
        wire.put(id, &format!(r#"{{"Company":"{company}","Lines":{lines},"@metadata":{{"@collection":"Orders"}}}}"#));
    }
    let map = "from o in docs.Orders from l in o.Lines select new { o.Company, l.Total }";
    let definition = format!(r#"{{"Indexes":[{{"Name":"T","Maps":["{map}"],"Reduce":"{reduce}"}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    let answer = wire.call("POST /databases/db/queries", r#"{"Query":"from index 'T'","WaitForNonStaleResults":true}"#);
    assert_eq!(answer.status, 200, "{}", answer.text());
    wire
}

#[track_caller]
fn ask(wire: &Wire, parameters: &str) -> Value {
    let answer = wire.call(&format!("GET /databases/db/indexes/debug?{parameters}"), "");
    assert_eq!(answer.status, 200, "{parameters}: {}", answer.text());
    Value::parse(&answer.body).unwrap()
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        other => panic!("{other:?} is no array"),
    }
}

#[test]
fn a_group_is_shown_with_the_values_of_the_documents() {
    let wire = with_index(SUMS);
    wire.check(
        "GET /databases/db/indexes/debug?name=T&op=map-reduce-tree&docId=orders/1&docId=Orders/3&docId=nope",
        "",
        200,
        concat!(
            r#"{"Results":[{"Name":"ae7f4e19235f00ba1e776e9eb13d9a10","DisplayName":"{\"Company\":\"A\"}","Depth":1,"PageCount":1,"#,
            r#""NumberOfEntries":3,"IsWhole":true,"Root":{"PageNumber":0,"Level":0,"AggregationResult":{"Company":"A","Total":321},"#,
            r#""HasFailed":false,"Children":null,"Entries":["#,
            r#"{"Data":{"Company":"A","Total":1},"Source":"orders/1","Number":0},"#,
            r#"{"Data":{"Company":"A","Total":20},"Source":"orders/1","Number":1},"#,
            r#"{"Data":{"Company":"A","Total":300},"Source":null,"Number":2}]}},"#,
            r#"{"Name":"8f920cac45cd9a630b692fc0b2e1ed82","DisplayName":"{\"Company\":\"B\"}","Depth":1,"PageCount":1,"NumberOfEntries":1,"IsWhole":true,"#,
            r#""Root":{"PageNumber":0,"Level":0,"AggregationResult":{"Company":"B","Total":4000},"HasFailed":false,"Children":null,"#,
            r#""Entries":[{"Data":{"Company":"B","Total":4000},"Source":"Orders/3","Number":0}]}}],"NumberOfGroups":2}"#,
        ),
    );
    let none = r#"{"Results":[],"NumberOfGroups":0}"#;
    wire.check("GET /databases/db/indexes/debug?name=T&op=map-reduce-tree", "", 200, none);
    wire.check("GET /databases/db/indexes/debug?name=T&op=map-reduce-tree&docId=Other/3", "", 200, none);
}

/// Nodes that do not lead to the value of the document are not read: what they came to stands in the node above.
#[test]
fn of_a_large_group_the_way_to_the_document_is_shown() {
    let wire = with_index(SUMS);
    let answer = ask(&wire, "name=T&op=map-reduce-tree&docId=other/2");
    let [tree] = list(answer.get("Results").unwrap()) else { panic!("one group: {answer:?}") };
    let number = |value: &Value, key: &str| value.get(key).unwrap().as_i64().unwrap();
    assert_eq!(tree.get("IsWhole"), Some(&Value::Bool(false)));
    assert_eq!(
        (number(tree, "Depth"), number(tree, "NumberOfEntries"), number(tree, "PageCount")),
        (3, 5001, 79 + 2 + 1)
    );
    let mut node = tree.get("Root").unwrap();
    let total = |node: &Value| number(node.get("AggregationResult").unwrap(), "Total");
    assert_eq!(total(node), 5000 * 4999 / 2 + 7);
    while let Some(Value::Array(children)) = node.get("Children") {
        assert_eq!(children.iter().map(&total).sum::<i64>(), total(node));
        let is_read =
            |child: &&Value| child.get("Children") != Some(&Value::Null) || child.get("Entries") != Some(&Value::Null);
        let mut read = children.iter().filter(is_read);
        node = read.next().unwrap();
        assert!(read.next().is_none());
    }
    let entries = list(node.get("Entries").unwrap());
    let sources: Vec<_> = entries.iter().filter_map(|entry| entry.get("Source").and_then(Value::as_str)).collect();
    assert_eq!(sources, ["other/2"]);
}

/// A group that is reduced whole has no results of parts.
#[test]
fn of_a_group_that_is_reduced_whole_the_leaves_are_shown() {
    let wire = with_index(&SUMS.replace("Sum(", "Average("));
    let answer = ask(&wire, "name=T&op=map-reduce-tree&docId=other/2");
    let [tree] = list(answer.get("Results").unwrap()) else { panic!("one group: {answer:?}") };
    let root = tree.get("Root").unwrap();
    assert!(root.get("AggregationResult").unwrap().get("Total").is_some());
    let [leaf] = list(root.get("Children").unwrap()) else { panic!("one leaf has it: {root:?}") };
    assert_eq!(leaf.get("AggregationResult"), Some(&Value::Null));
    assert_eq!(tree.get("PageCount").unwrap().as_i64(), Some(80));
}

#[test]
fn documents_with_values_are_listed_by_the_beginning_of_their_ids() {
    let wire = with_index(SUMS);
    let check = |parameters: &str, expected: &str| {
        let line = format!("GET /databases/db/indexes/debug?name=T&op=source-doc-ids{parameters}");
        wire.check(&line, "", 200, expected);
    };
    check("", r#"{"Results":["orders/1","orders/2","orders/3","other/1","other/2"],"Count":5}"#);
    check("&startsWith=ORDERS/&start=1&pageSize=1", r#"{"Results":["orders/2"],"Count":1}"#);
    check("&startsWith=z", r#"{"Results":[],"Count":0}"#);
}

#[test]
fn fields_are_those_of_the_definition_and_those_that_were_made() {
    let wire = with_index(SUMS);
    let map = "map('Orders', o => ({ Shown: o.Company, _: createField('dyn_' + o.Company, 1, {}) }))";
    let definition = format!(r#"{{"Indexes":[{{"Name":"Made","Maps":["{map}"]}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    let query = |text: &str| {
        let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        Value::parse(&answer.body).unwrap().get("IndexName").and_then(Value::as_str).unwrap().to_owned()
    };
    query("from index 'Made'");
    let automatic = query("from Orders where Company = 'A' and search(Company, 'A')");
    let fields = |name: &str| -> Vec<String> {
        let answer = ask(&wire, &format!("name={name}&op=entries-fields"));
        let text = |field: &Value, key| field.get(key).and_then(Value::as_str).unwrap().to_owned();
        let each = |field| format!("{} {} {}", text(field, "Name"), text(field, "FieldType"), text(field, "ValueType"));
        list(&answer).iter().map(each).collect()
    };
    assert_eq!(fields("T"), ["Company Static Term", "Total Static Term"]);
    assert_eq!(
        fields("Made"),
        [
            "Shown Static Term",
            "_ Static Term",
            "dyn_A Dynamic Term",
            "dyn_B Dynamic Term",
            "dyn_Large Dynamic Term",
            "dyn_None Dynamic Term",
            "id() Static Term"
        ]
    );
    assert_eq!(fields(&automatic), ["Company Static Term", "id() Static Term", "search(Company) Static Term"]);
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let wire = with_index(SUMS);
    let plain = r#"{"Indexes":[{"Name":"Plain","Maps":["from o in docs.Orders select new { o.Company }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", plain).status, 201);
    let check = |parameters: &str, status: u16, exception: &str, message: &str| {
        wire.check_error(&format!("GET /databases/db/indexes/debug?{parameters}"), "", status, exception, message);
    };
    let unsupported = "System.NotSupportedException";
    check("name=T&op=bogus", 400, unsupported, "bogus is not supported");
    check("name=Plain&op=source-doc-ids", 400, unsupported, "Getting doc ids for map indexes is not supported");
    let bad = "Raven.Client.Exceptions.BadRequestException";
    check("name=Plain&op=map-reduce-tree&docId=a", 400, bad, "Plain is not map-reduce index");
    let many = "&docId=a".repeat(65);
    let message = "'docId' exceeds the limit SHOWN_DOCUMENTS_MAX = 64";
    check(&format!("name=T&op=map-reduce-tree{many}"), 400, bad, message);
    check("name=T", 400, "System.ArgumentException", "Query string value 'op' must have");
    check("op=entries-fields", 400, "System.ArgumentException", "Query string value 'name' must have");
    assert_eq!(wire.call("GET /databases/db/indexes/debug?name=Nope&op=entries-fields", "").status, 404);
}

/// The reference says the same, in another order of members.
#[test]
fn what_is_left_to_take_is_told_in_documents() {
    let wire = with_index(SUMS);
    wire.check("GET /databases/db/indexes/progress", "", 200, r#"{"Results":[]}"#);
    assert_eq!(wire.call("POST /databases/db/admin/indexes/stop", "").status, 204);
    wire.put("Orders/1", r#"{"Company":"A","@metadata":{"@collection":"Orders"}}"#);
    wire.put("Orders/4", r#"{"Company":"A","@metadata":{"@collection":"Orders"}}"#);
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    wire.call("DELETE /databases/db/docs?id=Orders/2", "");
    let all = r#"{"Indexes":[{"Name":"All","Maps":["from d in docs select new { d.Company }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", all).status, 201);
    let answer = wire.call("GET /databases/db/indexes/progress", "");
    assert_eq!(answer.status, 200);
    let answer = Value::parse(&answer.body).unwrap();
    let told: Vec<(String, String, [i64; 4])> = list(answer.get("Results").unwrap())
        .iter()
        .map(|index| {
            assert_eq!(index.get("IndexRunningStatus").and_then(Value::as_str), Some("Paused"));
            let [(collection, counts)] = index.get("Collections").unwrap().members() else { panic!("one collection") };
            let keys = [
                "NumberOfItemsToProcess",
                "TotalNumberOfItems",
                "NumberOfTombstonesToProcess",
                "TotalNumberOfTombstones",
            ];
            let name = index.get("Name").and_then(Value::as_str).unwrap().to_owned();
            (name, collection.to_string(), keys.map(|key| counts.get(key).unwrap().as_i64().unwrap()))
        })
        .collect();
    let index = |name: &str, collection: &str, counts| (name.to_owned(), collection.to_owned(), counts);
    assert_eq!(told, [index("All", "@all_docs", [7, 7, 1, 1]), index("T", "Orders", [2, 6, 1, 1])]);
}
