//! Results of groups as documents: `OutputReduceToCollection` and the pattern of documents that name them. Expected values are those of
//! the reference, but for the names of groups in ids, which are hashes.

use super::support::{Answer, Wire};

const MAP: &str = "from o in docs.Orders select new { o.Company, o.Year, N = o.N, Count = 1 }";
const REDUCE: &str = "from r in results group r by new { r.Company, r.Year } into g select new { g.Key.Company, g.Key.Year, N = g.Sum(x => x.N), Count = g.Sum(x => x.Count) }";

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for (number, (company, year, n)) in
        [(r#""a""#, 1998, "1"), (r#""a""#, 1999, "2"), (r#""b""#, 1998, "3"), (r#""b""#, 1998, "4.5")]
            .into_iter()
            .enumerate()
    {
        order(&wire, number, company, year, n);
    }
    wire
}

fn order(wire: &Wire, number: usize, company: &str, year: u32, n: &str) {
    let body = format!(r#"{{"Company":{company},"Year":{year},"N":{n},"@metadata":{{"@collection":"Orders"}}}}"#);
    wire.put(&format!("orders/{number}"), &body);
}

fn put_index(wire: &Wire, name: &str, map: &str, reduce: &str, more: &str) -> Answer {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Reduce":"{reduce}",{more}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

const TOTALS: &str =
    r#""OutputReduceToCollection":"Totals","PatternForOutputReduceToCollectionReferences":"totals/{Company}/{Year}""#;

/// Waits until the documents of an index are written.
#[track_caller]
fn wait(wire: &Wire, index: &str) {
    let body = format!(r#"{{"Query":"from index '{index}'","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert!(answer.status == 200 && answer.text().contains(r#""IsStale":false"#), "{}", answer.text());
}

/// The documents of a collection with their ids, whose hashes are masked, sorted.
fn documents(wire: &Wire, collection: &str) -> Vec<String> {
    let query = format!(r#"{{"Query":"from '{collection}'"}}"#);
    let answer = wire.call("POST /databases/db/queries", &query).json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let mut told: Vec<String> = results
        .iter()
        .map(|result| {
            let metadata = result.get("@metadata").unwrap();
            let text = |name| metadata.get(name).and_then(json::Value::as_str).unwrap_or_default();
            assert_eq!((text("@collection"), text("@flags")), (collection, "Artificial, FromIndex"));
            let body = String::from_utf8(result.to_vec()).unwrap();
            let body = body.split(r#","@metadata""#).next().unwrap();
            format!("{} {body}}}", text("@id")).split('/').map(masked).collect::<Vec<_>>().join("/")
        })
        .collect();
    told.sort();
    told
}

/// A part of an id that begins with the name of a group.
fn masked(part: &str) -> String {
    match part.split_at_checked(32) {
        Some((name, rest)) if name.bytes().all(|byte| byte.is_ascii_hexdigit()) => format!("GROUP{rest}"),
        _ => part.to_owned(),
    }
}

/// The number of an index in ids of its documents.
fn number(wire: &Wire, index: &str) -> String {
    let text = wire.call(&format!("GET /databases/db/indexes?name={index}"), "").text();
    let (_, rest) = text.split_once(r#""ReduceOutputIndex":"#).unwrap();
    rest.split(',').next().unwrap().to_owned()
}

#[test]
fn results_are_documents_that_follow_their_groups() {
    let wire = with_orders();
    assert_eq!(put_index(&wire, "T", MAP, REDUCE, TOTALS).status, 201);
    wait(&wire, "T");
    let n = number(&wire, "T");
    assert_eq!(
        documents(&wire, "Totals"),
        [
            format!(r#"Totals/{n}/GROUP {{"Company":"a","Year":1998,"N":1,"Count":1}}"#),
            format!(r#"Totals/{n}/GROUP {{"Company":"a","Year":1999,"N":2,"Count":1}}"#),
            format!(r#"Totals/{n}/GROUP {{"Company":"b","Year":1998,"N":7.5,"Count":2}}"#),
        ]
    );
    let named = |name: &str| format!(r#"totals/{name} {{"ReduceOutputs":["Totals/{n}/GROUP"]}}"#);
    assert_eq!(documents(&wire, "Totals/References"), ["a/1998", "a/1999", "b/1998"].map(named));
    let definition = wire.call("GET /databases/db/indexes?name=T", "").text();
    for said in [
        r#""OutputReduceToCollection":"Totals","DeploymentMode":null,"#,
        r#""PatternForOutputReduceToCollectionReferences":"totals/{Company}/{Year}","PatternReferencesCollectionName":null"#,
    ] {
        assert!(definition.contains(said), "{definition}");
    }
    let statistics = wire.call("GET /databases/db/indexes/stats?name=T", "").text();
    let said = r#""ReduceOutputCollection":"Totals","ReduceOutputReferencePattern":"totals/{Company}/{Year}","PatternReferencesCollectionName":null"#;
    assert!(statistics.contains(said), "{statistics}");

    // A group changes, one goes, one comes whose name would have a null.
    order(&wire, 0, r#""a""#, 1998, "10");
    wire.call("DELETE /databases/db/docs?id=orders/1", "");
    order(&wire, 7, "null", 2000, "7");
    wait(&wire, "T");
    assert_eq!(
        documents(&wire, "Totals"),
        [
            format!(r#"Totals/{n}/GROUP {{"Company":"a","Year":1998,"N":10,"Count":1}}"#),
            format!(r#"Totals/{n}/GROUP {{"Company":"b","Year":1998,"N":7.5,"Count":2}}"#),
            format!(r#"Totals/{n}/GROUP {{"Company":null,"Year":2000,"N":7,"Count":1}}"#),
        ]
    );
    assert_eq!(documents(&wire, "Totals/References"), ["a/1998", "b/1998"].map(named));
    let errors = wire.call("GET /databases/db/indexes/errors?name=T", "").text();
    let why = "No document names this result: its field 'Company' is null";
    assert!(errors.contains(r#""Document":null,"Action":"Reduce","#) && errors.contains(why), "{errors}");

    // Deleted with the index they are not, as in the reference; and another may not write beside them.
    wire.check("DELETE /databases/db/indexes?name=T", "", 204, "");
    assert_eq!(documents(&wire, "Totals").len(), 3);
    let message = "Index 'T' is defined to output the Reduce results to documents in Collection 'Totals'. This collection currently has 3 documents. All documents in Collection 'Totals' must be deleted first.";
    put_index(&wire, "T", MAP, REDUCE, TOTALS).check_error(400, "Indexes.IndexInvalidException", message);
}

#[test]
fn a_group_with_several_results_has_numbered_documents() {
    let wire = with_orders();
    let map = "from o in docs.Orders select new { o.Company, N = o.N }";
    let reduce = "from r in results group r by r.Company into g from x in g select new { Company = g.Key, N = x.N }";
    let more = r#""OutputReduceToCollection":"Many","PatternForOutputReduceToCollectionReferences":"many/{Company}","PatternReferencesCollectionName":"Names""#;
    assert_eq!(put_index(&wire, "M", map, reduce, more).status, 201);
    wait(&wire, "M");
    let n = number(&wire, "M");
    let a = [
        format!(r#"Many/{n}/GROUP/0 {{"Company":"a","N":1}}"#),
        format!(r#"Many/{n}/GROUP/0 {{"Company":"b","N":3}}"#),
        format!(r#"Many/{n}/GROUP/1 {{"Company":"a","N":2}}"#),
        format!(r#"Many/{n}/GROUP/1 {{"Company":"b","N":4.5}}"#),
    ];
    assert_eq!(documents(&wire, "Many"), a);
    let names = |number: &str| format!(r#"many/a {{"ReduceOutputs":["Many/{n}/GROUP{number}"#);
    assert_eq!(documents(&wire, "Names")[0], format!(r#"{}/0","Many/{n}/GROUP/1"]}}"#, names("")));
    wire.call("DELETE /databases/db/docs?id=orders/0", "");
    wait(&wire, "M");
    assert_eq!(documents(&wire, "Many")[0], format!(r#"Many/{n}/GROUP {{"Company":"a","N":2}}"#));
    assert_eq!(documents(&wire, "Many").len(), 3);
    assert_eq!(documents(&wire, "Names")[0], format!(r#"{}"]}}"#, names("")));
}

#[test]
fn other_indexes_take_the_documents() {
    let wire = with_orders();
    assert_eq!(put_index(&wire, "T", MAP, REDUCE, TOTALS).status, 201);
    let map = "from t in docs.Totals select new { t.Company, t.N }";
    let reduce = "from r in results group r by r.Company into g select new { Company = g.Key, N = g.Sum(x => x.N) }";
    assert_eq!(put_index(&wire, "U", map, reduce, r#""OutputReduceToCollection":"Sums""#).status, 201);
    wait(&wire, "T");
    wait(&wire, "U");
    let n = number(&wire, "U");
    let sums = |a: &str| {
        [format!(r#"Sums/{n}/GROUP {{"Company":"a","N":{a}}}"#), format!(r#"Sums/{n}/GROUP {{"Company":"b","N":7.5}}"#)]
    };
    assert_eq!(documents(&wire, "Sums"), sums("3"));
    order(&wire, 9, r#""a""#, 2003, "5");
    wait(&wire, "T");
    wait(&wire, "U");
    assert_eq!(documents(&wire, "Sums"), sums("8"));
}

#[test]
fn what_would_run_in_circles_or_meet_others_is_refused() {
    let wire = with_orders();
    assert_eq!(put_index(&wire, "T", MAP, REDUCE, TOTALS).status, 201);
    let check = |map: &str, more: &str, message: &str| {
        put_index(&wire, "X", map, REDUCE, more).check_error(400, "Indexes.IndexInvalidException", message);
    };
    let into = |collection: &str| format!(r#""OutputReduceToCollection":"{collection}""#);
    let forbidden = |collection: &str| {
        format!(
            "It is forbidden to create the 'X' index which would output reduce results to documents in the '{collection}' collection, as "
        )
    };
    check(MAP, &into("totals"), &format!("{}there is another index named 'T' which", forbidden("totals")));
    let itself = "this index is mapping or referencing the";
    check(MAP, &into("orders"), &format!("{}{itself} 'orders' collection", forbidden("orders")));
    let loads = r#"from o in docs.Orders let t = LoadDocument(o.T, \"Out\") select new { o.Company, o.Year, N = t.N, Count = 1 }"#;
    check(loads, &into("Out"), &format!("{}{itself} 'Out' collection", forbidden("Out")));
    let names = format!(
        r#"{},"PatternForOutputReduceToCollectionReferences":"x/{{N}}","PatternReferencesCollectionName":"Orders""#,
        into("Out")
    );
    check(MAP, &names, &format!("{}{itself} 'Orders' collection", forbidden("Orders")));
    let all = MAP.replace("docs.Orders", "docs");
    check(&all, &into("Out"), &format!("{}this index is mapping all documents", forbidden("Out")));
    let back = MAP.replace("docs.Orders", "docs.Totals");
    let path = "as 'Orders' collection is consumed by other index in a way that would lead to an infinite loop.\\nT: Orders => Totals\\n--> X: Totals => *Orders*";
    let answer = put_index(&wire, "X", &back, REDUCE, &into("Orders"));
    assert!(answer.status == 400 && answer.text().contains(path), "{}", answer.text());
    check(MAP, r#""PatternForOutputReduceToCollectionReferences":"x/{N}""#, "'PatternForOutput");
    let pattern =
        |pattern: &str| format!(r#"{},"PatternForOutputReduceToCollectionReferences":"{pattern}""#, into("Out"));
    check(MAP, &pattern("xyz"), "Provided pattern is not supported: xyz");
    check(MAP, &pattern("x/{None}"), "The pattern 'x/{None}' names the field 'None', which the reduce does not give");
    let same = format!(r#"{},"PatternReferencesCollectionName":"Out""#, pattern("x/{N}"));
    let message = "Collection defined in PatternReferencesCollectionName must not be the same as in OutputReduceToCollection. Collection name: 'Out'";
    check(MAP, &same, message);
    wire.put("mine/1", r#"{"@metadata":{"@collection":"Mine"}}"#);
    check(
        MAP,
        &into("Mine"),
        "Index 'X' is defined to output the Reduce results to documents in Collection 'Mine'. This collection currently has 1 document. All documents in Collection 'Mine' must be deleted first.",
    );
    assert_eq!(put_index(&wire, "X", MAP, REDUCE, &into("Out")).status, 201);
}

#[test]
fn a_test_of_a_definition_writes_no_document() {
    let wire = with_orders();
    let body = format!(
        r#"{{"IndexDefinition":{{"Name":"T","Maps":["{MAP}"],"Reduce":"{REDUCE}",{TOTALS}}},"Query":"from index 'T'"}}"#
    );
    let answer = wire.call("POST /databases/db/indexes/test", &body);
    assert!(answer.status == 200 && answer.text().contains(r#""IsStale":false"#), "{}", answer.text());
    assert!(answer.text().contains(r#""ReduceResults":[{"Company":"a""#), "{}", answer.text());
    assert_eq!(
        wire.call("GET /databases/db/collections/stats", "").json().get("CountOfDocuments").unwrap().to_vec(),
        b"4"
    );
}
