//! Facets: results counted by terms and ranges, and what their numbers come to. Expected values are those of the reference, but where a
//! comment says otherwise.

use super::support::{Answer, Wire};

const ORDERS: [&str; 6] = [
    r#"{"currency":"EUR","product":"Milk","total":3,"region":1,"items":["a","b"],"flag":true}"#,
    r#"{"currency":"NIS","product":"Milk","total":9.5,"region":1,"items":["a"],"flag":false}"#,
    r#"{"currency":"EUR","product":"iPhone","total":3333,"region":2,"items":["b","c"],"flag":null}"#,
    r#"{"currency":null,"product":"","total":20,"region":2,"items":[],"flag":true}"#,
    r#"{"currency":"PLN","product":null,"total":4,"region":3,"items":null,"flag":false}"#,
    r#"{"currency":"EUR","total":7}"#,
];

const SETUP: &str = r#"{"Facets":[{"FieldName":"product","DisplayFieldName":null,"Options":null,"Aggregations":{}},
{"FieldName":"region","DisplayFieldName":"R","Options":{"TermSortMode":"countdesc","PageSize":1,"IncludeRemainingTerms":true},
"Aggregations":{"Sum":[{"Name":"total","DisplayName":"T"}],"Max":[{"Name":"total","DisplayName":null}]}}],
"RangeFacets":[{"Ranges":["total <= 5","total > 5 and total < $p"],"Aggregations":{"Average":[{"Name":"total"}]}}]}"#;

fn with_orders() -> Wire {
    let wire = Wire::with_database();
    for (number, order) in ORDERS.iter().enumerate() {
        let body = order.strip_suffix('}').unwrap();
        let document = format!(r#"{body},"@metadata":{{"@collection":"Orders"}}}}"#);
        wire.put(&format!("orders/{}", number + 1), &document);
    }
    wire.put("facets/1", SETUP);
    wire.put("facets/2", r#"{"RangeFacets":[{"Ranges":["total = 5"]}]}"#);
    wire.put("facets/3", r#"{"Facets":[{"FieldName":"nope"}]}"#);
    let map = "from o in docs.Orders select new { o.currency, o.product, o.total, o.region, o.items, o.flag }";
    let body = format!(r#"{{"Indexes":[{{"Name":"I","Maps":["{map}"]}}]}}"#);
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    wire
}

fn ask(wire: &Wire, text: &str, parameters: &str) -> Answer {
    let body = format!(r#"{{"Query":"{text}","QueryParameters":{parameters},"WaitForNonStaleResults":true}}"#);
    wire.call("POST /databases/db/queries", &body)
}

/// The values of a result as text: `[name ]range=count[ Sum=..]`, and behind a bar what remains.
fn shown(facet: &json::Value) -> String {
    let text = |value: &json::Value| match value {
        json::Value::Number(text) | json::Value::String(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    let list = |key: &str| match facet.get(key) {
        Some(json::Value::Array(values)) => values.clone(),
        other => panic!("{key}: {other:?}"),
    };
    let value = |value: &json::Value| {
        let mut line = String::new();
        if let Some(json::Value::String(name)) = value.get("Name") {
            line = format!("{name} ");
        }
        line += &format!("{}={}", text(value.get("Range").unwrap()), text(value.get("Count").unwrap()));
        for key in ["Average", "Max", "Min", "Sum"] {
            if let Some(number) = value.get(key) {
                line += &format!(" {key}={}", text(number));
            }
        }
        line
    };
    let mut line = format!("{}: ", text(facet.get("Name").unwrap()));
    line += &list("Values").iter().map(value).collect::<Vec<_>>().join(", ");
    let (hits, terms) = (facet.get("RemainingHits").unwrap(), facet.get("RemainingTermsCount").unwrap());
    if text(terms) != "0" {
        let names = list("RemainingTerms").iter().map(text).collect::<Vec<_>>().join(" ");
        line += &format!(" | {} in {}: {names}", text(hits), text(terms));
    }
    line
}

#[track_caller]
fn check(wire: &Wire, query: &str, parameters: &str, expected: &str) {
    let answer = ask(wire, &format!("from index 'I' {query}"), parameters);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    assert_eq!(results.iter().map(shown).collect::<Vec<_>>().join("; "), expected, "{query} {parameters}");
}

#[test]
fn an_answer_has_the_shape_of_the_reference() {
    let wire = with_orders();
    let text =
        ask(&wire, "from index 'I' where region = 1 select facet(product), facet(total < 5, max(total))", "{}").text();
    assert!(text.starts_with(r#"{"TotalResults":2,"DurationInMs":"#), "{text}");
    let results = concat!(
        r#","IndexName":"I","Results":[{"Name":"product","Values":[{"Name":null,"Count":2,"Range":"milk"}],"#,
        r#""RemainingHits":0,"RemainingTermsCount":0,"RemainingTerms":[]},"#,
        r#"{"Name":"total","Values":[{"Name":"total","Max":3,"Count":1,"Range":"total < 5"}],"#,
        r#""RemainingHits":0,"RemainingTermsCount":0,"RemainingTerms":[]}],"Includes":{},"IndexTimestamp":""#
    );
    assert!(text.contains(results), "{text}");
}

#[test]
fn terms_are_counted() {
    let wire = with_orders();
    for (query, expected) in [
        // All entries, in the order of a walk through the terms.
        ("select facet(product)", "product: NULL_VALUE=1, EMPTY_STRING=1, iphone=1, milk=2"),
        ("select facet(items)", "items: NULL_VALUE=1, a=2, b=2, c=1"),
        ("select facet(total)", "total: 20=1, 3=1, 3333=1, 4=1, 7=1, 9.5=1"),
        ("select facet(flag), facet(region)", "flag: NULL_VALUE=1, false=2, true=2; region: 1=2, 2=2, 3=1"),
        // Those of a condition, by their names.
        ("where exists(region) select facet(currency)", "currency: eur=2, nis=1, NULL_VALUE=1, pln=1"),
        ("where exists(region) select facet(product)", "product: EMPTY_STRING=1, iphone=1, milk=2, NULL_VALUE=1"),
        ("where region = 99 select facet(product), facet(region)", "product: ; region: "),
        // The reference looks for a field 'P' there.
        ("select facet('product') as P", "P: NULL_VALUE=1, EMPTY_STRING=1, iphone=1, milk=2"),
        ("select facet()", "@AllResults: @AllResults=6"),
        ("where region = 99 select facet()", "@AllResults: "),
        // Not a part of what is looked at, as with the reference.
        ("order by total select facet(region) limit 1 offset 1", "region: 1=2, 2=2, 3=1"),
        // The reference does not know the alias.
        ("as o where o.region = 1 select facet(o.product)", "product: milk=2"),
    ] {
        check(&wire, query, "{}", expected);
    }
}

#[test]
fn terms_come_in_pages() {
    let wire = with_orders();
    for (query, options, expected) in [
        (
            "facet(region, $o)",
            r#"{"TermSortMode":"CountDesc","PageSize":2,"IncludeRemainingTerms":true}"#,
            "region: 1=2, 2=2 | 1 in 1: 3",
        ),
        (
            "facet(region, $o)",
            r#"{"TermSortMode":"CountAsc","PageSize":1,"Start":1,"IncludeRemainingTerms":true}"#,
            "region: 1=2 | 2 in 1: 2",
        ),
        ("facet(region, $o)", r#"{"TermSortMode":"ValueDesc","PageSize":2}"#, "region: 3=1, 2=2 | 2 in 1: "),
        ("facet(region, $o)", r#"{"PageSize":0,"IncludeRemainingTerms":true}"#, "region:  | 5 in 3: 1 2 3"),
        // The reference gives a negative count.
        ("facet(region, $o)", r#"{"Start":5}"#, "region: "),
        ("facet(currency, $o)", r#"{"TermSortMode":"ValueDesc","Start":1}"#, "currency: pln=1, nis=1, eur=3"),
        (
            "facet(currency, max(region), $o)",
            r#"{"TermSortMode":"ValueDesc","PageSize":1,"IncludeRemainingTerms":true}"#,
            "currency: region pln=1 Max=3 | 5 in 3: NULL_VALUE nis eur",
        ),
        (
            "facet(currency, max(region), $o)",
            r#"{"TermSortMode":"CountDesc","Start":1,"PageSize":1,"IncludeRemainingTerms":true}"#,
            "currency: region nis=1 Max=1 | 2 in 2: NULL_VALUE pln",
        ),
    ] {
        check(&wire, &format!("select {query}"), &format!(r#"{{"o":{options}}}"#), expected);
    }
    check(&wire, r#"select facet(region, '{\"PageSize\":1}')"#, "{}", "region: 1=2 | 3 in 2: ");
}

#[test]
fn ranges_are_counted() {
    let wire = with_orders();
    for (query, parameters, expected) in [
        (
            "select facet(total < 5, total >= 5 and total < 100, total > 5000)",
            "{}",
            "total: total < 5=2, total >= 5 and total < 100=3, total > 5000=0",
        ),
        (
            "select facet(total < $p0, total between $p1 and $p2) as Cost",
            r#"{"p0":9.5,"p1":5.5,"p2":20.5}"#,
            "Cost: total < 9.5=3, total between 5.5 and 20.5=3",
        ),
        ("where region = 1 select facet(total < 5)", "{}", "total: total < 5=1"),
        ("select facet(product < 'n', product >= 'n')", "{}", "product: product < n=4, product >= n=0"),
        (
            "where region = 99 select facet(total < 5), facet(total < 5, sum(total)) as s",
            "{}",
            "total: total < 5=0; s: total total < 5=0",
        ),
        // The reference looks at two comparisons only, and refuses whole numbers beside others.
        (
            "select facet(total > 1 and total < 8 and total < 5.5)",
            "{}",
            "total: total > 1 and total < 8 and total < 5.5=2",
        ),
        // Which of two bounds is the narrower one is seen as the field has its values. The reference lower-cases no bounds of facets.
        ("select facet(product > 'a' and product > 'J')", "{}", "product: product > a and product > J=2"),
        ("select facet(product > 'J' and product > 'a')", "{}", "product: product > J and product > a=2"),
        ("select facet(product < 'n' and product < 'N')", "{}", "product: product < n and product < N=4"),
        ("select facet(total <= 1e400, total > 1e400)", "{}", "total: total <= 1e400=6, total > 1e400=0"),
    ] {
        check(&wire, query, parameters, expected);
    }
}

#[test]
fn numbers_are_aggregated() {
    let wire = with_orders();
    for (query, expected) in [
        (
            "where region = 1 select facet(product, sum(total), avg(total), min(total), max(total))",
            "product: total milk=2 Average=6.25 Max=9.5 Min=3 Sum=12.5",
        ),
        (
            "select facet(product, sum(total) as T1, sum(total) as T2, avg(total) as T2, sum(region) as Q)",
            "product: T1 EMPTY_STRING=1 Sum=20, T2 EMPTY_STRING=1 Average=20 Sum=20, Q EMPTY_STRING=1 Sum=2, \
             T1 iphone=1 Sum=3333, T2 iphone=1 Average=3333 Sum=3333, Q iphone=1 Sum=2, \
             T1 milk=2 Sum=12.5, T2 milk=2 Average=6.25 Sum=12.5, Q milk=2 Sum=2, \
             T1 NULL_VALUE=1 Sum=4, T2 NULL_VALUE=1 Average=4 Sum=4, Q NULL_VALUE=1 Sum=3",
        ),
        // Who has no number counts as 0.
        (
            "where currency = 'EUR' select facet(currency, min(region), avg(region))",
            "currency: region eur=3 Average=1 Min=0",
        ),
        // The reference gives 7, the number before in the entry that has no region.
        (
            "select facet(sum(total), max(region))",
            "@AllResults: total @AllResults=6 Sum=3376.5, region @AllResults=6 Max=3",
        ),
        (
            "select facet(items, sum(total))",
            "items: total a=2 Sum=12.5, total b=2 Sum=3336, total c=1 Sum=3333, total NULL_VALUE=1 Sum=4",
        ),
        (
            "where region = 1 select facet(total < 5, total > 5, sum(total), avg(region))",
            "total: total total < 5=1 Sum=3, region total < 5=1 Average=1, total total > 5=1 Sum=9.5, region total > 5=1 Average=1",
        ),
        ("select facet(region, sum(nope))", "region: nope 1=2 Sum=0, nope 2=2 Sum=0, nope 3=1 Sum=0"),
    ] {
        check(&wire, query, "{}", expected);
    }
}

#[test]
fn a_document_has_facets() {
    let wire = with_orders();
    let expected = "product: EMPTY_STRING=1, iphone=1, milk=2, NULL_VALUE=1; \
                    R: T 1=2 Sum=12.5, total 1=2 Max=9.5 | 3 in 2: 2 3; \
                    total: total total <= 5=2 Average=3.5, total total > 5 and total < 8=1 Average=7; \
                    flag: false=2, NULL_VALUE=1, true=2";
    check(&wire, "select facet(id('facets/1')), facet(flag)", r#"{"p":8}"#, expected);
    // Its etag follows the document, which is of no collection of the index.
    let first = ask(&wire, "from index 'I' select facet(id('facets/1'))", r#"{"p":8}"#).json();
    wire.put("facets/1", r#"{"Facets":[{"FieldName":"flag"}]}"#);
    let second = ask(&wire, "from index 'I' select facet(id('facets/1'))", r#"{"p":8}"#).json();
    assert_ne!(first.get("ResultEtag"), second.get("ResultEtag"));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let wire = with_orders();
    let invalid = "InvalidQueryException";
    for (query, exception, message) in [
        ("from Orders select facet(region)", invalid, "Facet query must be executed against static index."),
        ("from index 'I' select distinct facet(region)", invalid, "Cannot use SELECT DISTINCT in a facet query"),
        ("from index 'I' select facet(region), region", invalid, "Unsupported expression"),
        ("from index 'I' select facet(region, product)", invalid, "Unsupported expression"),
        ("from index 'I' select facet(nope)", invalid, "Field nope not found in Index 'I'."),
        ("from index 'I' select facet(region), facet(region)", invalid, "Duplicate alias 'region' detected"),
        ("from index 'I' select facet(region = 1)", invalid, "Unsupported operator in a range of a facet query"),
        ("from index 'I' select facet(region > 1 or region < 0)", invalid, "Unsupported operator in a range"),
        (
            "from index 'I' select facet(region > 1, total < 5)",
            invalid,
            "Facet ranges must be defined on the same field",
        ),
        (
            "from index 'I' select facet(region > 1 and total < 5)",
            invalid,
            "Facet ranges must be defined on the same field",
        ),
        ("from index 'I' select facet(region > 'x' and region > 5)", invalid, "values of the same type"),
        ("from index 'I' select facet(region > 'x' and region < 5)", invalid, "Incompatible types"),
        ("from index 'I' select facet(region > null)", invalid, "A range of a facet needs numbers or texts"),
        ("from index 'I' select facet(region, count(total))", invalid, "Method 'count' is not supported"),
        ("from index 'I' select facet(region, sum(total, region))", invalid, "Invalid number of arguments of sum"),
        ("from index 'I' select facet(total < 10, $o)", invalid, "Options are not supported in range facets."),
        ("from index 'I' select facet(region, $x)", invalid, "The options of facet() must be an object"),
        ("from index 'I' select facet(region, '{}', $n)", invalid, "Unsupported expression"),
        ("from index 'I' select facet(region, $n)", invalid, "'TermSortMode' of facet() cannot be 'Nope'"),
        ("from index 'I' select facet(id('facets/1'), sum(total))", invalid, "must not have any additional arguments"),
        ("from index 'I' select facet(id())", invalid, "id() in facet query must have one argument"),
        ("from index 'I' select facet(id('facets/2'))", invalid, "Facet setup 'facets/2': Unsupported operator"),
        ("from index 'I' select facet(id('facets/3'))", invalid, "Field nope not found in Index 'I'."),
        ("from index 'I' select facet(id('none'))", "DocumentDoesNotExistException", "Document 'none' does not exist."),
    ] {
        let answer = ask(&wire, query, r#"{"o":{"PageSize":1},"x":"x","n":{"TermSortMode":"Nope"}}"#);
        let text = answer.text();
        assert!(answer.status == 400 && text.contains(exception) && text.contains(message), "{query}: {text}");
    }
    let many = vec!["total < 5"; 1024].join(",");
    let text = ask(&wire, &format!("from index 'I' select facet({many})"), "{}").text();
    assert!(text.contains("FACETS_MAX"), "{text}");
    let body = r#"{"Query":"from index 'I' select facet(region)"}"#;
    for request in ["POST /databases/db/streams/queries", "DELETE /databases/db/queries"] {
        let answer = wire.call(request, body);
        assert!(answer.status == 501 && answer.text().contains("facet()"), "{request}: {}", answer.text());
    }
}

/// A path that a facet is called by includes the documents whose ids are its values.
#[test]
fn documents_that_values_of_a_facet_name_are_included() {
    let wire = Wire::with_database();
    wire.put("employees/1", r#"{"First":"Ann","@metadata":{"@collection":"Employees"}}"#);
    wire.put("employees/2", r#"{"First":"Bob","@metadata":{"@collection":"Employees"}}"#);
    for (id, employee) in [("orders/1", "employees/1"), ("orders/2", "employees/3"), ("orders/3", "employees/1")] {
        wire.put(id, &format!(r#"{{"Employee":"{employee}","@metadata":{{"@collection":"Orders"}}}}"#));
    }
    let body = r#"{"Indexes":[{"Name":"I","Maps":["from o in docs.Orders select new { o.Employee }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", body).status, 201);
    let included = |query: &str| {
        let answer = ask(&wire, query, "{}");
        let answer = answer.json();
        let includes = answer.get("Includes").map(json::Value::members).unwrap_or_default();
        includes.iter().map(|(id, _)| id.clone()).collect::<Vec<String>>()
    };
    assert_eq!(included("from index 'I' select facet(Employee) include Employee"), ["employees/1"]);
    assert_eq!(included("from index 'I' select facet(Employee) include Other"), [""; 0]);
    assert_eq!(included("from index 'I' select facet(Employee)"), [""; 0]);
}

#[test]
fn a_sum_beyond_all_numbers_is_named() {
    let wire = Wire::with_database();
    for id in ["a/1", "a/2"] {
        wire.put(id, r#"{"A":1.7e308,"G":"x","@metadata":{"@collection":"As"}}"#);
    }
    let body = r#"{"Indexes":[{"Name":"I","Maps":["from a in docs.As select new { a.A, a.G }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", body).status, 201);
    let answer = ask(&wire, "from index 'I' select facet(G, sum(A))", "{}").text();
    assert!(answer.contains(r#""Sum":"Infinity""#), "{answer}");
}
