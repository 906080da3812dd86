//! A job that goes on after a change failed must not make half of that change durable.

use crate::model_support::{FOLDER, make_structures, options, verify};
use std::path::Path;
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, limits};

#[test]
fn a_value_that_is_refused_leaves_the_old_one() {
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    let location = environment
        .write(|tx| {
            structures.tree.put(tx, b"key", &[1; 50_000])?;
            let location = structures.records.insert(tx, &[&[1; 50_000]])?;
            structures.fixed.put(tx, 1, location.0)?;
            Ok::<_, Error>(location)
        })
        .unwrap();
    environment
        .write(|tx| {
            let big = vec![2; limits::VALUE_SIZE_MAX + 1];
            assert!(matches!(structures.tree.put(tx, b"key", &big), Err(Error::ValueTooLong { .. })));
            assert!(matches!(structures.records.update(tx, location, &[&big]), Err(Error::ValueTooLong { .. })));
            // The caller answers one command with an error and goes on with the others.
            structures.tree.put(tx, b"other", &[3; 50_000])
        })
        .unwrap();
    verify(&environment);
    let tx = environment.read();
    assert_eq!(structures.tree.get(&tx, b"key").unwrap(), Some(&[1; 50_000][..]));
    assert_eq!(structures.records.get(&tx, location).unwrap(), &[1; 50_000][..]);
}

#[test]
fn a_job_that_met_a_full_disk_is_rolled_back_even_if_it_reports_success() {
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = make_structures(&environment).unwrap();
    environment.write(|tx| structures.tree.put(tx, b"key", &[1; 5_000])).unwrap();
    io.set_capacity(Some(600 << 10));
    let outcome = environment.write(|tx| {
        assert!(structures.tree.put(tx, b"key", &vec![2; 4 << 20]).is_err());
        Ok::<_, Error>(())
    });
    assert!(matches!(outcome, Err(Error::DiskFull { .. })), "{outcome:?}");
    assert_eq!(structures.tree.get(&environment.read(), b"key").unwrap(), Some(&[1; 5_000][..]));
    verify(&environment);
}
