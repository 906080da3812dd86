//! Indexes that group what their maps give: definitions with a reduce, and `group by`. Expected values are those of the
//! reference, but where a comment says otherwise.

use super::support::{Answer, Wire};

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for number in 0..200 {
        let company = ["A", "B", "C"][number % 3];
        let document = format!(
            r#"{{"Company":"{company}","Freight":{}.5,"Zero":{},"@metadata":{{"@collection":"Orders"}}}}"#,
            number,
            number % 5
        );
        wire.put(&format!("orders/{number}"), &document);
    }
    wire
}

fn put(wire: &Wire, name: &str, map: &str, reduce: &str) -> Answer {
    let definition = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Reduce":"{reduce}"}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &definition)
}

/// The results, as they are.
#[track_caller]
fn results(wire: &Wire, query: &str) -> String {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let text = answer.text();
    let (_, results) = text.split_once("\"Results\":[").unwrap();
    let results = results.split_once("],\"Includes\"").unwrap().0;
    results
        .replace(r#","@metadata":{"@change-vector":null}"#, "")
        .replace(r#","@metadata":{"@projection":true,"@change-vector":null}"#, "")
}

const BY_COMPANY: &str = "from o in docs.Orders select new { o.Company, Count = 1, Total = o.Freight }";
const SUMS: &str = "from r in results group r by r.Company into g select new { Company = g.Key, Count = g.Sum(x => x.Count), Total = g.Sum(x => x.Total) }";

#[test]
fn groups_follow_their_documents() {
    let wire = with_orders();
    assert_eq!(put(&wire, "A", BY_COMPANY, SUMS).status, 201);
    let all = r#"{"Company":"A","Count":67,"Total":6666.5},{"Company":"B","Count":67,"Total":6733.5},{"Company":"C","Count":66,"Total":6600.0}"#;
    assert_eq!(results(&wire, "from index 'A' order by Company"), all);
    assert_eq!(
        results(&wire, "from index 'A' where Count > 66 order by Total as double desc"),
        r#"{"Company":"B","Count":67,"Total":6733.5},{"Company":"A","Count":67,"Total":6666.5}"#
    );
    wire.put("orders/0", r#"{"Company":"D","Freight":1,"@metadata":{"@collection":"Orders"}}"#);
    wire.call("DELETE /databases/db/docs?id=orders/1", "");
    assert_eq!(
        results(&wire, "from index 'A' order by Company select Company, Count as N"),
        r#"{"Company":"A","N":66},{"Company":"B","N":66},{"Company":"C","N":66},{"Company":"D","N":1}"#
    );
    wire.call("DELETE /databases/db/docs?id=orders/0", "");
    assert_eq!(results(&wire, "from index 'A' where Company = 'd'"), "");
    let text = wire.call("GET /databases/db/indexes?name=A", "").text();
    assert!(text.contains(r#""Type":"MapReduce","#) && text.contains(r#""Reduce":"from r in results group"#), "{text}");
}

/// The reference reduces results of parts again, whatever the reduce does: averages and conditions go wrong there in large groups.
#[test]
fn what_cannot_be_reduced_again_is_reduced_whole() {
    let wire = with_orders();
    let map = "from o in docs.Orders select new { o.Company, Count = 1, Total = o.Freight }";
    let reduce = "from r in results group r by r.Company into g where g.Sum(x => x.Count) > 66 select new { Company = g.Key, Count = g.Count(), Total = g.Average(x => x.Total) }";
    assert_eq!(put(&wire, "Having", map, reduce).status, 201);
    assert_eq!(
        results(&wire, "from index 'Having' order by Company"),
        r#"{"Company":"A","Count":67,"Total":99.5},{"Company":"B","Count":67,"Total":100.5}"#
    );
}

#[test]
fn a_group_that_cannot_be_reduced_is_an_error_of_the_index() {
    let wire = with_orders();
    let map = "from o in docs.Orders select new { o.Company, Count = o.Zero }";
    let reduce = "from r in results group r by r.Company into g select new { Company = g.Key, Count = 10 / g.Min(x => x.Count) }";
    assert_eq!(put(&wire, "Err", map, reduce).status, 201);
    assert_eq!(results(&wire, "from index 'Err'"), "");
    let errors = wire.call("GET /databases/db/indexes/errors?name=Err", "").text();
    assert!(
        errors.contains(r#""Document":null,"Action":"Reduce","Error":"Attempted to divide by zero."}"#),
        "{errors}"
    );
    for number in 0..200 {
        if number % 5 == 0 {
            wire.call(&format!("DELETE /databases/db/docs?id=orders/{number}"), "");
        }
    }
    assert_eq!(
        results(&wire, "from index 'Err' order by Company"),
        r#"{"Company":"A","Count":10},{"Company":"B","Count":10},{"Company":"C","Count":10}"#
    );
}

#[test]
fn what_a_reduce_cannot_be_is_told() {
    let wire = with_orders();
    let answer =
        put(&wire, "Bad", BY_COMPANY, "from r in results group r by r.Company into g select new { A = g.Sum( }");
    answer.check_error(400, "Compilation.IndexCompilationException", "Failed to compile index Bad\n\n1:");
    assert!(answer.text().contains(r#""IndexDefinitionProperty":"Reduce","#), "{}", answer.text());
    let other = "from r in results group r by r.Company into g select new { Company = g.Key }";
    let message = "Failed to compile index 'Mis': maps and the reduce must give the same fields, but a map gives Company, Count, Total";
    put(&wire, "Mis", BY_COMPANY, other).check_error(400, "Compilation.IndexCompilationException", message);
    assert_eq!(put(&wire, "A", BY_COMPANY, SUMS).status, 201);
    let message = "The results of an index with a reduce cannot be deleted";
    let body = r#"{"Query":"from index 'A'"}"#;
    wire.check_error("DELETE /databases/db/queries", body, 400, "InvalidOperationException", message);
    let body = r#"{"Query":"from index 'A' select Company","ProjectionBehavior":"FromDocument"}"#;
    let message = "the results of an index with a reduce have no documents";
    wire.check_error("POST /databases/db/queries", body, 400, "InvalidQueryException", message);
}

#[test]
fn groups_are_projected_by_javascript() {
    let wire = with_orders();
    put(&wire, "A", BY_COMPANY, SUMS);
    assert_eq!(
        results(&wire, "from index 'A' as r where r.Company = 'A' select { C: r.Company, Mean: r.Total / r.Count }"),
        r#"{"C":"A","Mean":99.5}"#
    );
    let patch = r#"{"Query":{"Query":"from index 'A' update { this.x = 1 }"}}"#;
    wire.check_error(
        "PATCH /databases/db/queries",
        patch,
        400,
        "InvalidOperationException",
        "The results of an index with a reduce",
    );
}

/// As the reference answers them, but that 5 and 5.0 are one key here.
#[test]
fn a_query_groups_documents_by_an_index_of_its_own() {
    let wire = Wire::with_database();
    for (id, body) in [
        (
            "o/1",
            r#""Company":"A","Freight":10,"Tags":["x","y"],"Addr":{"City":"Oslo"},"Lines":[{"P":"p1","Q":1},{"P":"p2","Q":2}]"#,
        ),
        ("o/2", r#""Company":"a","Freight":2.5,"Tags":["y","x"],"Addr":{"City":"Rome"},"Lines":[{"P":"p1","Q":5}]"#),
        ("o/3", r#""Company":"A","Freight":7,"Tags":["x","y"],"Addr":{"City":"Oslo"},"Lines":[]"#),
        ("o/4", r#""Company":null,"Freight":null,"Tags":[],"Addr":null"#),
        ("o/5", r#""Company":5,"Freight":1"#),
        ("o/6", r#""Company":5.0,"Freight":1,"Lines":[{"P":"p1"},{"P":"p1"}]"#),
    ] {
        wire.put(id, &format!("{{{body},\"@metadata\":{{\"@collection\":\"Orders\"}}}}"));
    }
    let check = |query: &str, expected: &str| assert_eq!(results(&wire, query), expected, "{query}");
    check(
        "from Orders group by Company select Company, count() as N",
        r#"{"Company":"A","N":2},{"Company":"a","N":1},{"Company":null,"N":1},{"Company":5,"N":2}"#,
    );
    check(
        "from Orders group by Company where count() > 1 order by sum(Freight) as double desc select key(), sum(Freight)",
        r#"{"Company":"A","Freight":17},{"Company":5,"Freight":2}"#,
    );
    check(
        "from Orders group by Company order by Company",
        r#"{"Company":null,"Count":1,"Freight":0},{"Company":5,"Count":2,"Freight":2},{"Company":"A","Count":2,"Freight":17},{"Company":"a","Count":1,"Freight":2.5}"#,
    );
    check("from Orders group by Company where exact(Company = 'A') select sum(Freight) as F", r#"{"F":17}"#);
    check(
        "from Orders as o group by o.Addr.City as City order by count as long desc select City, count() as count",
        r#"{"City":null,"count":3},{"City":"Oslo","count":2},{"City":"Rome","count":1}"#,
    );
    check(
        "from Orders group by Lines[].P select key(), count() as N, sum(Lines[].Q) as Q",
        r#"{"Lines[].P":"p1","N":4,"Q":6},{"Lines[].P":"p2","N":1,"Q":2},{"Lines[].P":null,"N":2,"Q":0}"#,
    );
    check(
        "from Orders group by array(Tags) select key(), count() as N",
        r#"{"Tags":["x","y"],"N":2},{"Tags":["y","x"],"N":1},{"Tags":[],"N":1},{"Tags":null,"N":2}"#,
    );
    check(
        "from Orders group by Tags[], Company where Company = 'A' select key(), count()",
        r#"{"Key":{"Tags[]":"x","Company":"A"},"Count":2},{"Key":{"Tags[]":"y","Company":"A"},"Count":2},{"Key":{"Tags[]":"y","Company":"a"},"Count":1},{"Key":{"Tags[]":"x","Company":"a"},"Count":1}"#,
    );
    wire.put("o/5", r#"{"Company":"a","Freight":"many","@metadata":{"@collection":"Orders"}}"#);
    check("from Orders group by Company where Company = 5 select count()", r#"{"Count":1}"#);
    let text = wire.call("GET /databases/db/indexes", "").text();
    let told = r#""Type":"AutoMapReduce","#;
    assert!(text.contains(told) && text.contains(r#""Reduce":"Orders:[<Name:Company>]""#), "{text}");
    assert!(
        text.contains(r#""Maps":["Orders:[<Name:Count#Operation:Count>;<Name:Freight#Operation:Sum>]"]"#),
        "{text}"
    );
    for (query, message) in [
        (
            "from Orders group by Company select median(Freight)",
            "Unknown aggregation method in SELECT clause of the group by query: 'median'",
        ),
        (
            "from Orders group by Company where Foo = 1",
            "Field 'Foo' is neither an aggregation operation nor part of the group by key",
        ),
        ("from Orders group by id() select count()", "Unsupported method 'id' in GROUP BY"),
        ("from Orders group by A, A select count()", "'A' comes twice in GROUP BY"),
        ("from Orders group by A select max()", "max() needs one field"),
        ("from Orders group by A select min(B, C)", "min() needs one field"),
        ("from Orders select avg(A)", "avg may only be used in group by queries"),
        ("from index 'X' group by A select count()", "'group by' needs a collection"),
        ("from Orders group by A select sum(A)", "'A' is a key of the groups and cannot be added up in them"),
    ] {
        let body = format!(r#"{{"Query":"{query}"}}"#);
        wire.check_error("POST /databases/db/queries", &body, 400, "InvalidQueryException", message);
    }
}

/// The reference has none of them.
#[test]
fn least_greatest_and_average_numbers_follow_their_documents() {
    let wire = with_orders();
    let check = |query: &str, expected: &str| assert_eq!(results(&wire, query), expected, "{query}");
    let all = "from Orders group by Company order by Company select Company, min(Freight) as Least, max(Freight), avg(Freight) as Mean, count()";
    check(
        all,
        r#"{"Company":"A","Least":0.5,"max(Freight)":198.5,"Mean":99.5,"Count":67},{"Company":"B","Least":1.5,"max(Freight)":199.5,"Mean":100.5,"Count":67},{"Company":"C","Least":2.5,"max(Freight)":197.5,"Mean":100,"Count":66}"#,
    );
    check(
        "from Orders group by Company where max(Freight) > 198 order by min(Freight) as double desc select Company",
        r#"{"Company":"B"},{"Company":"A"}"#,
    );
    check(
        "from Orders group by Company where Mean between 100 and 100.5 order by Mean as double select key(), avg(Freight) as Mean",
        r#"{"Company":"C","Mean":100},{"Company":"B","Mean":100.5}"#,
    );
    check(
        "from Orders group by Company where Company = 'A'",
        r#"{"Company":"A","Count":67,"avg(Freight)":99.5,"max(Freight)":198.5,"min(Freight)":0.5}"#,
    );
    // The first and the last go, and one has no number any more.
    wire.call("DELETE /databases/db/docs?id=orders/0", "");
    wire.call("DELETE /databases/db/docs?id=orders/199", "");
    wire.put("orders/3", r#"{"Company":"A","Freight":null,"@metadata":{"@collection":"Orders"}}"#);
    wire.put("orders/200", r#"{"Company":"D","@metadata":{"@collection":"Orders"}}"#);
    wire.put("orders/201", r#"{"Company":"A","Freight":[-7,[1000]],"@metadata":{"@collection":"Orders"}}"#);
    check(
        all,
        r#"{"Company":"A","Least":-7,"max(Freight)":1000,"Mean":114.26119402985074,"Count":67},{"Company":"B","Least":1.5,"max(Freight)":196.5,"Mean":99,"Count":66},{"Company":"C","Least":2.5,"max(Freight)":197.5,"Mean":100,"Count":66},{"Company":"D","Least":null,"max(Freight)":null,"Mean":null,"Count":1}"#,
    );
    wire.call("DELETE /databases/db/docs?id=orders/201", "");
    // A text is an error of its document; the rest of the group goes on.
    wire.put("orders/6", r#"{"Company":"A","Freight":"6.5","@metadata":{"@collection":"Orders"}}"#);
    check(
        "from Orders group by Company where Company = 'A' select min(Freight) as Least, max(Freight) as Most, count()",
        r#"{"Least":9.5,"Most":198.5,"Count":65}"#,
    );
    let errors = wire.call("GET /databases/db/indexes/errors", "").text();
    assert!(errors.contains("'avg(Freight)' needs numbers, and there is another value"), "{errors}");
    let text = wire.call("GET /databases/db/indexes", "").text();
    let name = "Auto/Orders/ByCountAndavg(Freight)Andmax(Freight)Andmin(Freight)ReducedByCompany";
    assert!(text.contains(name), "{text}");
    assert!(text.contains("<Name:avg(Freight)#Operation:Average>;<Name:max(Freight)#Operation:Max>;"), "{text}");
    let body = r#"{"Query":"from Orders group by Company select min(Freigth)","WaitForNonStaleResults":true}"#;
    let answer = wire.call("POST /databases/db/queries", body).text();
    assert!(answer.contains("`Freigth`") && answer.contains("`Freight`"), "{answer}");
}

/// With lines of documents as groups, a number goes to the group of its line, and one outside of the lines to all.
#[test]
fn numbers_of_lines_are_measured_by_line() {
    let wire = Wire::with_database();
    wire.put("o/1", r#"{"F":5,"Ns":[1,9],"Lines":[{"P":"a","Q":1},{"P":"b","Q":8}],"@metadata":{"@collection":"Os"}}"#);
    wire.put("o/2", r#"{"F":7,"Ns":[],"Lines":[{"P":"a","Q":3},{"P":"a"}],"@metadata":{"@collection":"Os"}}"#);
    let query = "from Os group by Lines[].P select key() as P, min(Lines[].Q) as Q, avg(Lines[].Q) as A, max(F) as F, max(Ns) as N, sum(F) as S";
    assert_eq!(
        results(&wire, query),
        r#"{"P":"a","Q":1,"A":2,"F":7,"N":9,"S":19},{"P":"b","Q":8,"A":8,"F":5,"N":9,"S":5}"#
    );
}
