//! `/databases/{name}/admin/analyzers` and `/admin/analyzers`: custom analyzers, and the indexes that name them.

use std::io::Read;
use std::path::Path;

use json::Value;

use super::support::{Answer, Wire};

/// What the suites of the clients send.
const FOLDING: &str = r#"
using System.IO;
using Lucene.Net.Analysis;
using Lucene.Net.Analysis.Standard;

namespace SlowTests.Data.RavenDB_14939
{
    public class MyAnalyzer : StandardAnalyzer
    {
        public MyAnalyzer()
            : base(Lucene.Net.Util.Version.LUCENE_30)
        {
        }

        public override TokenStream TokenStream(string fieldName, TextReader reader)
        {
            return new ASCIIFoldingFilter(base.TokenStream(fieldName, reader));
        }
    }
}"#;

/// An analyzer of this name whose `TokenStream` returns this.
fn code(name: &str, returned: &str) -> String {
    format!(
        "using System.IO; using Lucene.Net.Analysis; public class {name} : Analyzer {{ \
         public override TokenStream TokenStream(string fieldName, TextReader reader) => {returned}; }}"
    )
}

fn definition(name: &str, code: &str) -> String {
    let mut value = Value::object();
    value.set("Name", Value::String(name.to_owned()));
    value.set("Code", Value::String(code.to_owned()));
    String::from_utf8(value.to_vec()).unwrap()
}

fn body(name: &str, code: &str) -> String {
    format!(r#"{{"Analyzers":[{}]}}"#, definition(name, code))
}

const OWN: &str = "PUT /databases/db/admin/analyzers";
const OF_NODE: &str = "PUT /admin/analyzers";

#[track_caller]
fn put(wire: &Wire, line: &str, name: &str, code: &str) {
    let answer = wire.call(line, &body(name, code));
    assert_eq!((answer.status, answer.text().as_str()), (201, ""), "{name}");
}

fn define(wire: &Wire, name: &str, analyzer: &str) -> Answer {
    let field = format!(
        r#"{{"Analyzer":"{analyzer}","Indexing":"Search","Storage":"Yes","TermVector":"WithPositionsAndOffsets"}}"#
    );
    let map = "from u in docs.Us select new { u.N }";
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}","Maps":["{map}"],"Fields":{{"N":{field}}}}}]}}"#);
    wire.call("PUT /databases/db/admin/indexes", &body)
}

#[track_caller]
fn check_defined(wire: &Wire, name: &str, analyzer: &str) {
    let answer = define(wire, name, analyzer);
    assert_eq!(answer.status, 201, "{analyzer}: {}", answer.text());
}

fn fill(wire: &Wire) {
    for (number, text) in ["Rogério", "Rogerio", "Paulo Rogerio", "Paulo ROGÉRIO", "The Fox"].iter().enumerate() {
        wire.put(&format!("us/{number}"), &format!(r#"{{"N":"{text}","@metadata":{{"@collection":"Us"}}}}"#));
    }
}

fn query(wire: &Wire, database: &str, text: &str) -> Answer {
    let mut body = Value::object();
    body.set("Query", Value::String(text.to_owned()));
    body.set("WaitForNonStaleResults", true.into());
    wire.call(&format!("POST /databases/{database}/queries"), &String::from_utf8(body.to_vec()).unwrap())
}

/// The ids of the results of a condition on the index `I`.
#[track_caller]
fn check(wire: &Wire, condition: &str, expected: &str) {
    check_in(wire, "db", condition, expected);
}

#[track_caller]
fn check_in(wire: &Wire, database: &str, condition: &str, expected: &str) {
    let answer = query(wire, database, &format!("from index 'I' where {condition}"));
    assert_eq!(answer.status, 200, "{condition}: {}", answer.text());
    let Some(Value::Array(results)) = answer.json().remove("Results") else { panic!("{condition}") };
    let id = |result: &Value| Some(result.get("@metadata")?.get("@id")?.as_str()?.to_owned());
    let ids: Vec<String> = results.iter().map(|result| id(result).unwrap()).collect();
    assert_eq!(ids.join(" "), expected, "{condition}");
}

/// The terms of the field `N` of the index `I`, once the index has everything.
#[track_caller]
fn check_terms(wire: &Wire, expected: &str) {
    assert_eq!(query(wire, "db", "from index 'I'").status, 200);
    let answer = wire.call("GET /databases/db/indexes/terms?name=I&field=N", "");
    let Some(Value::Array(terms)) = answer.json().remove("Terms") else { panic!("{}", answer.text()) };
    let terms: Vec<&str> = terms.iter().filter_map(Value::as_str).collect();
    assert_eq!(terms.join("|"), expected);
}

#[test]
fn an_index_has_the_terms_of_a_custom_analyzer_and_queries_look_for_the_same() {
    let wire = Wire::with_database();
    let message = "Failed to compile index 'I': Cannot find analyzer type 'MyAnalyzer' for field: N";
    define(&wire, "I", "MyAnalyzer").check_error(400, "IndexCompilationException", message);
    put(&wire, OWN, "MyAnalyzer", FOLDING);
    // A name counts without regard to case, as in the reference.
    check_defined(&wire, "I", "myanalyzer");
    for other in ["X.MyAnalyzer", "MyAnalyzer, Some.Assembly", "MyAnalyzer2"] {
        let message = format!("Failed to compile index 'O': Cannot find analyzer type '{other}' for field: N");
        define(&wire, "O", other).check_error(400, "IndexCompilationException", &message);
    }
    fill(&wire);
    check_terms(&wire, "fox|paulo|rogerio");
    check(&wire, "search(N, 'Rogério')", "us/0 us/1 us/2 us/3");
    check(&wire, "search(N, 'Rogério*')", "us/0 us/1 us/2 us/3");
    check(&wire, "search(N, '*GÉRIO')", "us/0 us/1 us/2 us/3");
    check(&wire, "search(N, '\"paulo rogério\"')", "us/2 us/3");
    check(&wire, "search(N, 'the')", "");
    // What is compared is a word as it is.
    check(&wire, "N = 'ROGERIO'", "us/0 us/1 us/2 us/3");
    check(&wire, "N = 'Rogério'", "");
    check(&wire, "startsWith(N, 'rogé')", "");
    let answer = query(&wire, "db", "from index 'I' where search(N, 'rogerio') include highlight(N, 40, 1)").text();
    assert!(answer.contains(r#"Paulo <b style=\"background:yellow\">ROGÉRIO</b>"#), "{answer}");
}

/// Several words at a wildcard, and words that are left out: the answers of the reference.
#[test]
fn a_wildcard_stands_at_the_first_word() {
    let wire = Wire::with_database();
    for (number, text) in ["wix fabric", "wi fix", "fiz wiz", "jump jumper the theory"].iter().enumerate() {
        wire.put(&format!("us/{number}"), &format!(r#"{{"N":"{text}","@metadata":{{"@collection":"Us"}}}}"#));
    }
    let words = "new HashSet<string> { \"jump\" }";
    let tokenizer = "new LowerCaseFilter(new StandardTokenizer(Version.LUCENE_30, reader))";
    put(&wire, OWN, "Mine", &code("Mine", &format!("new StopFilter(true, {tokenizer}, {words})")));
    check_defined(&wire, "I", "Mine");
    check(&wire, "search(N, 'wi-fi*')", "us/0 us/1 us/2");
    check(&wire, "search(N, '*wi-fi')", "us/1");
    check(&wire, "search(N, 'wi-fi')", "");
    check(&wire, "search(N, 'jump*')", "");
    check(&wire, "search(N, 'jumpe*')", "us/3");
    check(&wire, "search(N, 'the*')", "us/3");
}

#[test]
fn definitions_that_mean_nothing_are_refused_and_none_of_the_request_is_kept() {
    let wire = Wire::with_database();
    let compilation = "AnalyzerCompilationException";
    for (text, status, exception, message) in [
        ("{}", 400, "ArgumentException", "Request should have a property name 'Analyzers' which is mandatory."),
        (r#"{"Analyzers":{}}"#, 400, "ArgumentException", "'Analyzers' must be an array"),
        (r#"{"Analyzers":[3]}"#, 400, "ArgumentException", "Analyzer must have a 'Name' field."),
        (r#"{"Analyzers":[{"Name":" ","Code":"x"}]}"#, 400, "ArgumentException", "Analyzer must have a 'Name' field."),
        (r#"{"Analyzers":[{"Name":"X"}]}"#, 400, "ArgumentException", "Analyzer must have a 'Code' field."),
        (&body("Other", FOLDING), 400, compilation, "Could not find type 'Other' in given assembly."),
        (&body("X", "this is no c#"), 400, compilation, "Failed to compile analyzer 'X'\n\n(1, "),
        (&body("X", &code("X", "new FooFilter(new KeywordTokenizer(reader))")), 400, compilation, "Failed to compile"),
        (
            &body("X", &code("X", "new CachingTokenFilter(new KeywordTokenizer(reader))")),
            501,
            "RavenException",
            "Rookery",
        ),
    ] {
        for line in [OWN, OF_NODE] {
            wire.check_error(line, text, status, exception, message);
        }
        let with_good =
            text.replacen('[', &format!("[{},", definition("Good", &code("Good", "new KeywordTokenizer(reader)"))), 1);
        if with_good != text {
            assert_eq!(wire.call(OWN, &with_good).status, status, "{text}");
        }
    }
    let refused = wire.call(OWN, &body("X", &code("X", "new CachingTokenFilter(new KeywordTokenizer(reader))"))).text();
    assert!(refused.contains("'CachingTokenFilter' in line 1 of the analyzer 'X'"), "{refused}");
    let record = wire.call("GET /admin/databases?name=db", "").json();
    assert_eq!(record.get("Analyzers"), Some(&Value::object()));
    for line in ["DELETE /databases/db/admin/analyzers", "DELETE /admin/analyzers"] {
        wire.check_error(line, "", 400, "ArgumentException", "Query string value 'name' must have a non empty value");
        wire.check(&format!("{line}?name=none"), "", 204, "");
    }
    wire.check(OWN, r#"{"Analyzers":[]}"#, 201, "");
    let many: Vec<String> = (0..65)
        .map(|number| definition(&format!("A{number}"), &code(&format!("A{number}"), "new KeywordTokenizer(reader)")))
        .collect();
    let many = format!(r#"{{"Analyzers":[{}]}}"#, many.join(","));
    wire.check_error(OWN, &many, 400, "ArgumentException", "65 analyzers exceed the limit ANALYZERS_MAX = 64");
}

#[test]
fn the_analyzers_of_a_database_count_before_those_of_the_node() {
    let wire = Wire::with_database();
    wire.create("other");
    put(&wire, OF_NODE, "Mine", &code("Mine", "new WhitespaceTokenizer(reader)"));
    fill(&wire);
    check_defined(&wire, "I", "Mine");
    check_terms(&wire, "Fox|Paulo|ROGÉRIO|Rogerio|Rogério|The");
    put(&wire, OWN, "MINE", &code("MINE", "new KeywordTokenizer(reader)"));
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    check_terms(&wire, "Paulo ROGÉRIO|Paulo Rogerio|Rogerio|Rogério|The Fox");
    wire.check("DELETE /databases/db/admin/analyzers?name=mine", "", 204, "");
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    check_terms(&wire, "Fox|Paulo|ROGÉRIO|Rogerio|Rogério|The");
    // A name of ours stays what it is.
    put(&wire, OWN, "WhitespaceAnalyzer", &code("WhitespaceAnalyzer", "new KeywordTokenizer(reader)"));
    check_defined(&wire, "J", "WhitespaceAnalyzer");
    assert_eq!(query(&wire, "db", "from index 'J' where search(N, 'Fox')").status, 200);
    let terms = wire.call("GET /databases/db/indexes/terms?name=J&field=N", "").text();
    assert!(terms.contains(r#""Fox""#), "{terms}");
}

/// As in the reference: an index keeps what it was compiled with until it is reset, and then fails if that is gone.
#[test]
fn an_index_keeps_its_analyzer_until_it_is_reset() {
    let wire = Wire::with_database();
    fill(&wire);
    put(&wire, OWN, "Mine", &code("Mine", "new WhitespaceTokenizer(reader)"));
    check_defined(&wire, "I", "Mine");
    check_terms(&wire, "Fox|Paulo|ROGÉRIO|Rogerio|Rogério|The");
    put(&wire, OWN, "Mine", &code("Mine", "new LowerCaseTokenizer(reader)"));
    wire.put("us/9", r#"{"N":"A New One","@metadata":{"@collection":"Us"}}"#);
    check_terms(&wire, "A|Fox|New|One|Paulo|ROGÉRIO|Rogerio|Rogério|The");
    check_defined(&wire, "I", "Mine");
    check_terms(&wire, "A|Fox|New|One|Paulo|ROGÉRIO|Rogerio|Rogério|The");
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    check_terms(&wire, "a|fox|new|one|paulo|rogerio|rogério|the");

    wire.check("DELETE /databases/db/admin/analyzers?name=Mine", "", 204, "");
    check(&wire, "search(N, 'NEW')", "us/9");
    let message = "Failed to compile index 'I': Cannot find analyzer type 'Mine' for field: N";
    define(&wire, "I", "Mine").check_error(400, "IndexCompilationException", message);
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    let errors = wire.call("GET /databases/db/indexes/errors?name=I", "").json();
    let Some(Value::Array(indexes)) = errors.get("Results") else { panic!("{errors:?}") };
    let Some(Value::Array(errors)) = indexes[0].get("Errors") else { panic!("{indexes:?}") };
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].get("Action").and_then(Value::as_str), Some("Analyzer"));
    let error = errors[0].get("Error").and_then(Value::as_str).unwrap();
    assert!(error.contains("Cannot find analyzer type 'Mine' for field: N"), "{error}");
    query(&wire, "db", "from index 'I'").check_error(400, "IndexInvalidException", message);
    let stats = wire.call("GET /databases/db/stats", "").text();
    assert!(stats.contains(r#""State":"Error""#), "{stats}");

    put(&wire, OWN, "Mine", &code("Mine", "new KeywordTokenizer(reader)"));
    query(&wire, "db", "from index 'I'").check_error(400, "IndexInvalidException", message);
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    check_terms(&wire, "A New One|Paulo ROGÉRIO|Paulo Rogerio|Rogerio|Rogério|The Fox");
}

/// A server over a folder, with a database `db`.
fn over(folder: &Path) -> Wire {
    Wire::start_with(|options| (options.in_memory, options.data_directory) = (false, folder.to_owned()))
}

#[test]
fn analyzers_and_their_indexes_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut wire = over(folder.path());
    wire.create("db");
    fill(&wire);
    put(&wire, OWN, "Mine", &code("Mine", "new LowerCaseTokenizer(reader)"));
    put(&wire, OF_NODE, "MyAnalyzer", FOLDING);
    check_defined(&wire, "I", "MyAnalyzer");
    check_terms(&wire, "fox|paulo|rogerio");
    wire.check("DELETE /admin/analyzers?name=MyAnalyzer", "", 204, "");
    put(&wire, OF_NODE, "Other", &code("Other", "new KeywordTokenizer(reader)"));
    wire.stop();
    drop(wire);
    let mut wire = over(folder.path());
    wire.put("us/9", r#"{"N":"Élan","@metadata":{"@collection":"Us"}}"#);
    check_terms(&wire, "elan|fox|paulo|rogerio");
    check_defined(&wire, "J", "Mine");
    check_defined(&wire, "K", "Other");
    assert_eq!(wire.call("RESET /databases/db/indexes?name=I", "").status, 204);
    let message = "Failed to compile index 'I': Cannot find analyzer type 'MyAnalyzer' for field: N";
    query(&wire, "db", "from index 'I'").check_error(400, "IndexInvalidException", message);
    wire.stop();
    drop(wire);
    let wire = over(folder.path());
    query(&wire, "db", "from index 'I'").check_error(400, "IndexInvalidException", message);
    let record = wire.call("GET /admin/databases?name=db", "").json();
    assert_eq!(record.get("Analyzers").map(|all| all.members().len()), Some(1));
}

#[test]
fn a_record_and_a_dump_carry_analyzers() {
    let wire = Wire::with_database();
    let record =
        format!(r#"{{"DatabaseName":"made","Analyzers":{{"MyAnalyzer":{}}}}}"#, definition("MyAnalyzer", FOLDING));
    assert_eq!(wire.call("PUT /admin/databases?name=made", &record).status, 201);
    let read = wire.call("GET /admin/databases?name=made", "").json();
    let analyzer = read.get("Analyzers").and_then(|all| all.get("MyAnalyzer")).cloned().unwrap();
    assert_eq!(String::from_utf8(analyzer.to_vec()).unwrap(), definition("MyAnalyzer", FOLDING));
    for (analyzers, status, exception) in [
        (r#"{"X":{"Name":"X","Code":"x"}}"#.to_owned(), 400, "AnalyzerCompilationException"),
        (format!(r#"{{"X":{}}}"#, definition("MyAnalyzer", FOLDING)), 400, "ArgumentException"),
        ("[1]".to_owned(), 400, "ArgumentException"),
        (
            format!(
                r#"{{"X":{}}}"#,
                definition("X", &code("X", "new CachingTokenFilter(new KeywordTokenizer(reader))"))
            ),
            501,
            "RavenException",
        ),
    ] {
        let record = format!(r#"{{"DatabaseName":"not","Analyzers":{analyzers}}}"#);
        wire.check_error("PUT /admin/databases?name=not", &record, status, exception, "");
    }

    put(&wire, OWN, "MyAnalyzer", FOLDING);
    check_defined(&wire, "I", "MyAnalyzer");
    fill(&wire);
    let export = |options: &str| wire.call("POST /databases/db/smuggler/export", options);
    let dump = export(r#"{"CompressionAlgorithm":"Gzip"}"#).body;
    let import = |database: &str, options: &str, dump: &[u8]| {
        wire.create(database);
        let head = "--XX\r\nContent-Disposition: form-data; name=\"importOptions\"\r\n\r\n";
        let file = "\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.ravendbdump\"\r\n\r\n";
        let form = [head.as_bytes(), options.as_bytes(), file.as_bytes(), dump, b"\r\n--XX--\r\n"].concat();
        let line = format!("POST /databases/{database}/smuggler/import");
        wire.call_with(&line, &["Content-Type: multipart/form-data; boundary=XX"], &form)
    };
    let errored = |answer: &Answer| answer.json().get("Indexes").unwrap().get("ErroredCount").unwrap().as_i64();
    let answer = import("to", "{}", &dump);
    assert_eq!((answer.status, errored(&answer)), (200, Some(0)), "{}", answer.text());
    check_in(&wire, "to", "search(N, 'Rogério')", "us/0 us/1 us/2 us/3");
    let record = wire.call("GET /admin/databases?name=to", "").json();
    assert_eq!(record.get("Analyzers").map(|all| all.members().len()), Some(1));
    // Without the analyzers of the dump their index is not there, unless it loses its analyzer.
    let without = r#"{"OperateOnDatabaseRecordTypes":"Client"}"#;
    assert_eq!(errored(&import("without", without, &dump)), Some(1));
    let removed = r#"{"OperateOnDatabaseRecordTypes":"Client","RemoveAnalyzers":true}"#;
    assert_eq!(errored(&import("removed", removed, &dump)), Some(0));
    check_in(&wire, "removed", "search(N, 'Rogério')", "us/0 us/3");
    // One that is not served does not keep the rest out.
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*dump).read_to_string(&mut text).unwrap();
    let unserved = text.replace("ASCIIFoldingFilter", "CachingTokenFilter");
    let answer = import("unserved", "{}", unserved.as_bytes());
    assert_eq!((answer.status, errored(&answer)), (200, Some(1)), "{}", answer.text());
    assert!(answer.text().contains("The part 'Analyzers' of the record of the database was not taken over"));
}
