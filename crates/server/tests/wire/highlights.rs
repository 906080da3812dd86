//! `include highlight(..)`: fragments of results' texts. Expected values are those of the reference, but where a comment says otherwise.

use super::support::Wire;

const FOXES: &str = "The quick brown fox jumps over the lazy dog. Foxes are quick animals; the brown fox is quickest of all the wild animals that live in the old forest near the river where a fox was seen yesterday.";

fn with_documents() -> Wire {
    let wire = Wire::with_database();
    let document = format!(
        r#"{{"T":"{FOXES}","N":"Short fox","A":["first fox here","second dog there","third fox"],"O":{{"X":"deep fox"}},"@metadata":{{"@collection":"Docs"}}}}"#
    );
    wire.put("docs/1", &document);
    wire.put("docs/2", r#"{"T":"nothing","N":"dog fox dog","@metadata":{"@collection":"Docs"}}"#);
    wire.put("cs/1", r#"{"name":"Micro","note":"big red fox and small red dog","@metadata":{"@collection":"Cs"}}"#);
    wire.put("cs/2", r#"{"name":"Micro","note":"red fox","@metadata":{"@collection":"Cs"}}"#);
    wire.put("cs/3", r#"{"name":"Google","note":"green frog","@metadata":{"@collection":"Cs"}}"#);
    wire
}

fn body(query: &str, options: &str) -> String {
    let query = query.replace('\\', "\\\\").replace('"', "\\\"");
    format!(r#"{{"Query":"{query}","QueryParameters":{{"o":{options}}},"WaitForNonStaleResults":true}}"#)
}

const TAGS: &str = r#"{"PreTags":["<"],"PostTags":[">"]}"#;

/// What is highlighted, as JSON.
#[track_caller]
fn check_with(wire: &Wire, query: &str, options: &str, expected: &str) {
    let answer = wire.call("POST /databases/db/queries", &body(query, options));
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let found = answer.json().get("Highlightings").map(|found| String::from_utf8(found.to_vec()).unwrap());
    assert_eq!(found.as_deref().unwrap_or_default(), expected, "{query}");
}

#[track_caller]
fn check(wire: &Wire, query: &str, expected: &str) {
    check_with(wire, query, TAGS, expected);
}

#[track_caller]
fn refused(wire: &Wire, query: &str, options: &str, status: u16, expected: &str) {
    let answer = wire.call("POST /databases/db/queries", &body(query, options));
    assert_eq!(answer.status, status, "{query}");
    assert!(answer.text().contains(expected), "{query}: {}", answer.text());
}

#[test]
fn automatic_indexes_highlight() {
    let wire = with_documents();
    check(
        &wire,
        "from Docs where search(T, 'fox') include highlight(T, 18, 5, $o)",
        r#"{"T":{"docs/1":[" brown <fox> jumps"," brown <fox> is"," a <fox> was"]}}"#,
    );
    let name = wire.call("GET /databases/db/indexes?namesOnly=true", "").text();
    assert!(name.contains("Auto/Docs/BySearch(T)AndHighlight(T)"), "{name}");
    check(
        &wire,
        "from Docs where search(T, '\"brown fox\"') include highlight(T, 30, 1, $o)",
        r#"{"T":{"docs/1":["The quick <brown fox> jumps over"]}}"#,
    );
    check(
        &wire,
        "from Docs where search(T, 'qui*') include highlight(T, 40, 1, $o)",
        r#"{"T":{"docs/1":["The <quick> brown fox jumps over the lazy"]}}"#,
    );
    check(
        &wire,
        "from Docs where proximity(search(T, 'quick fox'), 3) include highlight(T, 50, 1, $o)",
        r#"{"T":{"docs/1":["The <quick> brown <fox> jumps over the lazy dog. Foxes"]}}"#,
    );
    check(
        &wire,
        "from Docs where search(A, 'fox') include highlight('A', 100, 10, $o)",
        r#"{"A":{"docs/1":["first <fox> here second dog there third <fox>"]}}"#,
    );
    check(
        &wire,
        "from Docs as d where search(O.X, 'fox') include highlight(O.X, 100, 10, $o)",
        r#"{"O.X":{"docs/1":["deep <fox>"]}}"#,
    );
    check(
        &wire,
        "from Docs where search(T, 'fox') select N include highlight(T, 18, 1, $o)",
        r#"{"T":{"docs/1":[" brown <fox> jumps"]}}"#,
    );
    check(&wire, "from Docs where search(T, 'fox') include highlight(N, 18, 1, $o)", "{}");
    check(&wire, "from Docs where search(T, 'fox') include highlight(T, 18, 0, $o)", "{}");
    check(&wire, "from Docs where search(T, 'fox') include highlight(Nope, 18, 1, $o)", "{}");
    check(&wire, "from Docs where N = 'short fox' include highlight(N, 18, 1, $o)", "{}");
    check(
        &wire,
        "from Docs where search(N, 'fox') and not search(N, 'dog') include highlight(N, 18, 1, $o)",
        r#"{"N":{"docs/1":["Short <fox>"]}}"#,
    );
    check(
        &wire,
        "from @all_docs where search(N, '\"short fox\" fox') include highlight(N, 50, 4, $o)",
        r#"{"N":{"docs/1":["<Short fox>"],"docs/2":["dog <fox> dog"]}}"#,
    );
}

#[test]
fn each_word_has_tags_of_its_own() {
    let wire = with_documents();
    let options = r#"{"PreTags":["<1>","<2>"],"PostTags":["</1>","</2>"]}"#;
    check_with(
        &wire,
        "from Docs where search(T, 'fox quick animals dog') include highlight(T, 30, 1, $o)",
        options,
        r#"{"T":{"docs/1":["The <2>quick</2> brown <1>fox</1> jumps over"]}}"#,
    );
    check(
        &wire,
        "from Docs where search(T, 'fox') or search(N, 'fox') include highlight(T, 30, 1), highlight(N, 30, 1)",
        r#"{"N":{"docs/1":["Short <b style=\"background:lawngreen\">fox</b>"],"docs/2":["dog <b style=\"background:lawngreen\">fox</b> dog"]},"T":{"docs/1":[" quick brown <b style=\"background:yellow\">fox</b> jumps over"]}}"#,
    );
}

const FIELD: &str = r#"{"Indexing":"Search","Storage":"Yes","TermVector":"WithPositionsAndOffsets"}"#;

fn define(wire: &Wire, name: &str, more: &str) {
    let body = format!(
        r#"{{"Indexes":[{{"Name":"{name}","Maps":["from c in docs.Cs select new {{ c.name, c.note, n = 1 }}"],{more}}}]}}"#
    );
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

#[test]
fn static_indexes_highlight_what_they_store_with_places() {
    let wire = with_documents();
    let name = r#""name":{"Storage":"Yes","TermVector":"WithPositionsAndOffsets"}"#;
    define(&wire, "Full", &format!(r#""Fields":{{"note":{FIELD},{name}}}"#));
    define(&wire, "NoStore", r#""Fields":{"note":{"Indexing":"Search","TermVector":"WithPositionsAndOffsets"}}"#);
    define(&wire, "NoPlaces", r#""Fields":{"note":{"Indexing":"Search","Storage":"Yes","TermVector":"WithOffsets"}}"#);
    let both = r#"{"note":{"cs/1":["big <red> fox and small <red> dog"],"cs/2":["<red> fox"]}}"#;
    check(&wire, "from index 'Full' where search(note, 'red') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where note = 'red' include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where startsWith(note, 're') include highlight(note, 50, 4, $o)", both);
    check(
        &wire,
        "from index 'Full' where search(note, 'red') include highlight(note, 18, 4, $o)",
        r#"{"note":{"cs/1":["big <red> fox and"," small <red> dog"],"cs/2":["<red> fox"]}}"#,
    );
    // What is one term is marked as one.
    check(
        &wire,
        "from index 'Full' where name = 'google' include highlight(name, 50, 4, $o)",
        r#"{"name":{"cs/3":["<Google>"]}}"#,
    );
    check(&wire, "from index 'Full' include highlight(note, 50, 4, $o)", "{}");
    check(&wire, "from index 'Full' where search(note, 'red') include highlight(nope, 50, 4, $o)", "{}");
    check(&wire, "from index 'NoStore' where search(note, 'red') include highlight(note, 50, 4, $o)", "{}");
    check(&wire, "from index 'NoPlaces' where search(note, 'red') include highlight(note, 50, 4, $o)", "{}");
    let literal = r#"from index 'Full' where search(note, 'frog') include highlight(note, 50, 4, '{"PreTags":["<"],"PostTags":[">"]}')"#;
    check(&wire, literal, r#"{"note":{"cs/3":["green <frog>"]}}"#);
}

/// The reference marks nothing here.
#[test]
fn whatever_says_something_of_words_is_marked() {
    let wire = with_documents();
    define(&wire, "Full", &format!(r#""Fields":{{"note":{FIELD}}}"#));
    let both = r#"{"note":{"cs/1":["big <red> fox and small <red> dog"],"cs/2":["<red> fox"]}}"#;
    check(&wire, "from index 'Full' where note in ('red', 'blue') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where fuzzy(note = 'rad', 0.5) include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where lucene(note, 'r?d') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where search(note, '*ed') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where endsWith(note, 'ed') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where regex(note, '^r.d$') include highlight(note, 50, 4, $o)", both);
    check(&wire, "from index 'Full' where note > 'rec' include highlight(note, 50, 4, $o)", "{}");
}

#[test]
fn results_are_named_by_a_group_key() {
    let wire = with_documents();
    let reduce = r#""Reduce":"from r in results group r by r.name into g select new { name = g.Key, note = string.Join(\" \", g.Select(x => x.note)), n = g.Sum(x => x.n) }""#;
    define(&wire, "Groups", &format!(r#"{reduce},"Fields":{{"note":{FIELD},"name":{{"Storage":"Yes"}}}}"#));
    let query = "from index 'Groups' where search(note, 'red') include highlight(note, 60, 4, $o)";
    let options = |key: &str| format!(r#"{{"PreTags":["<"],"PostTags":[">"],"GroupKey":"{key}"}}"#);
    let expected = r#"{"note":{"Micro":["big <red> fox and small <red> dog <red> fox"]}}"#;
    check_with(&wire, query, &options("name"), expected);
    refused(&wire, query, &options("nope"), 400, "the group key 'nope' is not a value of every result");
}

#[test]
fn what_cannot_be_highlighted_is_refused() {
    let wire = with_documents();
    let query = |highlight: &str| format!("from Docs where search(T, 'fox') include {highlight}");
    let check = |highlight: &str, options: &str, expected: &str| {
        refused(&wire, &query(highlight), options, 400, expected);
    };
    check("highlight(T)", "{}", "expects three or four arguments");
    check("highlight(T, 18, 1, $o, 5)", "{}", "expects three or four arguments");
    check("highlight(T, 17, 1)", "{}", "fragCharSize(17) is too small. It must be 18 or higher.");
    check("highlight(T, 'x', 1)", "{}", "FragmentLength needs to be a whole number");
    check("highlight(T, 99999999999, 1)", "{}", "FragmentLength needs to be a whole number");
    check("highlight(T, 18, -4)", "{}", "FragmentCount(-4)");
    check("highlight(T, 18, 1025)", "{}", "HIGHLIGHT_FRAGMENTS_MAX = 1024");
    check("highlight(T, 18, 1), highlight(T, 20, 1)", "{}", "Multiple highlightings for the same field");
    check("highlight(T, 18, 1, $o)", "5", "must be an object");
    check("highlight(T, 18, 1, $o)", r#"{"PreTags":["<"]}"#, "Number of pre-tags and post-tags must match.");
    check("highlight(T, 18, 1, $o)", r#"{"PreTags":"<","PostTags":">"}"#, "must be texts");
    let many: Vec<String> = (0..65).map(|number| format!("highlight(T{number}, 18, 1)")).collect();
    check(&many.join(", "), "{}", "HIGHLIGHTS_MAX = 64");
    let grouped = "from Docs group by N where search(N, 'fox') include highlight(N, 18, 1)";
    refused(&wire, grouped, "{}", 400, "Dynamic group by queries cannot have highlighting.");
    let stream = wire.call("POST /databases/db/streams/queries", &body(&query("highlight(T, 18, 1)"), "{}"));
    assert_eq!(stream.status, 400);
    assert!(stream.text().contains("Includes are not supported"), "{}", stream.text());
}
