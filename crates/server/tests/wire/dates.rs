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
    // A part of a date is a text, and lower-cased; the terms of dates, with their great T, are before it.
    check(&wire, "Ds where D >= $p", "2020-01-01T10:00", "min text");
    check(
        &wire,
        "Ds where D < $p",
        "2020-01-01T10:00",
        &format!("day midnight ms next {}", TEN.strip_prefix("ms ").unwrap()),
    );
}

/// Spellings of four dates, in one way to write them: on their own clock, and as terms.
const SPELLED: [(&str, &str); 10] = [
    ("1", "2020-01-01T00:00:00"),
    ("2", "2020-01-01T00:00:00.0000000"),
    ("3", "2020-01-01T00:00:00.000"),
    ("4", "2020-01-01T00:00:00Z"),
    ("5", "2020-01-01T00:00:00.0000000Z"),
    ("6", "2020-01-01T00:00:00.5"),
    ("7", "2020-01-01T00:00:00.5000000"),
    ("8", "2020-01-01T02:00:00+02:00"),
    ("9", "2019-12-31T24:00:00"),
    ("X", "2020-01-01"),
];

fn with_spellings() -> Wire {
    let wire = Wire::with_database();
    for (id, date) in SPELLED {
        let document =
            format!(r#"{{"D":"{date}","L":["{date}"],"O":{{"D":"{date}"}},"@metadata":{{"@collection":"Ds"}}}}"#);
        wire.put(id, &document);
    }
    let index = r#"{"Indexes":[{"Name":"I","Maps":["from d in docs.Ds select new { d.D, d.L }"]},
        {"Name":"X","Maps":["from d in docs.Ds select new { d.D }"],"Fields":{"D":{"Indexing":"Exact"}}},
        {"Name":"R","Maps":["from d in docs.Ds select new { d.D, N = 1 }"],
         "Reduce":"from r in results group r by r.D into g select new { D = g.Key, N = g.Sum(x => x.N) }"}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", &index.replace('\n', " ")).status, 201);
    wire
}

/// The values of the results without their metadata.
#[track_caller]
fn check_values(wire: &Wire, asked: &str, expected: &[&str]) {
    let body = format!(r#"{{"Query":"from {asked}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{asked}: {}", answer.text());
    let answer = answer.json();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("{answer:?}") };
    let values = |result: &json::Value| {
        let members = result.members().iter().filter(|(name, _)| name != "@metadata");
        let values: Vec<String> = members.map(|(_, value)| String::from_utf8(value.to_vec()).unwrap()).collect();
        values.join(" ").replace('"', "")
    };
    let mut found: Vec<String> = results.iter().map(values).collect();
    found.sort();
    assert_eq!(found, expected, "{asked}");
}

#[test]
fn groups_and_selected_values_have_one_text_of_a_date() {
    let wire = with_spellings();
    let groups = [
        "2020-01-01 1",
        "2020-01-01T00:00:00.0000000 4",
        "2020-01-01T00:00:00.0000000Z 2",
        "2020-01-01T00:00:00.5000000 2",
        "2020-01-01T02:00:00.0000000+02:00 1",
    ];
    check_values(&wire, "Ds group by D select D, count()", &groups);
    check_values(&wire, "Ds group by O.D select O.D, count()", &groups);
    // The reference gives each spelling a group of its own here, of which four have the same key.
    check_values(&wire, "Ds group by L[] select L[], count()", &groups);
    let distinct = groups.map(|group| group.split(' ').next().unwrap());
    check_values(&wire, "Ds select distinct D", &distinct);
    check_values(&wire, "index 'I' select distinct D", &distinct);
    check_values(&wire, "Ds where D != 'x' select distinct O.D", &distinct);
    // What is in arrays and objects is as documents have it.
    check_values(
        &wire,
        "Ds where id() in ('1', '8') select D, L, O",
        &[
            "2020-01-01T00:00:00.0000000 [2020-01-01T00:00:00] {D:2020-01-01T00:00:00}",
            "2020-01-01T02:00:00.0000000+02:00 [2020-01-01T02:00:00+02:00] {D:2020-01-01T02:00:00+02:00}",
        ],
    );
    // The reference keeps apart the one with an offset.
    check_values(
        &wire,
        "index 'R'",
        &["2020-01-01 1", "2020-01-01T00:00:00.0000000 7", "2020-01-01T00:00:00.5000000 2"],
    );
}

#[test]
fn facets_and_prefixes_have_one_text_of_a_date() {
    let wire = with_spellings();
    for asked in ["index 'I' select facet(D)", "index 'I' select facet(L)", "index 'X' select facet(D)"] {
        let body = format!(r#"{{"Query":"from {asked}","WaitForNonStaleResults":true}}"#);
        let answer = wire.call("POST /databases/db/queries", &body).json();
        let facet = answer.get("Results").map(json::Value::to_vec).map(String::from_utf8).unwrap().unwrap();
        let expected = r#""Values":[{"Count":1,"Range":"2020-01-01"},{"Count":4,"Range":"2020-01-01T00:00:00.0000000"},{"Count":3,"Range":"2020-01-01T00:00:00.0000000Z"},{"Count":2,"Range":"2020-01-01T00:00:00.5000000"}]"#;
        assert!(facet.replace("\"Name\":null,", "").contains(expected), "{asked}: {facet}");
    }
    for asked in ["Ds", "index 'I'"] {
        let check = |condition: &str, expected: &str| check(&wire, &format!("{asked} where {condition}"), "", expected);
        check("startsWith(D, '2020-01-01')", "1 2 3 4 5 6 7 8 9 X");
        // What is asked for is lower-cased, and the terms of dates are not.
        check("startsWith(D, '2020-01-01T00:00:00.0')", "");
        check("endsWith(D, '0')", "1 2 3 6 7 9");
        check("endsWith(D, 'Z')", "");
        check("regex(D, '0000000$')", "1 2 3 9");
    }
    check(&wire, "index 'X' where startsWith(D, '2020-01-01T00:00:00.0')", "", "1 2 3 4 5 8 9");
    check(&wire, "index 'X' where endsWith(D, 'Z')", "", "4 5 8");
}
