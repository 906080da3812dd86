//! What the minifier accepts, what it makes of it, and what it refuses where; with `serde_json` as the oracle.

use proptest::prelude::*;
use rookery_json::{DEPTH_MAX, Element, ElementScanner, Minifier, Path, Raw, Reason, Value};

#[track_caller]
fn check(input: &str, expected: &str) {
    let mut minifier = Minifier::new();
    let stored = minifier.minify(input.as_bytes()).unwrap_or_else(|error| panic!("{input}: {error}"));
    assert_eq!(String::from_utf8_lossy(stored.bytes()), expected, "{input}");
}

#[track_caller]
fn refused(input: impl AsRef<[u8]>, reason: Reason, line: usize, column: usize) {
    let input = input.as_ref();
    let error = Minifier::new().minify(input).expect_err(&String::from_utf8_lossy(input));
    assert_eq!((error.reason, error.line, error.column), (reason, line, column), "{}", String::from_utf8_lossy(input));
}

#[test]
fn white_space_goes_and_order_and_numbers_stay() {
    check(" { \"b\" : 1 , \"a\" : [ 1 , 2 , { } , [ ] ] }\r\n\t", r#"{"b":1,"a":[1,2,{},[]]}"#);
    check(
        "[12.7500,1e2,1E+2,1.0,-0,0,123456789012345678901234567890]",
        "[12.7500,1e2,1E+2,1.0,-0,0,123456789012345678901234567890]",
    );
    check(" 1 ", "1");
    check("\"x\"\n", "\"x\"");
    check("null", "null");
    check(r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#, r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#);
}

#[test]
fn only_the_escapes_that_json_demands_remain() {
    check(r#""\u00e9\/""#, "\"é/\"");
    check(r#""\ud83d\ude42""#, "\"🙂\"");
    check(r#""\u0022\u005C\u000a\u0001\u001F\u007f""#, "\"\\\"\\\\\\n\\u0001\\u001F\u{7f}\"");
    check(r#"{"\u0061\n":"\"\\\b\f\n\r\t"}"#, r#"{"a\n":"\"\\\b\f\n\r\t"}"#);
    check(r#"{"a\/b" : 1, "a\/c" : "x\/y" }"#, r#"{"a/b":1,"a/c":"x/y"}"#);
}

/// As the reference takes them, which gives them out as they came.
#[test]
fn control_characters_in_strings_become_escapes() {
    check("\"a\r\nb\"", r#""a\r\nb""#);
    check("{\"a\tb\":\"\0\u{1f}\u{7f}\\n\u{8}\u{c}\"}", "{\"a\\tb\":\"\\u0000\\u001F\u{7f}\\n\\b\\f\"}");
    refused("[\"a\",\0]", Reason::Unexpected { expected: "a value", found: 0 }, 1, 6);
    refused("\"\\\n\"", Reason::UnknownEscape, 1, 2);
    refused("\"a\n", Reason::UnexpectedEnd, 2, 1);
    refused("{\"a\nb\":1,\"a\\nb\":2}", Reason::DuplicateProperty { name: "a\\nb".into() }, 2, 6);
}

#[test]
fn numbers_beyond_a_double_are_taken_where_they_are_not_kept() {
    let text = "{\"a\":[1e400,-1E+999]}";
    refused(text, Reason::NumberOutOfRange, 1, 7);
    assert_eq!(Value::parse_with_any_number(text.as_bytes()).unwrap().to_vec(), text.as_bytes());
    assert_eq!(Value::parse_with_any_number(b"[01]").unwrap_err().reason, Reason::MalformedNumber);
}

#[test]
fn text_in_stored_form_is_not_copied() {
    let input = br#"{"Name":"Ann \"A\"","Age":30,"Tags":["x","y"]}"#;
    let mut minifier = Minifier::new();
    assert_eq!(minifier.minify(input).unwrap().bytes().as_ptr(), input.as_ptr());
}

#[test]
fn errors_have_reason_and_place() {
    refused("", Reason::UnexpectedEnd, 1, 1);
    refused("{\"a\":", Reason::UnexpectedEnd, 1, 6);
    refused("{\n \"a\": tru }", Reason::Unexpected { expected: "a value", found: b' ' }, 2, 10);
    refused("[1,]", Reason::Unexpected { expected: "a value", found: b']' }, 1, 4);
    refused("{\"a\" 1}", Reason::Unexpected { expected: "':'", found: b'1' }, 1, 6);
    refused("{a:1}", Reason::Unexpected { expected: "a property name", found: b'a' }, 1, 2);
    refused("{\"a\":1,}", Reason::Unexpected { expected: "a property name", found: b'}' }, 1, 8);
    refused("[1}", Reason::Unexpected { expected: "',' or ']'", found: b'}' }, 1, 3);
    refused("{\"a\":1]", Reason::Unexpected { expected: "',' or '}'", found: b']' }, 1, 7);
    refused("{} {}", Reason::TrailingText, 1, 4);
    refused(b"\"\xff\"", Reason::NotUtf8, 1, 2);
    refused("NaN", Reason::NotANumber, 1, 1);
    refused("[-Infinity]", Reason::NotANumber, 1, 2);
    refused("01", Reason::MalformedNumber, 1, 2);
    refused("[1.]", Reason::MalformedNumber, 1, 4);
    refused("[1e]", Reason::MalformedNumber, 1, 4);
    refused("[+1]", Reason::Unexpected { expected: "a value", found: b'+' }, 1, 2);
    refused("[1e400]", Reason::NumberOutOfRange, 1, 2);
    refused(format!("[1{}]", "0".repeat(400)), Reason::NumberOutOfRange, 1, 2);
    refused(r#""\x""#, Reason::UnknownEscape, 1, 2);
    refused(r#""\u12g4""#, Reason::UnknownEscape, 1, 2);
    refused(r#""\ud83d""#, Reason::LoneSurrogate, 1, 2);
    refused(r#""\ude42""#, Reason::LoneSurrogate, 1, 2);
    refused(r#""\ud83d\u0041""#, Reason::LoneSurrogate, 1, 2);
    refused(r#"{"a":1,"b":{"c":1},"\u0061":2}"#, Reason::DuplicateProperty { name: "a".into() }, 1, 20);
    refused("{\"a\" : 1,\n\"a\" : 2}", Reason::DuplicateProperty { name: "a".into() }, 2, 1);
    refused(format!("{{\"{}\":1}}", "x".repeat(65537)), Reason::PropertyNameTooLong, 1, 2);
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(&nested(DEPTH_MAX), &nested(DEPTH_MAX));
    refused(nested(DEPTH_MAX + 1), Reason::TooDeep, 1, DEPTH_MAX + 1);
    refused("[".repeat(1_000_000), Reason::TooDeep, 1, DEPTH_MAX + 1);
}

#[test]
fn duplicates_are_found_in_large_objects_too() {
    let object = |names: &mut dyn Iterator<Item = usize>| {
        format!("{{{}}}", names.map(|n| format!("\"n{n}\": {n}")).collect::<Vec<_>>().join(", "))
    };
    let large = object(&mut (0..10_000));
    check(&large, &large.replace(' ', ""));
    let error = Minifier::new().minify(object(&mut (0..100).chain([50])).as_bytes()).unwrap_err();
    assert_eq!(error.reason, Reason::DuplicateProperty { name: "n50".into() });
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value::*;
    let leaf = prop_oneof![
        Just(Null),
        any::<bool>().prop_map(Bool),
        any::<i64>().prop_map(|n| n.into()),
        any::<f64>().prop_map(|n| serde_json::Number::from_f64(n).map_or(Null, Number)),
        ".{0,20}".prop_map(String),
        any::<std::string::String>().prop_map(String),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Array),
            prop::collection::vec((any::<std::string::String>(), inner), 0..40)
                .prop_map(|members| Object(members.into_iter().collect())),
        ]
    })
}

fn same(raw: Raw<'_>, expected: &serde_json::Value) -> bool {
    match expected {
        serde_json::Value::Null => raw.is_null(),
        serde_json::Value::Bool(value) => raw.as_bool() == Some(*value),
        serde_json::Value::Number(number) => {
            raw.as_f64() == number.as_f64() && (!number.is_i64() || raw.as_i64() == number.as_i64())
        }
        serde_json::Value::String(text) => raw.as_str().as_deref() == Some(text),
        serde_json::Value::Array(elements) => {
            raw.elements().count() == elements.len()
                && raw.elements().zip(elements).all(|(raw, expected)| same(raw, expected))
        }
        serde_json::Value::Object(members) => {
            raw.members().count() == members.len()
                && raw.members().zip(members).all(|((key, raw), (name, expected))| key.is(name) && same(raw, expected))
                && members.iter().all(|(name, expected)| raw.get(name).is_some_and(|raw| same(raw, expected)))
        }
    }
}

/// Text whose strings have escapes in place of control characters.
fn with_escaped_controls(text: &[u8]) -> Vec<u8> {
    let (mut out, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    for &byte in text {
        match byte {
            0..0x20 if in_string && !is_escaped => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
        in_string ^= byte == b'"' && !is_escaped;
        is_escaped = in_string && byte == b'\\' && !is_escaped;
    }
    out
}

proptest! {
    #[test]
    fn every_value_comes_back(value in value(), pretty in any::<bool>()) {
        let input = if pretty { serde_json::to_vec_pretty(&value).unwrap() } else { serde_json::to_vec(&value).unwrap() };
        let mut minifier = Minifier::new();
        let stored = minifier.minify(&input).unwrap();
        prop_assert!(same(stored, &value));
        prop_assert_eq!(
            String::from_utf8_lossy(stored.bytes()).to_lowercase(),
            serde_json::to_string(&value).unwrap().to_lowercase()
        );
        prop_assert_eq!(Value::from(stored).to_vec(), stored.bytes());
        let again = stored.bytes().to_vec();
        prop_assert_eq!(minifier.minify(&again).unwrap().bytes(), &again[..]);
    }

    /// Mutated text: accepted exactly when the oracle accepts it with its control characters escaped (but for duplicates, which it
    /// keeps quiet about).
    #[test]
    fn what_is_accepted_is_what_the_oracle_accepts(value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut input = serde_json::to_vec_pretty(&value).unwrap();
        let at = at.index(input.len());
        if cut { input.truncate(at) } else { input[at] = byte }
        let oracle = serde_json::from_slice::<serde_json::Value>(&with_escaped_controls(&input));
        match Minifier::new().minify(&input) {
            Ok(stored) => {
                let expected = oracle.map_err(|error| TestCaseError::fail(format!("accepted, but {error}")))?;
                prop_assert!(same(stored, &expected));
            }
            Err(error) if matches!(error.reason, Reason::DuplicateProperty { .. }) => prop_assert!(oracle.is_ok()),
            Err(error) => prop_assert!(oracle.is_err(), "refused: {}", error),
        }
    }

    #[test]
    fn escapes_mean_what_the_oracle_says(units in prop::collection::vec(any::<u16>(), 0..6)) {
        let input = format!("\"{}\"", units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>());
        match (Minifier::new().minify(input.as_bytes()), serde_json::from_str::<String>(&input)) {
            (Ok(stored), Ok(expected)) => prop_assert_eq!(stored.as_str().unwrap(), expected),
            (Err(_), Err(_)) => {}
            (mine, oracle) => return Err(TestCaseError::fail(format!("{mine:?} {oracle:?}"))),
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200), json in "[\\[\\]{}\",:0-9a-z\\\\ .eu-]{0,60}") {
        for text in [&noise[..], json.as_bytes()] {
            let _ = Minifier::new().minify(text);
            let raw = Raw::new(text);
            raw.members().for_each(|(name, value)| drop((name.decode(), value.as_str(), value.as_f64())));
            raw.elements().for_each(|value| drop(value.as_str()));
            Path::new("a[].b.$Keys").texts(raw);
            let mut scanner = ElementScanner::new();
            while let Ok(Element::Complete(_)) = scanner.next(text) {}
        }
    }

    #[test]
    fn elements_are_cut_out_of_any_pieces(values in prop::collection::vec(value(), 0..6), pretty in any::<bool>(), size in 1usize..40) {
        let array = serde_json::Value::Array(values.clone());
        let text = if pretty { serde_json::to_vec_pretty(&array).unwrap() } else { serde_json::to_vec(&array).unwrap() };
        let (mut scanner, mut buffer, mut found) = (ElementScanner::new(), Vec::new(), Vec::new());
        for piece in text.chunks(size) {
            buffer.extend_from_slice(piece);
            while let Element::Complete(range) = scanner.next(&buffer).unwrap() {
                found.push(serde_json::from_slice::<serde_json::Value>(&buffer[range]).unwrap());
            }
            let done = scanner.consumed();
            buffer.drain(..done);
            scanner.discard(done);
        }
        prop_assert!(scanner.is_closed());
        prop_assert_eq!(found, values);
    }
}
