//! The oracle for damaged bytes: what is read without an error is right.

use crate::model_support::{self, FOLDER, Model, apply, apply_to_model, options, random_change};
use std::path::Path;
use storage::io::simulated::SimulatedIo;
use storage::{Environment, Error, FixedTree, Location, Records, Tree};
use testing::random::Random;

/// An environment with some flushed and some unflushed transactions; its model, and that before the last transaction.
pub fn build(seed: u64, close: bool) -> (SimulatedIo, [Model; 2]) {
    build_of(seed, close, 12)
}

/// The same with as many transactions as are asked for; the last five are not flushed.
pub fn build_of(seed: u64, close: bool, transactions: u64) -> (SimulatedIo, [Model; 2]) {
    let io = SimulatedIo::new();
    let environment = Environment::open(Path::new(FOLDER), options(&io)).unwrap();
    let structures = model_support::make_structures(&environment).unwrap();
    let mut random = Random::at(seed);
    let mut model = Model::default();
    let mut before_last = Model::default();
    for step in 0..transactions {
        before_last = model.clone();
        environment
            .write(|tx| {
                for _ in 0..20 {
                    let change = random_change(&mut random, &model);
                    apply(&structures, tx, &model, &change)?;
                    apply_to_model(&mut model, &change);
                }
                Ok::<_, Error>(())
            })
            .unwrap();
        if step + 6 == transactions {
            environment.flush().unwrap();
        }
    }
    if close {
        environment.close().unwrap();
    }
    (io, [model, before_last])
}

/// Reads everything; the first error ends it.
pub fn read(environment: &Environment) -> Result<Model, Error> {
    let tx = environment.read();
    let gone = "a structure that was made is not there";
    let mut model = Model::default();
    let tree = Tree::open(&tx, b"tree")?.expect(gone);
    let mut cursor = tree.cursor(&tx);
    while let Some((key, value)) = cursor.next()? {
        model.tree.insert(key.to_vec(), value.to_vec());
    }
    let fixed = FixedTree::open(&tx, b"fixed")?.expect(gone);
    let records = Records::open(&tx, b"records")?.expect(gone);
    let mut cursor = fixed.cursor(&tx);
    while let Some((key, value)) = cursor.next()? {
        model.records.insert(key, records.get(&tx, Location(value))?.to_vec());
    }
    Ok(model)
}

/// Whether all of an allowed state is served; else the damage was found. Anything else is a failure.
pub fn served_right(image: &SimulatedIo, allowed: &[Model]) -> bool {
    let seen = Environment::open(Path::new(FOLDER), options(image)).and_then(|environment| read(&environment));
    match seen {
        Ok(seen) => {
            let right = allowed.iter().any(|model| model.tree == seen.tree && model.records == seen.records);
            assert!(right, "wrong content is served: {seen:?} instead of {allowed:?}");
            true
        }
        Err(Error::Corrupt { .. } | Error::CorruptFile { .. }) => false,
        Err(error) => panic!("damage is reported as something else: {error}"),
    }
}
