//! Queries by dates: what the reference found of the same documents, unless said otherwise.

use super::support::Wire;

/// Documents by id, and their `D`.
const DOCUMENTS: [(&str, &str); 11] = [
    ("plain7", "2020-01-01T10:00:00.0000000"),
    ("z7", "2020-01-01T10:00:00.0000000Z"),
    ("nofrac", "2020-01-01T10:00:00"),
    ("nofracz", "2020-01-01T10:00:00Z"),
    ("ms", "2020-01-01T10:00:00.000Z"),
    ("off", "2020-01-01T12:00:00.0000000+02:00"),
    ("next", "2020-01-01T10:00:00.0000001Z"),
    ("day", "2020-01-01"),
    ("midnight", "2020-01-01T00:00:00.0000000"),
    ("min", "2020-01-01T10:00"),
    ("text", "hello"),
];
const TEN: &str = "ms nofrac nofracz off plain7 z7";

#[track_caller]
fn check(wire: &Wire, asked: &str, date: &str, expected: &str) {
    let body = format!(
        r#"{{"Query":"from {asked}","QueryParameters":{{"p":"{date}","q":"2020-01-01T10:00:00Z"}},"WaitForNonStaleResults":true}}"#
    );
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{asked} {date}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let id = |result: &json::Value| result.get("@metadata")?.get("@id")?.as_str().map(str::to_owned);
    let mut found: Vec<String> = results.iter().filter_map(id).collect();
    found.sort();
    assert_eq!(found.join(" "), expected, "{asked} {date}");
}

fn with_dates() -> Wire {
    let wire = Wire::with_database();
    for (id, date) in DOCUMENTS {
        wire.put(id, &format!(r#"{{"D":"{date}","@metadata":{{"@collection":"Ds"}}}}"#));
    }
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from d in docs.Ds select new { d.D }"],"Fields":{}}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    wire
}

#[test]
fn a_date_equals_itself_however_it_is_written() {
    let wire = with_dates();
    for spelled in DOCUMENTS.iter().take(6).map(|(_, date)| *date) {
        check(&wire, "Ds where D = $p", spelled, TEN);
        check(&wire, "index 'I' where D = $p", spelled, TEN);
        check(&wire, "Ds where exact(D = $p)", spelled, TEN);
        check(&wire, "Ds where D != $p", spelled, "day midnight min next text");
    }
    check(&wire, "Ds where D = $p", "2020-01-01", "day midnight");
    // Without seconds it is a text like any other.
    check(&wire, "Ds where D = $p", "2020-01-01T10:00", "min");
    check(&wire, "index 'I' where D = $p", "2020-01-01T10:00", "min");
    // The reference compares 'in' as texts, of which it makes the digits alike: not those with another end.
    check(&wire, "Ds where D in ($p)", "2020-01-01T10:00:00", TEN);
}

#[test]
fn ranges_of_dates_have_dates_alone() {
    let wire = with_dates();
    let up_to_ten = format!("day midnight {TEN}");
    for spelled in ["2020-01-01T10:00:00.0000000", "2020-01-01T12:00:00+02:00"] {
        check(&wire, "Ds where D >= $p", spelled, "ms next nofrac nofracz off plain7 z7");
        check(&wire, "index 'I' where D > $p", spelled, "next");
        check(&wire, "Ds where D <= $p", spelled, &up_to_ten);
        check(&wire, "Ds where D < $p", spelled, "day midnight");
    }
    check(&wire, "Ds where D > $p", "2020-01-01", "ms next nofrac nofracz off plain7 z7");
    check(&wire, "Ds where D between $p and $q", "2020-01-01", &up_to_ten);
    check(&wire, "Ds where D >= $p and D <= $q", "2020-01-01", &up_to_ten);
    // A part of a date is a text, and so is what is compared with it.
    check(&wire, "Ds where D >= $p", "2020-01-01T10:00", "min ms next nofrac nofracz off plain7 text z7");
}
