//! A compacted environment takes the place of another one that is read meanwhile, and disks fail while it does.

use std::path::Path;
use std::sync::Arc;

use storage::io::simulated::{Fate, Fault, SimulatedIo};
use storage::{Environment, Options, Tree};

const FOLDER: &str = "/environment";

fn options(disk: &SimulatedIo) -> Options {
    Options { io: Arc::new(disk.clone()), background: false, ..Options::default() }
}

/// An environment whose tree says `value`, at `path`.
fn environment(disk: &SimulatedIo, path: &Path, value: &[u8]) -> (Environment, Tree) {
    let environment = Environment::open(path, options(disk)).unwrap();
    let tree = environment.write(|tx| Tree::open_or_create(tx, b"tree")).unwrap();
    for number in 0..200_u32 {
        environment.write(|tx| tree.put(tx, &number.to_be_bytes(), value)).unwrap();
    }
    (environment, tree)
}

fn copy(disk: &SimulatedIo) -> std::path::PathBuf {
    let folder = Path::new(FOLDER).join("compacted");
    environment(disk, &folder, b"new").0.close().unwrap();
    folder
}

/// What all values of the tree are.
fn value(environment: &Environment) -> Vec<u8> {
    let tx = environment.read();
    let tree = Tree::open(&tx, b"tree").unwrap().expect("it is there");
    let values = (0..200_u32).map(|number| tree.get(&tx, &number.to_be_bytes()).unwrap().expect("each is there"));
    let mut values: Vec<&[u8]> = values.collect();
    values.dedup();
    assert_eq!(values.len(), 1, "it is one of the states of the environment, whole");
    values[0].to_vec()
}

#[test]
fn who_reads_an_environment_goes_on_when_another_one_has_its_folder() {
    let disk = SimulatedIo::new();
    let (old, tree) = environment(&disk, Path::new(FOLDER), b"old");
    let copy = copy(&disk);
    // What these see is not the last state, which cannot be flushed as long as they live.
    let (first, second) = (old.read(), old.read());
    old.write(|tx| tree.put(tx, &7_u32.to_be_bytes(), b"later")).unwrap();
    old.replace_by(&copy).unwrap();
    let new = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
    assert_eq!(value(&new), b"new");
    let tree_of_new = Tree::open(&new.read(), b"tree").unwrap().unwrap();
    for number in 0..2_000_u32 {
        new.write(|tx| tree_of_new.put(tx, &(number % 200).to_be_bytes(), b"newer")).unwrap();
    }
    new.flush().unwrap();
    for tx in [&first, &second] {
        assert_eq!(tree.get(tx, &7_u32.to_be_bytes()).unwrap(), Some(&b"old"[..]));
    }
    assert_eq!(tree.get(&old.read(), &7_u32.to_be_bytes()).unwrap(), Some(&b"later"[..]));
    assert!(old.write(|tx| tree.put(tx, b"x", b"y")).is_err(), "it takes no writes");
    old.flush().unwrap();
    drop((first, second));
    drop(old);
    // Nothing that the old one did after that has touched the files of the new one.
    assert_eq!(value(&new), b"newer");
    drop(new);
    let new = Environment::open(Path::new(FOLDER), options(&disk.crash(|| Fate::Lost))).unwrap();
    assert_eq!(value(&new), b"newer");
    assert_eq!(new.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_crash_or_a_failing_disk_at_any_operation_leaves_one_of_the_two() {
    let (mut found_old, mut found_new) = (0, 0);
    for at in 0.. {
        let disk = SimulatedIo::new();
        let (old, _) = environment(&disk, Path::new(FOLDER), b"old");
        let copy = copy(&disk);
        let kind = std::io::ErrorKind::Other;
        let fault = Fault { at: disk.operations() + at, for_ever: true, kind };
        disk.fail_at(Some(fault));
        let replaced = old.replace_by(&copy);
        let is_met = disk.operations() > fault.at;
        disk.fail_at(None);
        for fate in [Fate::Lost, Fate::Persisted] {
            let image = disk.crash(|| fate);
            let opened = Environment::open(Path::new(FOLDER), options(&image)).unwrap();
            match value(&opened).as_slice() {
                b"old" => {
                    assert!(replaced.is_err(), "what was put in place is durable");
                    found_old += 1;
                }
                _ => found_new += 1,
            }
            assert_eq!(opened.verify().unwrap().problems, Vec::<String>::new());
        }
        // The process goes on with what is there.
        old.release();
        let opened = Environment::open(Path::new(FOLDER), options(&disk)).unwrap();
        value(&opened);
        if !is_met {
            replaced.unwrap();
            assert!(found_old > 0 && found_new > 2, "{found_old} {found_new}");
            return;
        }
    }
}
