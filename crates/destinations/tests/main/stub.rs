//! A store that speaks as much of the protocol of S3 as the tests need, and fails as they want.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What happens to the requests that it is for.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The connection ends after so many bytes of the request.
    CutRequest(usize),
    /// The connection ends after so many bytes of the body of the answer.
    CutAnswer(usize),
    /// The answer has this status and code.
    Answer(u16, &'static str),
    /// No answer comes.
    Silence,
}

#[derive(Default)]
pub struct State {
    pub objects: BTreeMap<String, Vec<u8>>,
    pub uploads: BTreeMap<String, BTreeMap<u32, Vec<u8>>>,
    /// First lines of all requests, and their `Range`.
    pub requests: Vec<String>,
    /// A part of the first line, how often, and what.
    pub faults: Vec<(&'static str, usize, Fault)>,
    upload_count: u32,
}

/// A store on a free port, until the process ends.
#[derive(Clone)]
pub struct Stub {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

/// Files in one page of a list.
const PAGE: usize = 2;

impl Stub {
    pub fn start() -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stub = Stub { port: listener.local_addr().unwrap().port(), state: Arc::default() };
        let serving = stub.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        stub
    }

    pub fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Has the next requests with this in their first line fail.
    pub fn fail(&self, requests: &'static str, times: usize, fault: Fault) {
        self.state().faults.push((requests, times, fault));
    }

    fn fault(&self, line: &str) -> Option<Fault> {
        let mut state = self.state();
        let (_, times, fault) = state.faults.iter_mut().find(|(part, times, _)| *times > 0 && line.contains(part))?;
        *times -= 1;
        Some(fault.clone())
    }

    /// One request; the connection ends with it.
    fn serve(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let line = head.lines().next().unwrap().to_owned();
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        let size: usize = header("content-length").map_or(0, |size| size.parse().unwrap());
        let range = header("range");
        self.state().requests.push(format!("{line} {}", range.as_deref().unwrap_or_default()));
        let fault = self.fault(&line);
        let taken = match fault {
            Some(Fault::CutRequest(bytes)) => bytes.min(size),
            _ => size,
        };
        let mut body = vec![0; taken];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let answer = match fault {
            Some(Fault::CutRequest(_)) => return,
            Some(Fault::Silence) => {
                // Until the other side gives up.
                _ = stream.read(&mut byte);
                return;
            }
            Some(Fault::Answer(status, code)) => failure(status, code),
            _ => self.answer(&line, range.as_deref(), body),
        };
        let is_head = line.starts_with("HEAD");
        let (status, headers, body) = answer;
        let mut sent = format!("HTTP/1.1 {status} Hm\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            sent += &format!("{name}: {value}\r\n");
        }
        let body = match fault {
            _ if is_head => &[],
            Some(Fault::CutAnswer(bytes)) => &body[..bytes.min(body.len())],
            _ => body.as_slice(),
        };
        _ = stream.write_all((sent + "\r\n").as_bytes()).and_then(|()| stream.write_all(body));
    }

    fn answer(&self, line: &str, range: Option<&str>, body: Vec<u8>) -> Answer {
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query: BTreeMap<String, String> = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.replace("%2F", "/")))
            .collect();
        let Some(key) = path.strip_prefix("/bucket") else { return failure(404, "NoSuchBucket") };
        let key = key.trim_start_matches('/').to_owned();
        let mut state = self.state();
        let upload = query.get("uploadId");
        match (method, upload) {
            ("POST", None) => {
                state.upload_count += 1;
                let id = format!("u{}", state.upload_count);
                state.uploads.insert(id.clone(), BTreeMap::new());
                xml(format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"))
            }
            ("PUT", Some(id)) => {
                let number = query["partNumber"].parse().unwrap();
                // A part may be under way while its upload is aborted.
                let Some(parts) = state.uploads.get_mut(id) else { return failure(404, "NoSuchUpload") };
                parts.insert(number, body);
                (200, vec![("ETag", format!("\"p{number}\""))], Vec::new())
            }
            ("POST", Some(id)) => {
                let Some(parts) = state.uploads.remove(id) else { return failure(404, "NoSuchUpload") };
                state.objects.insert(key, parts.into_values().flatten().collect());
                xml("<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>".to_owned())
            }
            ("DELETE", Some(id)) => {
                state.uploads.remove(id);
                (204, Vec::new(), Vec::new())
            }
            ("PUT", None) => {
                state.objects.insert(key, body);
                (200, vec![("ETag", "\"e\"".to_owned())], Vec::new())
            }
            ("DELETE", None) => {
                state.objects.remove(&key);
                (204, Vec::new(), Vec::new())
            }
            ("GET", None) if query.contains_key("list-type") => list(&state, &query),
            ("GET" | "HEAD", None) => match state.objects.get(&key) {
                Some(object) => part_of(object, range),
                None => failure(404, "NoSuchKey"),
            },
            _ => failure(405, "MethodNotAllowed"),
        }
    }
}

type Answer = (u16, Vec<(&'static str, String)>, Vec<u8>);

fn xml(text: String) -> Answer {
    (200, vec![("content-type", "application/xml".to_owned())], text.into_bytes())
}

fn failure(status: u16, code: &str) -> Answer {
    let text =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>The store says so.</Message></Error>");
    (status, Vec::new(), text.into_bytes())
}

fn part_of(object: &[u8], range: Option<&str>) -> Answer {
    let mut headers = vec![("ETag", "\"e\"".to_owned()), ("Last-Modified", "Fri, 27 Nov 2026 02:00:00 GMT".to_owned())];
    let Some((begin, end)) = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) else {
        return (200, headers, object.to_vec());
    };
    let (begin, end): (usize, usize) = (begin.parse().unwrap(), end.parse().unwrap());
    headers.push(("Content-Range", format!("bytes {begin}-{end}/{}", object.len())));
    (206, headers, object[begin..=end].to_vec())
}

fn list(state: &State, query: &BTreeMap<String, String>) -> Answer {
    let prefix = query.get("prefix").cloned().unwrap_or_default();
    let after = query.get("continuation-token").cloned().unwrap_or_default();
    let delimiter = query.get("delimiter").cloned();
    // What has the delimiter behind the prefix is one folder.
    let shown = |key: &String| {
        let folder =
            delimiter.as_ref().and_then(|end| Some(prefix.len() + key[prefix.len()..].find(end.as_str())? + 1));
        folder.map_or(key.clone(), |end| key[..end].to_owned())
    };
    let own = state.objects.iter().filter(|(key, _)| key.starts_with(&prefix));
    let all: BTreeMap<String, usize> = own.map(|(key, object)| (shown(key), object.len())).collect();
    let mut found = all.iter().filter(|(key, _)| **key > after);
    let page: Vec<_> = found.by_ref().take(PAGE).collect();
    let mut text = "<ListBucketResult>".to_owned();
    for (key, size) in &page {
        text += &match key.ends_with('/') {
            true => format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"),
            false => format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-27T02:00:00.000Z</LastModified><ETag>\"e\"</ETag><Size>{size}</Size></Contents>"
            ),
        };
    }
    if found.next().is_some() {
        text += &format!("<NextContinuationToken>{}</NextContinuationToken>", page[PAGE - 1].0);
    }
    xml(text + "</ListBucketResult>")
}
