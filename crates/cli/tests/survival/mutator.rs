//! Requests that are almost right: valid ones, changed by chance in the ways that parsers trip over.

use testing::random::Random;

/// Method and target, further headers, body.
const VALID: &[(&str, &str, &str)] = &[
    ("GET /databases/db/docs?id=things/1&id=things/2&include=Other", "", ""),
    ("GET /databases/db/docs?startsWith=things/&matches=*1|?2&exclude=3*&start=0&pageSize=25", "", ""),
    ("GET /databases/db/docs?start=0&pageSize=10&metadataOnly=true", "If-None-Match: \"1-x\"\r\n", ""),
    ("POST /databases/db/docs", "", r#"{"Ids":["things/1","things/2",null]}"#),
    ("HEAD /databases/db/docs?id=things/1", "", ""),
    (
        "PUT /databases/db/docs?id=abused/1",
        "If-Match: \"A:1-AAAAAAAAAAAAAAAAAAAAAA\"\r\n",
        r#"{"A":[1,2.5e3,"x\u00e4"]}"#,
    ),
    ("PUT /databases/db/docs?id=abused/", "", r#"{"A":{"B":null},"@metadata":{"@collection":"Abused"}}"#),
    ("DELETE /databases/db/docs?id=abused/1", "", ""),
    (
        "POST /databases/db/bulk_docs",
        "",
        r#"{"Commands":[{"Type":"PUT","Id":"abused/2","ChangeVector":null,"Document":{"N":1}},{"Type":"DELETE","Id":"abused/3"}]}"#,
    ),
    (
        "POST /databases/db/multi_get",
        "",
        r#"{"Requests":[{"Url":"/databases/db/docs","Query":"?id=things/1","Method":"GET","Headers":{"A":"b"}}]}"#,
    ),
    (
        "POST /databases/db/queries",
        "",
        r#"{"Query":"from Things where id() in ($a, 'b') order by id() desc limit 1, 5","QueryParameters":{"a":"things/1"}}"#,
    ),
    ("GET /databases/db/queries?query=from%20Things%20where%20startsWith(id(),%20'things')&pageSize=3", "", ""),
    ("GET /databases/db/streams/queries?query=from%20Things", "Accept-Encoding: gzip, zstd;q=0.5\r\n", ""),
    ("GET /databases/db/streams/docs?startsWith=things&pageSize=5", "", ""),
    (
        "POST /databases/db/bulk_insert?id=77&skipOverwriteIfUnchanged=false",
        "",
        r#"[{"Id":"abused/4","Type":"PUT","Document":{"a":1}},{"Type":"HeartBeat"}]"#,
    ),
    ("GET /databases/db/hilo/next?tag=things&lastBatchSize=32&identityPartsSeparator=/&lastMax=0", "", ""),
    ("POST /databases/db/identity/next?name=abused|", "", ""),
    ("POST /databases/db/identity/seed?name=abused|&value=5&force=false", "", ""),
    ("GET /databases/db/operations/state?id=77", "", ""),
    ("GET /databases/db/collections/stats", "", ""),
    ("GET /databases?start=0&pageSize=5&name=db", "", ""),
    (
        "GET /databases/db/changes",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        "\u{1}\u{2}{}",
    ),
    ("GET /topology?name=db", "", ""),
    ("PUT /databases/db/admin/configuration/client", "", r#"{"MaxNumberOfRequestsPerSession":30,"Disabled":true}"#),
];

/// What is put between, or in place of, what is there.
const TOKENS: &[&[u8]] = &[
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"%00",
    b"%0d%0a",
    b"%",
    b"%ff",
    b"..%2f..%2f",
    b"&id=",
    b"?",
    b"\"",
    b"\\u",
    b"\\ud800",
    b"\xff\xfe",
    b"\xc0\x80",
    b"{",
    b"[[[[[[[[[[[[[[[[",
    b"}",
    b"null",
    b"true",
    b"-1",
    b"0",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"1e400",
    b"NaN",
    b"2147483648",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 18446744073709551615\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: zstd\r\n",
    b"Expect: 100-continue\r\n",
    b"@metadata",
    b"$",
    b"'",
    b"(",
];

/// The bytes of one connection: a request or two, mutated or, once in a while, as they should be.
pub fn request(random: &mut Random) -> Vec<u8> {
    let mut bytes = valid(random);
    if random.chance(4) {
        bytes.extend(valid(random));
    }
    for _ in 0..random.below(5) {
        mutate(&mut bytes, random);
    }
    bytes
}

fn valid(random: &mut Random) -> Vec<u8> {
    let (line, headers, body) = random.of(VALID);
    let mut head = format!("{line} HTTP/1.1\r\nHost: localhost\r\n{headers}");
    if body.is_empty() {
        return format!("{head}\r\n").into_bytes();
    }
    if random.chance(3) {
        head.push_str("Transfer-Encoding: chunked\r\n\r\n");
        let (first, second) = body.split_at(body.len() / 2);
        return format!("{head}{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len())
            .into_bytes();
    }
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() as u64 + 1) as usize;
    let end = (at + 1 + random.below(16) as usize).min(bytes.len());
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let part = bytes[at..end].to_vec();
            let count = 1 + random.below(40) as usize;
            bytes.splice(at..at, part.repeat(count));
        }
        3 => drop(bytes.splice(at..at, random.of(TOKENS).iter().copied())),
        4 => drop(bytes.splice(at..end, random.of(TOKENS).iter().copied())),
        5 => drop(bytes.splice(at..at, random.of(TOKENS).repeat(300))),
        6 => bytes.truncate(at),
        _ => {
            let size = random.below(20) as usize;
            let noise = random.bytes(size);
            bytes.splice(at..at, noise);
        }
    }
}
