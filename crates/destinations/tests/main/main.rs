//! Files that go to a store and come back, while connections are cut, the store is full, or refuses.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helper functions too")]

mod stub;

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::Error;
use database::backups::{Contents, Destination, DestinationKind, DestinationSettings, OpenDestination, StoredFile};
use json::Value;
use rookery_destinations::ObjectStores;
use rookery_destinations::limits::PART_SIZE;
use stub::{Fault, Stub};

const ACCESS: &str = "AKIAZORKZORKZORKZORK";
const SECRET: &str = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY0";
const TOKEN: &str = "FwoGZXIvYXdzEJr-session-token";
/// Three parts, the last of them short.
const LARGE: usize = 2 * PART_SIZE as usize + 12_345;

fn settings(kind: DestinationKind, text: &str) -> DestinationSettings {
    DestinationSettings { kind, settings: Value::parse(text.as_bytes()).unwrap(), is_restricted: false }
}

fn s3(server: &str, bucket: &str) -> DestinationSettings {
    settings(
        DestinationKind::S3,
        &format!(
            r#"{{"CustomServerUrl":"{server}","BucketName":"{bucket}","AwsAccessKey":"{ACCESS}","AwsSecretKey":"{SECRET}",
                "AwsSessionToken":"{TOKEN}","RemoteFolderName":"/backups/","AwsRegionName":"eu-1","Disabled":false}}"#
        ),
    )
}

/// Gives up soon.
fn hasty() -> ObjectStores {
    let time = Duration::from_secs(1);
    ObjectStores { retry_time_max: time, idle_time_max: time }
}

fn open(stub: &Stub, options: &ObjectStores) -> Arc<dyn Destination> {
    options.open(&s3(&format!("http://127.0.0.1:{}", stub.port), "bucket")).unwrap()
}

fn bytes(size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u8).collect()
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

fn put(place: &dyn Destination, path: &str, content: &[u8]) -> database::Result<()> {
    place.put(path, &mut file(content), content.len() as u64, &mut |_| Ok(()))
}

fn get(place: &dyn Destination, path: &str) -> Vec<u8> {
    let mut content = Vec::new();
    place.get(path).unwrap().read_to_end(&mut content).unwrap();
    content
}

/// The error has this in it, and no secret.
#[track_caller]
fn refused<T>(outcome: database::Result<T>, expected: &str) {
    let error = outcome.err().expect("it succeeded");
    assert!(error.to_string().contains(expected), "{error}");
    no_secret(&format!("{error} {error:?}"));
}

#[track_caller]
fn no_secret(text: &str) {
    for secret in [ACCESS, SECRET, TOKEN] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn files_are_stored_listed_read_and_removed() {
    let stub = Stub::start();
    let place = open(&stub, &ObjectStores::default());
    let (small, large) = (bytes(10), bytes(LARGE));
    let mut told = Vec::new();
    let mut sent = |count| {
        told.push(count);
        Ok(())
    };
    place.put("a/large", &mut file(&large), LARGE as u64, &mut sent).unwrap();
    assert!(told.is_sorted() && told.last() == Some(&(LARGE as u64)), "{told:?}");
    put(&*place, "a/small", &small).unwrap();
    put(&*place, "a/none", &[]).unwrap();
    put(&*place, "ab/other", &small).unwrap();
    assert!(stub.state().objects["backups/a/large"] == large);
    assert!(stub.state().uploads.is_empty());

    let mut files = place.list("a").unwrap();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let expected = [("a/large", LARGE), ("a/none", 0), ("a/small", 10)];
    let expected: Vec<_> =
        expected.map(|(path, size)| StoredFile { path: path.to_owned(), size: size as u64 }).into_iter().collect();
    assert_eq!(files, expected);
    assert_eq!(place.list("").unwrap().len(), 4);
    assert_eq!(place.list("zork").unwrap(), []);
    put(&*place, "top", &small).unwrap();
    put(&*place, "a/within/file", &small).unwrap();
    let mut within = place.look_into("a").unwrap();
    within.files.sort_by(|one, other| one.path.cmp(&other.path));
    assert_eq!((within.files, within.folders), (files, vec!["a/within".to_owned()]));
    place.remove("a/within/file").unwrap();
    assert_eq!(place.look_into("zork").unwrap(), Contents::default());
    let mut top = place.look_into("").unwrap();
    top.folders.sort();
    assert_eq!(
        (top.files, top.folders),
        (vec![StoredFile { path: "top".to_owned(), size: 10 }], vec!["a".to_owned(), "ab".to_owned()])
    );

    assert!(get(&*place, "a/large") == large);
    assert_eq!(get(&*place, "a/small"), small);
    assert!(get(&*place, "a/none").is_empty());
    refused(place.get("a/zork"), "no such file");

    place.remove("a/small").unwrap();
    place.remove("a/small").unwrap();
    assert_eq!(place.list("a").unwrap().len(), 2);
}

#[test]
fn an_upload_goes_on_after_its_connection_was_cut() {
    let stub = Stub::start();
    let large = bytes(LARGE);
    stub.fail("partNumber=2", 2, Fault::CutRequest(1_000_000));
    stub.fail("POST /bucket/backups/x?uploads", 1, Fault::CutAnswer(3));
    let place = open(&stub, &ObjectStores::default());
    put(&*place, "x", &large).unwrap();
    assert!(stub.state().objects["backups/x"] == large);
    // The upload whose beginning was not heard of stays, without a part.
    assert!(stub.state().uploads.values().all(|parts| parts.is_empty()));
    assert_eq!(stub.state().requests.iter().filter(|line| line.contains("partNumber=2")).count(), 3);
}

#[test]
fn an_upload_whose_last_answer_was_lost_is_whole() {
    let stub = Stub::start();
    let large = bytes(LARGE);
    stub.fail("POST /bucket/backups/x?uploadId", 1, Fault::CutAnswer(0));
    put(&*open(&stub, &ObjectStores::default()), "x", &large).unwrap();
    assert!(stub.state().objects["backups/x"] == large);
}

#[test]
fn nothing_is_left_of_an_upload_that_fails() {
    let stub = Stub::start();
    let large = bytes(LARGE);
    stub.fail("partNumber=3", usize::MAX, Fault::Answer(503, "SlowDown"));
    let place = open(&stub, &hasty());
    refused(put(&*place, "x", &large), "too busy");
    // Ended by the caller.
    let mut killed = |stored| if stored > 0 { Err(Error::Canceled) } else { Ok(()) };
    let ended = place.put("y", &mut file(&large), LARGE as u64, &mut killed);
    assert!(matches!(ended, Err(Error::Canceled)), "{ended:?}");
    // A file that becomes shorter meanwhile.
    refused(place.put("z", &mut file(&large[..LARGE - 1]), LARGE as u64, &mut |_| Ok(())), "became shorter");
    let state = stub.state();
    assert!(state.objects.is_empty() && state.uploads.is_empty());
    assert_eq!(state.requests.iter().filter(|line| line.starts_with("DELETE")).count(), 3);
}

#[test]
fn a_full_store_is_not_tried_again() {
    let stub = Stub::start();
    let place = open(&stub, &ObjectStores::default());
    stub.fail("partNumber=1", 1, Fault::Answer(507, "QuotaExceeded"));
    refused(put(&*place, "x", &bytes(LARGE)), "no room");
    stub.fail("PUT", 1, Fault::Answer(403, "QuotaExceeded"));
    refused(put(&*place, "x", &bytes(10)), "no room");
    assert!(stub.state().objects.is_empty() && stub.state().uploads.is_empty());
}

#[test]
fn a_file_that_arrives_otherwise_is_removed() {
    let stub = Stub::start();
    let place = open(&stub, &ObjectStores::default());
    let state = stub.clone();
    let mut lose = move |stored| {
        // The store loses a part that it has acknowledged.
        if stored > 0 {
            state.state().uploads.values_mut().for_each(|parts| parts.values_mut().take(1).for_each(Vec::clear));
        }
        Ok(())
    };
    refused(place.put("x", &mut file(&bytes(LARGE)), LARGE as u64, &mut lose), "bytes of");
    assert!(stub.state().objects.is_empty());
}

#[test]
fn a_download_goes_on_where_its_connection_was_cut() {
    let stub = Stub::start();
    let large = bytes(LARGE);
    stub.state().objects.insert("backups/x".to_owned(), large.clone());
    stub.fail("GET", 3, Fault::CutAnswer(5_000_000));
    assert!(get(&*open(&stub, &ObjectStores::default()), "x") == large);
    let state = stub.state();
    let ranges: Vec<_> = state.requests.iter().filter_map(|line| line.split_once("bytes=")).collect();
    assert_eq!(ranges.len(), 3);
    assert!(ranges[0].1.starts_with("5000000-"), "{ranges:?}");
}

#[test]
fn a_download_that_cannot_go_on_fails() {
    let stub = Stub::start();
    stub.state().objects.insert("backups/x".to_owned(), bytes(LARGE));
    stub.fail("GET", 1, Fault::CutAnswer(100_000));
    stub.fail("GET", usize::MAX, Fault::Answer(503, "SlowDown"));
    let mut content = Vec::new();
    let error = open(&stub, &hasty()).get("x").unwrap().read_to_end(&mut content).unwrap_err().to_string();
    assert!(error.contains("read 'x' in"), "{error}");
    assert!(content.len() < LARGE);
    no_secret(&error);
}

#[test]
fn a_store_that_stands_still_is_given_up() {
    let stub = Stub::start();
    stub.fail("/bucket", usize::MAX, Fault::Silence);
    let place = open(&stub, &hasty());
    refused(place.list(""), "stood still");
    refused(put(&*place, "x", &bytes(10)), "stood still");
}

#[test]
fn waits_for_a_store_end_when_nobody_wants_its_answer() {
    let stub = Stub::start();
    let (place, is_ended) = (open(&stub, &ObjectStores::default()), Arc::new(AtomicBool::new(false)));
    put(&*place, "x", &bytes(LARGE)).unwrap();
    stub.fail("GET /bucket/backups/x", 1, Fault::CutAnswer(100_000));
    stub.fail("/bucket", usize::MAX, Fault::Silence);
    let flag = is_ended.clone();
    let place = place.ending_when(Arc::new(move || flag.load(Ordering::Relaxed)));
    let mut reading = place.get("x").unwrap();
    reading.read_exact(&mut [0; 1000]).unwrap();
    is_ended.store(true, Ordering::Relaxed);
    let error = reading.read_to_end(&mut Vec::new()).unwrap_err();
    assert!(matches!(error.downcast::<Error>(), Ok(Error::Canceled)));
    assert!(matches!(place.list(""), Err(Error::Canceled)));
    assert!(matches!(place.look_into(""), Err(Error::Canceled)));
    assert!(matches!(place.get("x").map(drop), Err(Error::Canceled)));
    assert!(matches!(put(&*place, "y", &bytes(10)), Err(Error::Canceled)));
}

#[test]
fn a_refusal_says_what_to_do() {
    let stub = Stub::start();
    let place = open(&stub, &ObjectStores::default());
    for (status, code, expected) in [
        (403, "InvalidAccessKeyId", "Correct 'AwsAccessKey'"),
        (403, "SignatureDoesNotMatch", "Correct 'AwsSecretKey'"),
        (400, "ExpiredToken", "'AwsSessionToken'"),
        (403, "RequestTimeTooSkewed", "clock"),
        (403, "AccessDenied", "do not allow it"),
        (301, "PermanentRedirect", "'AwsRegionName'"),
    ] {
        stub.fail("list-type", 1, Fault::Answer(status, code));
        refused(place.list(""), expected);
        stub.fail("PUT", 1, Fault::Answer(status, code));
        refused(put(&*place, "x", &bytes(10)), expected);
        stub.fail("GET /bucket/backups/x", 1, Fault::Answer(status, code));
        refused(place.get("x"), expected);
    }
    let elsewhere = ObjectStores::default().open(&s3(&format!("http://127.0.0.1:{}", stub.port), "zork")).unwrap();
    refused(elsewhere.list(""), "no such bucket");
    refused(put(&*elsewhere, "x", &bytes(10)), "no such bucket");
    refused(put(&*elsewhere, "x", &bytes(LARGE)), "no such bucket");
    refused(elsewhere.remove("x"), "no such bucket");
    // Nothing listens there.
    let place = hasty().open(&s3("http://127.0.0.1:9", "bucket")).unwrap();
    refused(place.list(""), "cannot be reached");
}

#[test]
fn settings_that_mean_nothing_are_refused_by_name() {
    let check = |kind, text: &str, expected: &str| {
        let outcome = ObjectStores::default().open(&settings(kind, text));
        let error = outcome.err().unwrap_or_else(|| panic!("{text} is accepted")).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    use DestinationKind::{Azure, GoogleCloud, S3};
    let keys = r#""AwsAccessKey":"AKIA","AwsSecretKey":"s","BucketName":"b""#;
    check(S3, &format!(r#"{{{keys},"AwsRegionName":"x","Zork":1}}"#), "'S3Settings' has no 'Zork'");
    check(S3, &format!("{{{keys}}}"), "'AwsRegionName'");
    check(S3, r#"{"BucketName":"b","AwsRegionName":"x"}"#, "'AwsAccessKey'");
    check(S3, &format!(r#"{{{keys},"AwsRegionName":"x.evil.com/"}}"#), "'AwsRegionName'");
    check(S3, &format!(r#"{{{keys},"CustomServerUrl":"ftp://x"}}"#), "'CustomServerUrl'");
    check(S3, &format!(r#"{{{keys},"CustomServerUrl":"https://a:b@x"}}"#), "'CustomServerUrl'");
    check(S3, &format!(r#"{{{keys},"CustomServerUrl":"https://x","ForcePathStyle":1}}"#), "'ForcePathStyle'");
    check(S3, &format!(r#"{{{keys},"AwsRegionName":"x","RemoteFolderName":"a/../b"}}"#), "'RemoteFolderName'");
    check(Azure, r#"{"StorageContainer":"c","AccountName":"a"}"#, "'AccountKey' or 'SasToken'");
    check(Azure, r#"{"StorageContainer":"c","AccountName":"a.evil.com","SasToken":"sig=x"}"#, "'AccountName'");
    check(Azure, r#"{"StorageContainer":"c","AccountName":"a","AccountKey":"&"}"#, "base64");
    check(
        Azure,
        r#"{"StorageContainer":"c","AccountName":"a","SasToken":"sig=x","CustomServerUrl":"https://x?y"}"#,
        "'CustomServerUrl'",
    );
    check(GoogleCloud, r#"{"BucketName":"b","GoogleCredentialsJson":"zork"}"#, "'private_key'");
    check(GoogleCloud, &google("ftp://x"), "'gcs_base_url'");
}

/// Settings of Google with made-up credentials that name this address.
fn google(server: &str) -> String {
    format!(
        r#"{{"BucketName":"b","GoogleCredentialsJson":"{{\"private_key\":\"k\",\"private_key_id\":\"i\",\"client_email\":\"e\",\"disable_oauth\":true,\"gcs_base_url\":\"{server}\"}}"}}"#
    )
}

#[test]
fn only_operators_may_choose_any_address() {
    use DestinationKind::{Azure, GoogleCloud};
    let azure =
        r#"{"StorageContainer":"c","AccountName":"a","SasToken":"sig=x","CustomServerUrl":"http://127.0.0.1:9/a"}"#
            .to_owned();
    for (kind, text, expected) in
        [(Azure, azure, "only operators"), (GoogleCloud, google("https://evil.example"), "for operators")]
    {
        let mut given = settings(kind, &text);
        ObjectStores::default().open(&given).unwrap();
        given.is_restricted = true;
        let error = ObjectStores::default().open(&given).expect_err("it is accepted").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn no_secret_is_shown() {
    let stub = Stub::start();
    let given = s3(&format!("http://127.0.0.1:{}", stub.port), "bucket");
    let place = ObjectStores::default().open(&given).unwrap();
    no_secret(&format!("{given:?} {place:?} {}", place.place()));
    let error = ObjectStores::default().open(&settings(
        DestinationKind::S3,
        &format!(r#"{{"BucketName":"/","AwsAccessKey":"{ACCESS}","AwsSecretKey":"{SECRET}","CustomServerUrl":"http://u:{TOKEN}@x"}}"#),
    ));
    no_secret(&format!("{error:?}"));

    let (account, signature) = ("hush-hush-hush-hush-hush", "Zm9vYmFyYmF6%2Bxyz%3D");
    let token = format!("?sv=2026&sp=rwdl&sig={signature}");
    for properties in [format!(r#""AccountKey":"{}""#, "aHVzaC1odXNoLWh1c2g="), format!(r#""SasToken":"{token}""#)] {
        let given = settings(
            DestinationKind::Azure,
            &format!(
                r#"{{"StorageContainer":"c","AccountName":"a","CustomServerUrl":"http://127.0.0.1:9/a",{properties}}}"#
            ),
        );
        let place = hasty().open(&given).unwrap();
        let error = place.list("").unwrap_err();
        let shown = format!("{given:?} {place:?} {error} {error:?}");
        for secret in [account, signature, "Zm9vYmFyYmF6", "aHVzaC1odXNoLWh1c2g"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
