//! Compressed bodies, both ways.

use std::io::{Read, Write};

use super::support::Wire;

#[test]
fn answers_are_compressed_when_asked_for_and_worth_it() {
    let wire = Wire::with_database();
    wire.put("small", "{}");
    wire.put("large", &format!("{{\"Text\":\"{}\"}}", "x".repeat(5000)));
    let plain = wire.call("GET /databases/db/docs?id=large", "").body;
    let gzip = wire.call_with("GET /databases/db/docs?id=large", &["Accept-Encoding: gzip, deflate"], b"");
    assert_eq!((gzip.header("content-encoding"), gzip.header("vary")), (Some("gzip"), Some("Accept-Encoding")));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(gzip.body.as_slice()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain);
    let zstd = wire.call_with("GET /databases/db/docs?id=large", &["Accept-Encoding: zstd, gzip"], b"");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert_eq!(zstd::decode_all(zstd.body.as_slice()).unwrap(), plain);
    let small = wire.call_with("GET /databases/db/docs?id=small", &["Accept-Encoding: gzip, deflate"], b"");
    assert_eq!((small.header("content-encoding"), small.header("vary")), (None, Some("Accept-Encoding")));
    for wish in ["br", "identity", "zstd;q=0"] {
        let plain = wire.call_with("GET /databases/db/docs?id=large", &[&format!("Accept-Encoding: {wish}")], b"");
        let headers = (plain.header("content-encoding"), plain.header("vary"));
        assert_eq!(headers, (None, Some("Accept-Encoding")), "{wish}");
    }
    let etag = format!("If-None-Match: {}", gzip.header("etag").unwrap());
    let same = wire.call_with("GET /databases/db/docs?id=large", &["Accept-Encoding: gzip", &etag], b"");
    assert_eq!((same.status, same.header("vary")), (304, Some("Accept-Encoding")));
    let none = wire.call("GET /databases/db/docs?id=large", "");
    assert_eq!((none.header("content-encoding"), none.header("vary")), (None, None));
}

/// RavenDB's clients test that the answer to `saveChanges` has the encoding that they force.
#[test]
fn a_client_that_lists_one_encoding_alone_gets_small_answers_in_it_too() {
    let wire = Wire::with_database();
    let commands = r#"{"Commands":[{"Type":"PUT","Id":"users/1","ChangeVector":null,"Document":{"Name":"Ann","@metadata":{"@collection":"Users"}}}]}"#;
    let save = |wish: &str| {
        wire.call_with("POST /databases/db/bulk_docs", &[&format!("Accept-Encoding: {wish}")], commands.as_bytes())
    };
    let gzip = save("gzip");
    assert_eq!((gzip.status, gzip.header("content-encoding")), (201, Some("gzip")));
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzip.body.as_slice()).read_to_string(&mut text).unwrap();
    assert!(text.contains("users/1"), "{text}");
    let zstd = save("zstd;q=1, gzip;q=0");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert!(String::from_utf8(zstd::decode_all(zstd.body.as_slice()).unwrap()).unwrap().contains("users/1"));
    for several in ["gzip, deflate", "gzip, identity", "zstd, gzip"] {
        assert_eq!(save(several).header("content-encoding"), None, "{several}");
    }
    // Not even what becomes larger is an exception, and nothing stays nothing.
    let tiny = wire.call_with("POST /databases/db/identity/next?name=x", &["Accept-Encoding: gzip"], b"");
    assert_eq!(tiny.header("content-encoding"), Some("gzip"), "{:?}", tiny.body);
    let none = wire.call_with("GET /databases/db/docs?id=none", &["Accept-Encoding: gzip"], b"");
    assert_eq!((none.header("content-encoding"), none.body.len()), (None, 0));
}

#[test]
fn streams_are_compressed_part_by_part() {
    let wire = Wire::with_database();
    for number in 0..300 {
        wire.put(&format!("x/{number}"), &format!("{{\"Text\":\"{}\"}}", "x".repeat(1000)));
    }
    let plain = wire.call("GET /databases/db/streams/docs", "").body;
    let gzip = wire.call_with("GET /databases/db/streams/docs", &["Accept-Encoding: gzip"], b"");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(gzip.body.as_slice()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain);
    let zstd = wire.call_with("GET /databases/db/streams/docs", &["Accept-Encoding: zstd"], b"");
    assert_eq!(zstd::decode_all(zstd.body.as_slice()).unwrap(), plain);
}

#[test]
fn request_bodies_may_be_compressed() {
    let wire = Wire::with_database();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"{\"Name\":\"Ann\"}").unwrap();
    let put = "PUT /databases/db/docs?id=a";
    assert_eq!(wire.call_with(put, &["Content-Encoding: gzip"], &gzip.finish().unwrap()).status, 201);
    let zstd = zstd::encode_all(&b"{\"Name\":\"Bob\"}"[..], 1).unwrap();
    assert_eq!(wire.call_with(put, &["Content-Encoding: zstd"], &zstd).status, 201);
    assert!(wire.call("GET /databases/db/docs?id=a", "").text().contains("Bob"));
    // The C# client flushes its compressor and does not finish it.
    let mut unfinished = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    unfinished.write_all(b"{\"Name\":\"Cid\"}").unwrap();
    unfinished.flush().unwrap();
    let unfinished = unfinished.get_ref();
    assert_eq!(wire.call_with(put, &["Content-Encoding: zstd"], unfinished).status, 201);
    assert!(wire.call("GET /databases/db/docs?id=a", "").text().contains("Cid"));
    let cut = wire.call_with(put, &["Content-Encoding: zstd"], &unfinished[..unfinished.len() - 1]);
    cut.check_error(400, "InvalidDataException", "The request body cannot be decoded: incomplete frame");
    let unknown = wire.call_with(put, &["Content-Encoding: br"], b"{}");
    unknown.check_error(
        400,
        "InvalidDataException",
        "The request body cannot be decoded: unknown Content-Encoding 'br'",
    );
    let broken = wire.call_with(put, &["Content-Encoding: gzip"], b"{}");
    broken.check_error(400, "InvalidDataException", "The request body cannot be decoded");
}
