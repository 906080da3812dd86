//! Revisions that come with loads and queries, and the attachments that revisions have. Expected answers are those of the reference.

use json::Value;

use super::support::Wire;

const CONFIGURATION: &str = r#"{"Default":null,"Collections":{"Users":{"Disabled":false}}}"#;

/// A document with two former states, whose change vectors it has, and a document that names none.
struct Setup {
    wire: Wire,
    /// Change vectors, the oldest first.
    vectors: Vec<String>,
    /// Dates of the same.
    dates: Vec<String>,
}

fn quoted(text: &str) -> String {
    String::from_utf8(Value::String(text.to_owned()).to_vec()).unwrap()
}

/// Change vectors and dates of revisions, the oldest first.
fn revisions(wire: &Wire, id: &str) -> (Vec<String>, Vec<String>) {
    let answer = wire.call(&format!("GET /databases/db/revisions?id={id}"), "").json();
    let Some(Value::Array(results)) = answer.get("Results") else { panic!("no results") };
    let of = |name: &str| -> Vec<String> {
        let text =
            |revision: &Value| revision.get("@metadata").unwrap().get(name).unwrap().as_str().unwrap().to_owned();
        results.iter().rev().map(text).collect()
    };
    (of("@change-vector"), of("@last-modified"))
}

fn setup() -> Setup {
    let wire = Wire::with_database();
    assert_eq!(wire.call("POST /databases/db/admin/revisions/config", CONFIGURATION).status, 200);
    let put = |id: &str, properties: &str| {
        let answer = wire.put(id, &format!(r#"{{{properties},"@metadata":{{"@collection":"Users"}}}}"#));
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    put("users/1", r#""Name":"a""#);
    put("users/1", r#""Name":"b""#);
    let (vectors, dates) = revisions(&wire, "users/1");
    let (first, second) = (quoted(&vectors[0]), quoted(&vectors[1]));
    let all = format!(
        r#""Name":"c","Rev":{first},"All":[{second},{first}],"Sub":{{"Rev":{second}}},"Bad":"A:99-x","Number":5,"None":null"#
    );
    put("users/1", &all);
    put("users/2", r#""Name":"d","Rev":null"#);
    Setup { wire, vectors, dates }
}

impl Setup {
    /// Names of the states in an answer, `<` before those by time.
    #[track_caller]
    fn shown(answer: &Value) -> Vec<String> {
        let Some(included) = answer.get("RevisionIncludes") else { return Vec::new() };
        let Value::Array(included) = included else { panic!("{included:?}") };
        let show = |one: &Value| {
            let (revision, text) = (one.get("Revision").unwrap(), |name: &str| one.get(name).and_then(Value::as_str));
            let metadata = |name: &str| revision.get("@metadata").unwrap().get(name).unwrap().as_str().unwrap();
            assert_eq!(text("Id"), Some(metadata("@id")));
            assert_eq!(text("ChangeVector"), Some(metadata("@change-vector")));
            assert_eq!(metadata("@flags"), "HasRevisions, Revision");
            let name = revision.get("Name").unwrap().as_str().unwrap();
            text("Before").map_or(name.to_owned(), |_| format!("<{name}"))
        };
        included.iter().map(show).collect()
    }

    #[track_caller]
    fn check_load(&self, parameters: &str, expected: &[&str]) {
        let line = format!("GET /databases/db/docs?{parameters}");
        let answer = self.wire.call(&line, "");
        assert_eq!(answer.status, 200, "{line}: {}", answer.text());
        assert_eq!(Setup::shown(&answer.json()), expected, "{line}");
    }

    fn query(&self, rql: &str) -> super::support::Answer {
        let body = format!(
            r#"{{"Query":{},"QueryParameters":{{"t":{},"p":["Rev","All"]}},"WaitForNonStaleResults":true}}"#,
            quoted(rql),
            quoted(&self.dates[0])
        );
        self.wire.call("POST /databases/db/queries", &body)
    }

    #[track_caller]
    fn check_query(&self, rql: &str, expected: &[&str]) {
        let answer = self.query(rql);
        assert_eq!(answer.status, 200, "{rql}: {}", answer.text());
        assert_eq!(Setup::shown(&answer.json()), expected, "{rql}");
    }
}

fn missing(field: &str) -> String {
    format!("Field `{field}` (which is mentioned inside `include revisions(..)`) is missing in document.")
}

#[test]
fn loads_bring_the_revisions_that_documents_name() {
    let set = setup();
    set.check_load("id=users/1&revisions=Rev", &["a"]);
    set.check_load("id=users/1&revisions=All", &["b", "a"]);
    set.check_load("id=users/1&revisions=Rev&revisions=All", &["a", "b"]);
    set.check_load("id=users/1&revisions=Sub.Rev", &["b"]);
    set.check_load("id=users/9&id=users/1&id=users/2&revisions=Rev", &["a"]);
    set.check_load("id=users/1&revisions=Rev&metadataOnly=true&counter=@all_counters", &["a"]);
    for nothing in ["Bad", "Number", "None"] {
        set.check_load(&format!("id=users/1&revisions={nothing}"), &[]);
    }
    for field in ["Nope", "Sub.Nope", ""] {
        let line = format!("GET /databases/db/docs?id=users/1&revisions={field}");
        set.wire.check_error(&line, "", 400, "InvalidOperationException", &missing(field));
    }
    assert_eq!(set.wire.call("GET /databases/db/docs?id=users/9&revisions=Rev", "").status, 404);
    let by_body = set.wire.call("POST /databases/db/docs?revisions=Rev", r#"{"Ids":["users/1","users/2"]}"#);
    assert_eq!(Setup::shown(&by_body.json()), ["a"]);
    let whole = set.wire.call("GET /databases/db/docs?id=users/1&revisions=Rev", "").masked();
    let expected = r#","RevisionIncludes":[{"Id":"users/1","ChangeVector":"A:2-ID","Revision":{"Name":"a","@metadata":{"@collection":"Users","@change-vector":"A:2-ID","@flags":"HasRevisions, Revision","@id":"users/1","@last-modified":"DATE"}}}]}"#;
    let vector = mask_vector(&set.vectors[0]);
    assert!(whole.ends_with(&expected.replace("A:2-ID", &vector)), "{whole}");
    let elsewhere = "'revisions' and 'revisionsBefore' belong to loads by id";
    for line in ["GET /databases/db/docs?revisions=Rev", "GET /databases/db/docs?startsWith=users/&revisions=Rev"] {
        set.wire.check_error(line, "", 400, "ArgumentException", elsewhere);
    }
}

fn mask_vector(vector: &str) -> String {
    format!("{}-ID", vector.split_once('-').unwrap().0)
}

#[test]
fn loads_bring_the_states_at_a_time() {
    let set = setup();
    let [first, second] = [&set.dates[0], &set.dates[1]];
    set.check_load(&format!("id=users/1&id=users/2&revisionsBefore={first}"), &["<a"]);
    set.check_load(&format!("id=users/1&revisionsBefore={second}"), &["<b"]);
    set.check_load(&format!("id=users/1&revisionsBefore={second}&revisions=All"), &["<b", "b", "a"]);
    set.check_load("id=users/1&revisionsBefore=2000-01-01T00:00:00.0000000Z", &[]);
    set.check_load("id=users/1&revisionsBefore=", &[]);
    let line = "GET /databases/db/docs?id=users/1&revisionsBefore=nonsense";
    assert_eq!(set.wire.call(line, "").status, 400);
    // What comes along belongs to the ETag.
    let line = format!("GET /databases/db/docs?id=users/1&revisionsBefore={first}");
    let etag = set.wire.call(&line, "").header("etag").unwrap().to_owned();
    let header = format!("If-None-Match: {etag}");
    assert_eq!(set.wire.call_with(&line, &[&header], b"").status, 304);
    let other = format!("GET /databases/db/docs?id=users/1&revisionsBefore={second}");
    assert_eq!(set.wire.call_with(&other, &[&header], b"").status, 200);
}

#[test]
fn queries_include_revisions() {
    let set = setup();
    let time = &set.dates[0];
    set.check_query("from Users include revisions('Rev')", &["a"]);
    set.check_query("from Users include revisions(Rev)", &["a"]);
    set.check_query("from Users as u include revisions(u.Rev)", &["a"]);
    set.check_query("from Users as u include revisions('u.Rev')", &["a"]);
    set.check_query("from Users include revisions('Rev', 'Rev'), revisions(Rev)", &["a"]);
    set.check_query("from Users where Name = 'c' include revisions('Sub.Rev', All)", &["b", "a"]);
    set.check_query("from Users where Name = 'c' include revisions($p)", &["a", "b"]);
    set.check_query(&format!("from Users include revisions('{time}')"), &["<a"]);
    set.check_query("from Users include revisions($t)", &["<a"]);
    set.check_query("from Users include revisions('Rev'), revisions($t)", &["<a", "a"]);
    set.check_query("from Users include counters(), revisions('Rev', $t)", &["<a", "a"]);
    // The paths are those of what is made of a document.
    set.check_query("from Users as u select u.Rev include revisions(u.Rev)", &["a"]);
    set.check_query("from Users as u select { N: u.Name, Rev: u.Sub.Rev } include revisions('Rev')", &["b"]);
    set.check_query("from Users as u where u.Name = 'c' select { Rev: u.Sub.Rev } include revisions('Rev')", &["b"]);
    set.check_query("from Users where Name = 'c' select Name include revisions($t)", &["<a"]);
    set.check_query("from Users group by Name select count(), Name include revisions('Name')", &[]);
    for (rql, field) in [
        ("from Users include revisions('Nope')", "Nope"),
        ("from Users include revisions('All')", "All"),
        ("from Users select Name include revisions('Rev')", "Rev"),
    ] {
        set.query(rql).check_error(400, "InvalidOperationException", &missing(field));
    }
    assert_eq!(set.query("from Users include revisions()").status, 400);
}

#[test]
fn attachments_of_revisions_are_read() {
    let wire = Wire::with_database();
    assert_eq!(wire.call("POST /databases/db/admin/revisions/config", CONFIGURATION).status, 200);
    wire.put("users/1", r#"{"Name":"a","@metadata":{"@collection":"Users"}}"#);
    let put = "PUT /databases/db/attachments?id=users/1&name=File.txt&contentType=text/plain";
    assert_eq!(wire.call_with(put, &[], b"first").status, 201);
    assert_eq!(wire.call_with(put, &[], b"second content").status, 201);
    assert_eq!(wire.call("DELETE /databases/db/attachments?id=users/1&name=File.txt", "").status, 204);
    assert_eq!(wire.call("GET /databases/db/attachments?id=users/1&name=File.txt", "").status, 404);
    let (vectors, _) = revisions(&wire, "users/1");
    let body = |vector: &str| format!(r#"{{"Type":"Revision","ChangeVector":{}}}"#, quoted(vector));
    let line = "POST /databases/db/attachments?id=USERS/1&name=file.TXT";
    let states: Vec<String> = vectors
        .iter()
        .map(|vector| {
            let answer = wire.call(line, &body(vector));
            if answer.status == 404 { "none".to_owned() } else { answer.text() }
        })
        .collect();
    assert_eq!(states, ["none", "first", "second content", "none"]);
    let answer = wire.call(line, &body(&vectors[2]));
    let header = |name: &str| answer.header(name).unwrap_or("none").to_owned();
    assert_eq!(header("etag"), format!("\"{}\"", vectors[2]));
    assert_eq!(header("content-disposition"), "attachment; filename=\"File.txt\"; filename*=UTF-8''File.txt");
    assert_eq!((header("content-type"), header("attachment-size")), ("text/plain".to_owned(), "14".to_owned()));
    let part = wire.call_with(line, &["Range: bytes=1-3"], body(&vectors[2]).as_bytes());
    assert_eq!((part.status, part.text().as_str()), (206, "eco"));
    for other in ["id=users/2&name=File.txt", "id=users/1&name=none"] {
        let line = format!("POST /databases/db/attachments?{other}");
        assert_eq!(wire.call(&line, &body(&vectors[2])).status, 404, "{other}");
    }
    assert_eq!(wire.call(line, &body("A:77-x")).status, 404);
    // That of the document, by the same call.
    wire.call_with("PUT /databases/db/attachments?id=users/1&name=other", &[], b"now");
    let now = "POST /databases/db/attachments?id=users/1&name=other";
    assert_eq!(wire.call(now, r#"{"Type":"Document","ChangeVector":null}"#).text(), "now");
    let mandatory = "The 'Type' field in the body request is mandatory";
    wire.check_error(line, r#"{"Type":"nonsense"}"#, 400, "ArgumentException", mandatory);
    let empty = "Change Vector cannot be empty for attachment type Revision";
    wire.check_error(line, r#"{"Type":"Revision"}"#, 400, "ArgumentException", empty);
    // Several at once.
    let one = |name: &str, place: usize| {
        format!(r#"{{"DocumentId":"users/1","Name":"{name}","ChangeVector":{}}}"#, quoted(&vectors[place]))
    };
    let bulk =
        |elements: &[String]| format!(r#"{{"AttachmentType":"Revision","Attachments":[{}]}}"#, elements.join(","));
    let all = bulk(&[one("File.txt", 1), one("none", 1), one("file.txt", 2)]);
    let answer = wire.call("POST /databases/db/attachments/bulk", &all).text();
    assert!(answer.ends_with("]}firstsecond content"), "{answer}");
    assert_eq!(answer.matches("\"Name\":\"File.txt\"").count(), 2, "{answer}");
    let untold = r#"{"AttachmentType":"Revision","Attachments":[{"DocumentId":"users/1","Name":"File.txt"}]}"#;
    assert_eq!(wire.call("POST /databases/db/attachments/bulk", untold).status, 400);
    assert_eq!(wire.call("DELETE /databases/db/attachments/bulk", &all).status, 400);
    // The content goes with the last revision that has it.
    let removed = wire.call("DELETE /databases/db/admin/revisions", r#"{"DocumentIds":["users/1"]}"#);
    assert_eq!(removed.status, 200, "{}", removed.text());
    assert_eq!(wire.call(line, &body(&vectors[2])).status, 404);
}
