//! Pages that the device cannot read are errors of those who read them. Where they were touched in a map, the process would end.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::hooked_io::{Call, HookedIo};
use crate::model_support::{FOLDER, options};
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, Options, Tree};

const KEY_COUNT: u32 = 2_000;

fn fill(environment: &Environment) -> Tree {
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"keys")).unwrap();
    environment.write(|tx| (0..KEY_COUNT).try_for_each(|key| tree.put(tx, &key.to_be_bytes(), &[7; 100]))).unwrap();
    environment.flush().unwrap();
    tree
}

/// How many keys there are, or the first error.
fn count(environment: &Environment) -> Result<u32, Error> {
    let tx = environment.read();
    let tree = Tree::open(&tx, b"keys")?.expect("the tree is there");
    let mut found = 0;
    for key in 0..KEY_COUNT {
        found += u32::from(tree.get(&tx, &key.to_be_bytes())?.is_some());
    }
    Ok(found)
}

#[test]
fn a_page_that_cannot_be_read_is_an_error_and_is_read_again_later() {
    let disk = SimulatedIo::default();
    let bad = Arc::new(AtomicBool::new(false));
    let is_bad = bad.clone();
    let io = HookedIo::before(Call::Read, &disk, move |path| {
        match is_bad.load(Ordering::SeqCst) && path.ends_with("data") {
            true => Err(ErrorKind::Other.into()),
            false => Ok(()),
        }
    });
    let environment = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    fill(&environment);
    drop(environment);
    let environment = Environment::open(Path::new(FOLDER), Options { io, ..options(&disk) }).unwrap();
    bad.store(true, Ordering::SeqCst);
    let error = count(&environment).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("data")), "{error}");
    assert!(environment.verify().is_err(), "a check tells of it");
    bad.store(false, Ordering::SeqCst);
    assert_eq!(count(&environment).unwrap(), KEY_COUNT);
}

/// By the operating system itself: it ends a process that touches what lies behind the end of a file.
#[test]
fn a_file_that_was_cut_beneath_is_an_error() {
    let folder = std::env::temp_dir().join(format!("rookery-unreadable-{}", std::process::id()));
    let open = || Environment::open(&folder, Options::default()).unwrap();
    let environment = open();
    fill(&environment);
    drop(environment);
    let environment = open();
    let file = std::fs::OpenOptions::new().write(true).open(folder.join("data")).unwrap();
    file.set_len(4 * 8192).unwrap();
    let error = count(&environment).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("data")), "{error}");
    drop(environment);
    std::fs::remove_dir_all(folder).unwrap();
}
