//! Text from outside: JSON, queries, change vectors, ids, dates.

use documents::{ChangeVector, Date, Order, Wildcards, id};
use json::{Kind, Minifier, Path, Raw, Reason, Value};

/// JSON, against another implementation where the rules agree.
pub(crate) fn json(input: &[u8]) {
    let mut minifier = Minifier::new();
    let theirs: Result<serde_json::Value, _> = serde_json::from_slice(input);
    let minified = match minifier.minify(input) {
        Ok(minified) => minified.bytes().to_vec(),
        Err(error) => {
            // What we refuse beyond the grammar.
            let is_ours = matches!(
                error.reason,
                Reason::DuplicateProperty { .. } | Reason::TooDeep | Reason::PropertyNameTooLong | Reason::TooLong
            );
            assert!(theirs.is_err() || is_ours, "{error} in what another parser takes");
            return;
        }
    };
    if let Ok(theirs) = theirs {
        let again: serde_json::Value = serde_json::from_slice(&minified).expect("what is minified is JSON");
        assert_eq!(theirs, again, "another value than before");
    }
    assert!(std::str::from_utf8(&minified).is_ok(), "not UTF-8 any more");
    let again = minifier.minify(&minified).expect("what is minified is JSON").bytes().to_vec();
    assert_eq!(again, minified, "not the same when minified again");
    visit(Raw::new(&minified), 0);
    let tree = Value::parse(&minified).expect("what is minified is JSON");
    let mut other = Minifier::new();
    let written = tree.to_vec();
    assert_eq!(other.minify(&written).expect("what a tree writes is JSON").bytes(), minified);
    for path in ["a", "a.b", "a[].b", "a[].b.c,d", ".", "[]"] {
        Path::new(path).texts(Raw::new(&minified));
    }
}

fn visit(value: Raw<'_>, depth: usize) {
    assert!(depth <= json::DEPTH_MAX + 1, "deeper than what is let in");
    match value.kind() {
        Kind::Object => {
            for (name, member) in value.members() {
                let name = name.decode();
                assert!(value.get(&name).is_some(), "a member is not found by its name");
                visit(member, depth + 1);
            }
        }
        Kind::Array => value.elements().for_each(|element| visit(element, depth + 1)),
        _ => {
            value.as_str();
            value.as_i64();
            value.as_u64();
            value.as_f64();
            value.as_bool();
            value.number_text();
        }
    }
}

pub(crate) fn json_seeds() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"Name":"Ann","Age":-12.5e+3,"Tags":["a",null,true,false,{}],"@metadata":{"@collection":"Users"}}"#,
        "[[[[]]], \"\\u00e9\\ud83d\\ude00\\n\\\"\\\\/\", 0, -0, 1E400, 123456789012345678901234567890 ]",
        " { \"a\" : { \"b\" : [ 1 , 2 , 3 ] } , \"\\u0061\" : 1 } ",
        "\"\\ud800\"",
        "nul",
        "[1,]",
        "{\"a\":1,\"a\":2}",
        "\u{feff}{}",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// A query of whole collections, and after a zero byte its parameters as JSON.
pub(crate) fn query(input: &[u8]) {
    let (text, parameters) = match input.iter().position(|byte| *byte == 0) {
        Some(end) => (&input[..end], Value::parse(&input[end + 1..]).ok()),
        None => (input, None),
    };
    let Ok(text) = std::str::from_utf8(text) else { return };
    server::fuzzing::parse_query(text, parameters.as_ref());
    server::fuzzing::parse_query_string(text);
}

pub(crate) fn query_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "from Users",
        "from @all_docs as d where id(d) in ('a/1', $b, 3) order by id() desc limit 2, 5\0{\"b\":\"x\"}",
        "from 'My Users' where startsWith(id(), \"us\\\"ers/\") include a.b[].c, d limit 10 offset 3",
        "from Users as u where (id(u) == $id) order by id() as string asc\0{\"id\":[\"a\",\"b\"]}",
        "declare function f() { return 1 } from index 'Users/ByName' where Name = 'x' /* c */ // d\n",
        "from Users where Name = 'Ann' and Age between 3 and 5 select { a: 1 }",
        "?id=a%20b&id=c&start=3&pageSize=12&metadata-only=true&x",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Two change vectors, apart by a line.
pub(crate) fn vectors(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    documents::Expected::from_wire(Some(first));
    let (Ok(one), Ok(other)) = (ChangeVector::parse(first), ChangeVector::parse(second)) else { return };
    let written = one.to_string();
    let again = ChangeVector::parse(&written).expect("what is written is read");
    assert_eq!(again.to_string(), written);
    assert!(matches!(one.compare(&again), Order::Equal), "a vector equals itself");
    let mut merged = one.clone();
    merged.merge(&other);
    for part in [&one, &other] {
        assert!(matches!(merged.compare(part), Order::Newer | Order::Equal), "what is merged covers its parts");
    }
    let turned = match one.compare(&other) {
        Order::Newer => Order::Older,
        Order::Older => Order::Newer,
        same => same,
    };
    assert_eq!(other.compare(&one), turned, "{first} and {second}");
}

pub(crate) fn vector_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "A:1-abcdefghijklmnopqrstuv\nA:2-abcdefghijklmnopqrstuv",
        "A:18446744073709551615-x, B:7-y\nB:9-y,A:1-x",
        "RAFT:3-z\n",
        " , ,A:0-a,",
        "A:18446744073709551616-x",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Ids: what may be one, what is completed, and the key under which it is found; and wildcards over ids.
pub(crate) fn ids(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (name, pattern) = text.split_once('\n').unwrap_or((text, "*"));
    let key = id::lower(name);
    assert!(std::str::from_utf8(&key).is_ok(), "a key is text");
    if name.is_ascii() {
        assert_eq!(key, name.to_ascii_lowercase().as_bytes());
    }
    // By eight bytes at a time and character by character the same.
    let by_character: Vec<u8> = name.chars().flat_map(|one| id::lower(one.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(key, by_character);
    id::check(name).ok();
    id::completion(name, '/');
    if let (Some(wildcards), Ok(lower)) = (Wildcards::new(pattern), std::str::from_utf8(&key)) {
        wildcards.fit(lower);
    }
}

pub(crate) fn id_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "Users/1-A\nus*",
        "USERS/ÄÖÜẞİΣ/1\n*ä?ü*",
        "orders|",
        "12345678ABCDEFGHé",
        "a\u{0}b",
        "Ω𐐀Ǆ\n??|a*b",
        "@hilo/Users",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Dates: any count of ticks has a text, and any text that is a date comes back.
pub(crate) fn dates(input: &[u8]) {
    if let Some(ticks) = input.first_chunk::<8>() {
        let date = Date::from_ticks(u64::from_le_bytes(*ticks));
        let text = String::from_utf8(date.text().to_vec()).expect("a date is text");
        if let Some(again) = Date::parse(&text) {
            assert_eq!(again.text(), date.text());
        }
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Some(date) = Date::parse(text) {
        let written = String::from_utf8(date.text().to_vec()).expect("a date is text");
        assert_eq!(Date::parse(&written), Some(date), "{text} is not what it was");
    }
}

pub(crate) fn date_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "2026-11-21T19:13:53.1234567Z",
        "0001-01-01T00:00:00.0000000Z",
        "9999-12-31T23:59:59.9999999Z",
        "2024-02-29T12:00:00.0000000",
        "2023-02-29T12:00:00.0000000Z",
        "2026-11-21T24:60:60.0000000Z",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).chain([u64::MAX.to_le_bytes().to_vec()]).collect()
}
