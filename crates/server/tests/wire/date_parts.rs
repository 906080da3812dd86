//! Parts of dates and durations in paths: `Bought.Year`. Expected are the reference's answers.

use super::support::Wire;

fn with_books() -> Wire {
    let wire = Wire::with_database();
    let book = r#"{"Bought":"2023-04-30T08:30:00.0000000Z","Off":"2023-04-30T23:30:05.1234567+05:00","Day":"2023-04-30",
        "Span":"1.02:10:00","Dates":["2020-01-02T00:00:00","2021-05-06T00:00:00"],"Editions":[{"At":"2020-01-01T00:00:00"},{"At":"x"}],
        "Notes":{"by":"Olga","state":"worn"},"@metadata":{"@collection":"Books"}}"#;
    wire.put("books/1", &book.replace('\n', " "));
    wire.put("books/2", r#"{"Bought":"2021-11-02T00:00:00.0000000Z","@metadata":{"@collection":"Books"}}"#);
    wire.put("books/3", r#"{"Bought":{"Year":2023},"@metadata":{"@collection":"Books"}}"#);
    wire
}

#[track_caller]
fn results(wire: &Wire, query: &str) -> Vec<json::Value> {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let Some(json::Value::Array(results)) = answer.json().get("Results").cloned() else { panic!("{}", answer.text()) };
    results
}

#[track_caller]
fn check_found(wire: &Wire, query: &str, expected: &str) {
    let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    let found: Vec<String> = results(wire, query).iter().filter_map(id).collect();
    assert_eq!(found.join(" "), expected, "{query}");
}

/// * `expected`: the value `X` of each result.
#[track_caller]
fn check_selected(wire: &Wire, query: &str, expected: &str) {
    let value = |result: &json::Value| {
        result.get("X").map_or("-".to_owned(), |value| String::from_utf8(value.to_vec()).unwrap())
    };
    let values: Vec<String> = results(wire, query).iter().map(value).collect();
    assert_eq!(values.join(" "), expected, "{query}");
}

#[test]
fn conditions_find_parts_of_dates_and_durations() {
    let wire = with_books();
    for (condition, expected) in [
        ("Bought.Year = 2023", "books/1 books/3"),
        ("Bought.Year = 2021", "books/2"),
        ("Bought.Year between 2020 and 2022", "books/2"),
        ("Bought.Year in (2021, 2022)", "books/2"),
        ("Bought.Month = 4 and Bought.Day = 30", "books/1"),
        ("Bought.DayOfWeek = 'Sunday'", "books/1"),
        ("Bought.Date = '2023-04-30T00:00:00.0000000Z'", "books/1"),
        ("Bought.TimeOfDay = '08:30:00'", "books/1"),
        ("startsWith(Bought.Year, '202')", "books/1 books/2 books/3"),
        ("exists(Bought.Month)", "books/1 books/2"),
        ("Off.Hour = 23", "books/1"),
        ("Day.Year = 2023", "books/1"),
        ("Span.Days = 1", "books/1"),
        ("Span.TotalHours > 25", "books/1"),
        ("Dates.Year = 2021", "books/1"),
        ("Editions[].At.Year = 2020", "books/1"),
        // The reference fails to index a document whose date has no such part.
        ("Bought.Nope = 2023", ""),
    ] {
        check_found(&wire, &format!("from Books where {condition}"), expected);
    }
    check_found(&wire, "from Books as b where b.Bought.Year = 2021", "books/2");
    check_found(&wire, "from Books where Bought.Day > 0 order by Bought.Day as long", "books/2 books/1");
    check_found(&wire, "from Books where Bought.Day > 0 order by Bought.Day as long desc", "books/1 books/2");
    // JavaScript has no such members.
    check_found(&wire, "from Books filter Bought.Year = 2023", "books/3");
}

#[test]
fn columns_have_parts_of_dates_and_durations() {
    let wire = with_books();
    check_selected(&wire, "from Books select Bought.Year as X", "2023 2021 2023");
    check_selected(&wire, "from Books as b select b.Bought.Month as X", "4 11 -");
    check_selected(&wire, "from Books select distinct Bought.Year as X", "2023 2021");
    for (path, expected) in [
        ("Bought.Date", r#""2023-04-30T00:00:00.0000000Z""#),
        ("Bought.Ticks", "638184402000000000"),
        ("Bought.DayOfWeek", r#""Sunday""#),
        ("Bought.DayOfYear", "120"),
        ("Bought.Kind", r#""Utc""#),
        ("Off.Offset", r#""05:00:00""#),
        ("Off.UtcDateTime", r#""2023-04-30T18:30:05.1234567Z""#),
        ("Off.Hour", "23"),
        ("Span.Hours", "2"),
        ("Dates.Year", "[2020,2021]"),
        ("Editions[].At.Year", "[2020,null]"),
        ("Notes.Count", "2"),
        ("Day.Count", "10"),
    ] {
        check_selected(&wire, &format!("from Books where id() = 'books/1' select {path} as X"), expected);
    }
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from d in docs.Books select new { d.Bought }"],"Fields":{"Bought":{"Storage":"Yes"}}}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    check_selected(&wire, "from index 'I' where Bought < '2022-01-01' select Bought.Year as X", "2021");
}

#[test]
fn parts_of_dates_are_keys_of_groups_and_added_up() {
    let wire = with_books();
    check_selected(
        &wire,
        "from Books group by Bought.Year order by count() as long select Bought.Year as X, count() as C",
        "2021 2023",
    );
    check_selected(&wire, "from Books group by Day where Day = '2023-04-30' select sum(Bought.Year) as X", "2023");
}
