//! Tests of contents.

use super::*;
use crate::Options;

const NAME: &[u8] = b"contents";

fn environment() -> (Environment, Contents) {
    let environment = Environment::in_memory(Options::default()).unwrap();
    let contents = environment.write(|tx| Contents::open_or_create(tx, NAME)).unwrap();
    (environment, contents)
}

/// Bytes that differ from place to place.
fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| (at * 31 / 7) as u8 ^ seed).collect()
}

fn add(environment: &Environment, contents: Contents, hash: &[u8], pieces: &[Vec<u8>]) {
    environment.write(|tx| contents.begin(tx, hash, 0)).unwrap();
    let mut at = 0;
    for piece in pieces {
        let outcome = environment.write(|tx| contents.append(tx, hash, at, piece, 0)).unwrap();
        at += piece.len() as u64;
        assert_eq!(outcome, AppendOutcome::Stored { length: at });
    }
    let linked = environment.write(|tx| contents.link(tx, hash, hash)).unwrap();
    assert_eq!(linked, LinkOutcome::Linked(Content { length: at, references: 1 }));
}

fn read(environment: &Environment, contents: Contents, hash: &[u8], range: Range<u64>) -> Option<Vec<u8>> {
    let tx = environment.read();
    let mut reading = contents.read(&tx, hash, range).unwrap()?;
    let mut all = Vec::new();
    while let Some(bytes) = reading.next().unwrap() {
        assert!(!bytes.is_empty() && bytes.len() <= CONTENT_CHUNK_SIZE_MAX);
        all.extend_from_slice(bytes);
    }
    assert_eq!(reading.remaining(), 0);
    Some(all)
}

#[track_caller]
fn verify(environment: &Environment) {
    assert_eq!(environment.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_content_is_read_as_its_pieces_came() {
    let (environment, contents) = environment();
    // In a leaf, in one page, in a run, in several runs.
    let pieces = [bytes(10, 1), bytes(5_000, 2), bytes(50_000, 3), bytes(2 * CONTENT_CHUNK_SIZE_MAX + 77, 4)];
    add(&environment, contents, b"hash", &pieces);
    let whole = pieces.concat();
    assert!(read(&environment, contents, b"hash", 0..u64::MAX).unwrap() == whole);
    let length = whole.len() as u64;
    for range in [0..1, 9..11, 10..5_010, 5_011..54_000, 55_000..55_100, length - 1..length, length..length + 9, 7..7] {
        let expected = &whole[range.start as usize..range.end.min(length) as usize];
        assert!(read(&environment, contents, b"hash", range.clone()).unwrap() == expected, "{range:?}");
    }
    verify(&environment);
}

#[test]
fn a_range_that_is_turned_around_is_empty() {
    let (environment, contents) = environment();
    add(&environment, contents, b"hash", &[bytes(100, 1)]);
    #[expect(clippy::reversed_empty_ranges, reason = "what a client may ask for")]
    let read = read(&environment, contents, b"hash", 50..20);
    assert_eq!(read, Some(Vec::new()));
}

#[test]
fn a_content_may_be_empty() {
    let (environment, contents) = environment();
    add(&environment, contents, b"nothing", &[]);
    assert_eq!(read(&environment, contents, b"nothing", 0..10), Some(Vec::new()));
    verify(&environment);
}

#[test]
fn an_upload_is_no_content_before_it_is_linked() {
    let (environment, contents) = environment();
    environment.write(|tx| contents.begin(tx, b"hash", 0)).unwrap();
    environment.write(|tx| contents.append(tx, b"hash", 0, b"bytes", 0)).unwrap();
    assert_eq!(contents.find(&environment.read(), b"hash").unwrap(), None);
    assert_eq!(contents.upload_length(&environment.read(), b"hash").unwrap(), Some(5));
    assert!(!environment.write(|tx| contents.begin(tx, b"hash", 0)).unwrap(), "it was begun already");
    environment.write(|tx| contents.link(tx, b"hash", b"other")).unwrap();
    assert_eq!(contents.upload_length(&environment.read(), b"hash").unwrap(), None);
    assert_eq!(read(&environment, contents, b"other", 0..9), Some(b"bytes".to_vec()));
}

#[test]
fn a_piece_that_does_not_follow_changes_nothing() {
    let (environment, contents) = environment();
    let append = |at| environment.write(|tx| contents.append(tx, b"upload", at, b"12345", 0)).unwrap();
    assert_eq!(append(0), AppendOutcome::Missing);
    environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
    assert_eq!(append(0), AppendOutcome::Stored { length: 5 });
    assert_eq!(append(0), AppendOutcome::OtherLength { length: 5 });
    assert_eq!(append(9), AppendOutcome::OtherLength { length: 5 });
    assert_eq!(append(5), AppendOutcome::Stored { length: 10 });
    verify(&environment);
}

#[test]
fn limits_are_refused_by_name() {
    let (environment, contents) = environment();
    let name = [7; CONTENT_NAME_SIZE_MAX + 1];
    let begun = environment.write(|tx| contents.begin(tx, &name, 0));
    assert!(matches!(begun, Err(Error::KeyTooLong { max: CONTENT_NAME_SIZE_MAX, .. })));
    environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
    let linked = environment.write(|tx| contents.link(tx, b"upload", &name));
    assert!(matches!(linked, Err(Error::KeyTooLong { .. })));
    let piece = vec![0; CONTENT_APPEND_SIZE_MAX + 1];
    let appended = environment.write(|tx| contents.append(tx, b"upload", 0, &piece, 0));
    assert!(matches!(appended, Err(Error::ValueTooLong { max: CONTENT_APPEND_SIZE_MAX, .. })));
}

#[test]
fn equal_contents_are_stored_once_and_go_with_the_last_reference() {
    let (environment, contents) = environment();
    let used = || environment.statistics().unwrap().used_pages;
    let empty = used();
    let piece = bytes(300_000, 1);
    add(&environment, contents, b"hash", std::slice::from_ref(&piece));
    let once = used();
    environment.write(|tx| contents.begin(tx, b"second", 0)).unwrap();
    environment.write(|tx| contents.append(tx, b"second", 0, &piece, 0)).unwrap();
    let content = |references| Content { length: 300_000, references };
    let linked = environment.write(|tx| contents.link(tx, b"second", b"hash")).unwrap();
    assert_eq!(linked, LinkOutcome::Linked(content(2)));
    assert_eq!(used(), once, "the second upload's chunks are freed");
    assert_eq!(environment.write(|tx| contents.add_reference(tx, b"hash")).unwrap(), Some(content(3)));
    let unlink = || environment.write(|tx| contents.unlink(tx, b"hash")).unwrap();
    assert_eq!((unlink(), unlink()), (Some(2), Some(1)));
    assert!(read(&environment, contents, b"hash", 0..u64::MAX).unwrap() == piece);
    assert_eq!((unlink(), unlink()), (Some(0), None));
    assert_eq!(read(&environment, contents, b"hash", 0..1), None);
    assert_eq!(environment.write(|tx| contents.add_reference(tx, b"hash")).unwrap(), None);
    assert_eq!(used(), empty);
    verify(&environment);
}

#[test]
fn a_hash_stands_for_one_length() {
    let (environment, contents) = environment();
    add(&environment, contents, b"hash", &[bytes(10, 1)]);
    environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
    let stored = Content { length: 10, references: 1 };
    let linked = environment.write(|tx| contents.link(tx, b"upload", b"hash")).unwrap();
    assert_eq!(linked, LinkOutcome::OtherLength(stored));
    assert_eq!(contents.upload_length(&environment.read(), b"upload").unwrap(), Some(0), "nothing was changed");
    assert_eq!(environment.write(|tx| contents.link(tx, b"none", b"hash")).unwrap(), LinkOutcome::Missing);
}

#[test]
fn a_large_content_is_freed_in_steps() {
    let (environment, contents) = environment();
    let used = || environment.statistics().unwrap().used_pages;
    let empty = used();
    let count = CONTENT_CHUNKS_FREED_AT_ONCE * 2 + 10;
    let pieces: Vec<Vec<u8>> = (0..count).map(|index| bytes(10, index as u8)).collect();
    environment
        .write(|tx| {
            contents.begin(tx, b"upload", 0)?;
            (0..)
                .zip(&pieces)
                .try_for_each(|(index, piece)| contents.append(tx, b"upload", index * 10, piece, 0).map(drop))?;
            contents.link(tx, b"upload", b"hash")
        })
        .unwrap();
    let old = environment.read();
    environment.write(|tx| contents.unlink(tx, b"hash")).unwrap();
    assert_eq!(contents.find(&environment.read(), b"hash").unwrap(), None);
    assert!(contents.has_chunks_to_free(&environment.read()).unwrap());
    verify(&environment);
    assert!(environment.write(|tx| contents.free(tx)).unwrap(), "ten are left");
    verify(&environment);
    assert!(!environment.write(|tx| contents.free(tx)).unwrap());
    assert!(!contents.has_chunks_to_free(&environment.read()).unwrap());
    let mut reading = contents.read(&old, b"hash", 0..u64::MAX).unwrap().unwrap();
    for piece in &pieces {
        assert_eq!(reading.next().unwrap(), Some(&piece[..]), "an old snapshot sees it");
    }
    drop(old);
    assert_eq!(used(), empty);
    verify(&environment);
}

#[test]
fn uploads_are_removed_by_their_time_or_all() {
    let (environment, contents) = environment();
    for time in 0..100u64 {
        environment.write(|tx| contents.begin(tx, &time.to_be_bytes(), time)).unwrap();
    }
    // A later piece keeps it.
    environment.write(|tx| contents.append(tx, &3u64.to_be_bytes(), 0, &bytes(100_000, 1), 50)).unwrap();
    assert_eq!(contents.remove_uploads(&environment, Some(10)).unwrap(), 9);
    assert_eq!(contents.upload_length(&environment.read(), &3u64.to_be_bytes()).unwrap(), Some(100_000));
    assert_eq!(contents.remove_uploads(&environment, Some(10)).unwrap(), 0);
    assert_eq!(contents.remove_uploads(&environment, None).unwrap(), 91);
    let cancelled = environment.write(|tx| contents.cancel(tx, &3u64.to_be_bytes())).unwrap();
    assert!(!cancelled, "it is gone");
    verify(&environment);
}

#[test]
fn a_copy_has_all_contents_and_nothing_else() {
    let (environment, contents) = environment();
    let pieces = [bytes(9_000_000, 1), bytes(9_000_000, 2), bytes(3, 3)];
    add(&environment, contents, b"large", &pieces);
    add(&environment, contents, b"empty", &[]);
    environment.write(|tx| contents.add_reference(tx, b"empty")).unwrap();
    environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
    environment.write(|tx| contents.append(tx, b"upload", 0, b"not linked", 0)).unwrap();
    let (target, to) = self::environment();
    let mut copied = 0;
    contents.copy_into(&environment.read(), &target, to, |bytes| copied += bytes).unwrap();
    assert_eq!(copied, 18_000_003);
    assert!(read(&target, to, b"large", 0..u64::MAX).unwrap() == pieces.concat());
    let mut found = Vec::new();
    to.for_each(&target.read(), |hash, content| {
        found.push((hash.to_vec(), content.length, content.references));
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(found, [(b"empty".to_vec(), 0, 2), (b"large".to_vec(), 18_000_003, 1)]);
    assert_eq!(to.upload_length(&target.read(), b"upload").unwrap(), None);
    verify(&target);
}

/// Breaks a rule in the tree of contents, and says what `verify` finds.
#[track_caller]
fn check_broken(break_it: impl FnOnce(&mut WriteTransaction<'_>, Tree) -> Result<()> + Send, expected: &str) {
    let (environment, contents) = environment();
    add(&environment, contents, b"hash", &[bytes(10, 1), bytes(10_000, 2), bytes(10, 3)]);
    environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
    verify(&environment);
    environment.write(|tx| break_it(tx, contents.tree)).unwrap();
    let problems = environment.verify().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:?}");
}

#[test]
fn broken_rules_are_found() {
    let set = |number, length, references| ContentEntry { number, length, references }.encode();
    check_broken(|tx, tree| tree.delete(tx, &chunk_key(1, 10)).map(drop), "has a chunk at 10010");
    check_broken(|tx, tree| tree.delete(tx, &chunk_key(1, 10_010)).map(drop), "has 10020 bytes, its chunks have 10010");
    check_broken(|tx, tree| tree.put(tx, &chunk_key(2, 0), b"x"), "content 2 has 0 bytes, its chunks have 1");
    check_broken(|tx, tree| tree.put(tx, &chunk_key(7, 0), b"x"), "number 7 belongs to no content");
    check_broken(|tx, tree| tree.put(tx, &content_key(b"b"), &set(1, 10_020, 1)), "chunks of number 1");
    check_broken(|tx, tree| tree.put(tx, &content_key(b"b"), &set(2, 0, 1)), "chunks of number 2");
    check_broken(|tx, tree| tree.put(tx, &content_key(b"b"), &set(3, 0, 1)), "next number of a content is 3");
    check_broken(|tx, tree| tree.put(tx, &content_key(b"b"), &set(3, 0, 0)), "unknown or cut");
    check_broken(|tx, tree| tree.put(tx, &content_key(b"b"), b"cut"), "unknown or cut");
    check_broken(|tx, tree| tree.put(tx, b"?", b""), "unknown or cut");
    check_broken(|tx, tree| tree.delete(tx, &content_key(b"hash")).map(drop), "number 1 belongs to no content");
}

/// A cut entry ended the walk over its kind like the end of the kind: a compaction copied the entries before it, and succeeded.
#[test]
fn a_cut_entry_is_an_error_where_its_kind_is_gone_through() {
    let broken = |key: Vec<u8>, value: &[u8]| {
        let (environment, contents) = environment();
        add(&environment, contents, b"hash", &[bytes(10, 1)]);
        environment.write(|tx| contents.begin(tx, b"upload", 0)).unwrap();
        environment.write(|tx| contents.tree.put(tx, &key, value)).unwrap();
        (environment, contents)
    };
    let (environment, contents) = broken(content_key(b"a"), b"cut");
    let walked = contents.for_each(&environment.read(), |_, _| Ok::<_, Error>(()));
    assert!(matches!(walked, Err(Error::Corrupt { .. })), "{walked:?}");
    let (environment, contents) = broken(upload_key(b"a"), b"cut");
    let removed = contents.remove_uploads(&environment, None);
    assert!(matches!(removed, Err(Error::Corrupt { .. })), "{removed:?}");
    let (environment, contents) = broken(removal_key(1), b"not empty");
    let freed = contents.has_chunks_to_free(&environment.read());
    assert!(matches!(freed, Err(Error::Corrupt { .. })), "{freed:?}");
}

#[test]
fn contents_of_which_one_is_lost_or_cut_are_not_copied() {
    let check = |break_it: fn(&mut WriteTransaction<'_>, Tree) -> Result<()>| {
        let (environment, contents) = environment();
        add(&environment, contents, b"a", &[bytes(10, 1)]);
        add(&environment, contents, b"b", &[bytes(10, 2)]);
        environment.write(|tx| break_it(tx, contents.tree)).unwrap();
        let (target, to) = self::environment();
        let copied = contents.copy_into(&environment.read(), &target, to, |_| ());
        assert!(matches!(copied, Err(Error::Corrupt { .. })), "{copied:?}");
    };
    check(|tx, tree| tree.put(tx, &content_key(b"a"), b"cut"));
    check(|tx, tree| tree.delete(tx, &content_key(b"a")).map(drop));
}

#[test]
fn a_missing_chunk_is_an_error_where_it_is_read() {
    let (environment, contents) = environment();
    add(&environment, contents, b"hash", &[bytes(10, 1), bytes(10, 2), bytes(10, 3)]);
    environment.write(|tx| contents.tree.delete(tx, &chunk_key(1, 10))).unwrap();
    let tx = environment.read();
    let mut reading = contents.read(&tx, b"hash", 0..30).unwrap().unwrap();
    assert_eq!(reading.next().unwrap(), Some(&bytes(10, 1)[..]));
    assert!(matches!(reading.next(), Err(Error::Corrupt { .. })));
}

#[test]
fn a_name_of_contents_stands_for_nothing_else() {
    let (environment, _) = environment();
    assert!(matches!(Tree::open(&environment.read(), NAME), Err(Error::Corrupt { .. })));
    assert!(Contents::open(&environment.read(), b"other").unwrap().is_none());
    environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    assert!(matches!(Contents::open(&environment.read(), b"tree"), Err(Error::Corrupt { .. })));
}
