//! `include` in queries: paths are looked for in the results, whatever they are. Expected answers are those of the reference.

use super::support::Wire;

fn wire() -> Wire {
    let wire = Wire::with_database();
    for number in 1..=3 {
        let company = format!(r#"{{"Boss":"e/{number}","@metadata":{{"@collection":"Companies"}}}}"#);
        wire.put(&format!("c/{number}"), &company);
        wire.put(&format!("e/{number}"), r#"{"@metadata":{"@collection":"Employees"}}"#);
    }
    for (id, body) in [
        ("o/1", r#""Company":"c/1","By":"e/1","Lines":[{"P":"e/2"},{"P":"e/3"}]"#),
        ("o/2", r#""Company":"c/2","By":"e/2","Lines":[]"#),
        ("o/3", r#""Company":"c/1","By":null"#),
    ] {
        wire.put(id, &format!(r#"{{{body},"@metadata":{{"@collection":"Orders"}}}}"#));
    }
    let map = "from o in docs.Orders select new { o.Company, N = 1, By = new[] { o.By } }";
    let reduce = "from r in results group r by r.Company into g select new { Company = g.Key, N = g.Sum(x => x.N), By = g.SelectMany(x => x.By).ToArray() }";
    let definition = format!(r#"{{"Indexes":[{{"Name":"R","Maps":["{map}"],"Reduce":"{reduce}"}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &definition).status, 201);
    wire
}

/// The ids of what is included, in order.
#[track_caller]
fn check(wire: &Wire, query: &str, expected: &[&str]) {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let mut ids: Vec<&str> = answer.get("Includes").unwrap().members().iter().map(|(id, _)| id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, expected, "{query}");
}

#[test]
fn groups_refer_to_documents() {
    let wire = wire();
    check(&wire, "from index 'R' include Company", &["c/1", "c/2"]);
    check(&wire, "from index 'R' as r include r.Company", &["c/1", "c/2"]);
    check(&wire, "from index 'R' where N > 1 include By", &["e/1"]);
    check(&wire, "from index 'R' include By[]", &["e/1", "e/2"]);
    check(&wire, "from index 'R' order by Company limit 1 include Company", &["c/1"]);
    check(&wire, "from index 'R' filter N > 1 include Company", &["c/1"]);
    check(&wire, "from Orders group by Company include Company", &["c/1", "c/2"]);
    check(&wire, "from Orders group by Company select key() as C, count() include C", &["c/1", "c/2"]);
    check(&wire, "from Orders group by Company, By select key() as K, count() include K.Company", &["c/1", "c/2"]);
}

#[test]
fn what_is_projected_refers_to_documents() {
    let wire = wire();
    check(&wire, "from index 'R' select N include Company", &[]);
    check(&wire, "from index 'R' select Company as C include C", &["c/1", "c/2"]);
    check(&wire, "from index 'R' as r select { Company: r.Company } include r.Company", &["c/1", "c/2"]);
    check(&wire, "from index 'R' select distinct Company include Company", &["c/1", "c/2"]);
    check(&wire, "from Orders select Company include Company", &["c/1", "c/2"]);
    check(&wire, "from Orders select By include Company", &[]);
    check(&wire, "from Orders select Lines[].P as P include P", &["e/2", "e/3"]);
    check(&wire, "from Orders as o select { X: o.Company } include o.Company", &[]);
    // Results are projections: the documents that they are made of may be asked for.
    check(&wire, "from Companies as c select { Boss: c.Boss, Me: id(c) } include Me limit 1", &["c/1"]);
    let declared = "declare function f(o) { include(o.By); return [{ C: o.Company }, { C: o.By }]; }";
    check(&wire, &format!("{declared} from Orders as o select f(o) include C"), &["c/1", "c/2", "e/1", "e/2"]);
    let declared = "declare function f(o) { include(o.By); return { C: o.Company }; }";
    check(&wire, &format!("{declared} from Orders as o select f(o) include C"), &["c/1", "c/2", "e/1", "e/2"]);
}

/// The alias of `from` in any case, and those of `load`, are cut off, in quotes or not. Where there are aliases, a path begins with one of
/// them.
#[test]
fn paths_may_begin_with_an_alias() {
    let wire = wire();
    check(&wire, "from Orders as o include 'o.Lines[].P'", &["e/2", "e/3"]);
    check(&wire, "from Orders as o include o.Lines[].P, 'o.Company'", &["c/1", "c/2", "e/2", "e/3"]);
    check(&wire, "from Orders as o include 'O.Company', 'By'", &["c/1", "c/2", "e/1", "e/2"]);
    check(&wire, "from Orders include 'o.Company'", &[]);
    check(&wire, "from Orders include 'Lines[].P'", &["e/2", "e/3"]);
    check(&wire, "from index 'R' as r include 'r.Company'", &["c/1", "c/2"]);
    check(&wire, "from Orders as o load o.Company as c include c.Company", &["c/1", "c/2"]);
    for (query, message) in [
        (
            "from Orders as o include Lines[].P",
            "Unknown alias Lines[], but there are aliases specified in the query (o)",
        ),
        ("from Orders as o include 'x.Company'", "Unknown alias x, but there are aliases specified in the query (o)"),
        (
            "from Orders as o load o.Company as c include 'C.Company'",
            "Unknown alias C, but there are aliases specified in the query (o, c)",
        ),
    ] {
        let body = format!(r#"{{"Query":"{query}"}}"#);
        wire.check_error("POST /databases/db/queries", &body, 400, "InvalidQueryException", message);
    }
}
