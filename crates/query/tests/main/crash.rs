//! Crashes of an index at every operation of a simulated disk.
//!
//! The oracle: after a crash and opening again the index is as one of its batches left it, that of the etag it says, not one
//! before the last flush; every rule of the format holds; and the batches after that one, given again, bring it to the state
//! that it had: no document missed, none twice. What the index knows of itself is that of the same batch.

use crate::index_model::{FIELDS, Model, SOURCE, VECTOR, compare, random_batch};
use documents::Date;
use rookery_query::index::limits::ERRORS_KEPT_MAX;
use rookery_query::index::{Batch, Error, FieldNumber, Index, IndexError, IndexSnapshot, Notes};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use storage::Options;
use storage::io::simulated::{Fate, Fault, SimulatedIo};
use testing::random::Random;
use testing::seeds::{Case, seeds};

const BATCHES: u64 = 7;

/// What was done until the disk failed.
#[derive(Default)]
struct History {
    /// The batches, and the state after each; the last may not have been answered.
    steps: Vec<(Batch, Model, Known)>,
    /// Steps that were durable for sure.
    flushed: usize,
}

/// What an index knows of itself.
#[derive(Clone, Default, PartialEq, Debug)]
struct Known {
    attempted: u64,
    failed: u64,
    last_indexed: Option<Date>,
    errors: Vec<IndexError>,
}

impl Known {
    fn of(index: &IndexSnapshot<'_>) -> Known {
        let (history, errors) = (index.history().unwrap(), index.errors().unwrap());
        assert_eq!(index.error_count().unwrap(), errors.len() as u64);
        Known {
            attempted: history.attempted_count,
            failed: history.failed_count,
            last_indexed: history.last_indexed,
            errors,
        }
    }

    /// Random notes, by which it grows.
    fn note(&mut self, random: &mut Random, etag: u64) -> Notes {
        let failed = if random.chance(5) { ERRORS_KEPT_MAX as u64 * 2 / 3 } else { random.below(3) };
        let at = Date::from_ticks(etag);
        let error = |n| IndexError { at, document: Some(format!("us/{etag}/{n}")), message: "it is bad".to_owned() };
        let errors: Vec<_> = (0..failed).map(error).collect();
        self.attempted += failed + 7;
        self.failed += failed;
        self.last_indexed = Some(at);
        self.errors.extend(errors.iter().cloned());
        self.errors.drain(..self.errors.len().saturating_sub(ERRORS_KEPT_MAX));
        Notes { attempted: failed + 7, failed, indexed: Some(at), errors, ..Notes::default() }
    }
}

fn open(io: &SimulatedIo) -> Result<Index, Error> {
    let options = Options { io: Arc::new(io.clone()), background: false, ..Options::default() };
    Index::open(Path::new("/index"), options)?.with_vectors()
}

/// The fields, always with the same numbers: a batch of a history is given to what a crash left of the index too.
fn fields(index: &Index) -> Result<Vec<FieldNumber>, Error> {
    FIELDS.iter().chain([&VECTOR]).map(|name| index.field(name)).collect()
}

fn history(io: &SimulatedIo, seed: u64) -> History {
    let mut history = History::default();
    // An error ends the history where it is.
    let _ = run(io, seed, &mut history);
    history
}

fn run(io: &SimulatedIo, seed: u64, history: &mut History) -> Result<(), Error> {
    let mut random = Random::new(seed);
    let mut index = open(io)?;
    let fields = fields(&index)?;
    let (mut model, mut known) = (Model::new(), Known::default());
    for _ in 0..BATCHES {
        match random.below(7) {
            0 | 1 => {
                index.environment().flush()?;
                history.flushed = history.steps.len();
            }
            2 => {
                index.close()?;
                history.flushed = history.steps.len();
                index = open(io)?;
            }
            _ => {}
        }
        let mut batch = Batch::new();
        random_batch(&mut random, &fields, 30, &mut batch, &mut model);
        batch.set_notes(known.note(&mut random, model.etag));
        history.steps.push((batch, model.clone(), known.clone()));
        index.write(&history.steps[history.steps.len() - 1].0)?;
    }
    Ok(())
}

fn check(image: &SimulatedIo, history: &History) {
    let index = open(image).expect("an image of a crash opens");
    let fields = fields(&index).expect("the fields");
    let etag = index.read().unwrap().progress(SOURCE).unwrap().unwrap_or_default().items;
    let kept = match etag {
        0 => 0,
        _ => 1 + history.steps.iter().position(|(_, model, _)| model.etag == etag).expect("the etag of a batch"),
    };
    assert!(kept >= history.flushed, "batch {kept}, but {} were durable", history.flushed);
    let (empty, nothing) = (Model::new(), Known::default());
    let state = |count: usize| count.checked_sub(1).map_or(&empty, |last| &history.steps[last].1);
    let known = |count: usize| count.checked_sub(1).map_or(&nothing, |last| &history.steps[last].2);
    compare(&index.read().unwrap(), state(kept), &fields);
    assert_eq!(&Known::of(&index.read().unwrap()), known(kept));
    assert!(index.environment().verify().unwrap().problems.is_empty());
    for (batch, ..) in &history.steps[kept..] {
        index.write(batch).unwrap();
    }
    compare(&index.read().unwrap(), state(history.steps.len()), &fields);
    index.close().unwrap();
    let index = open(image).unwrap();
    compare(&index.read().unwrap(), state(history.steps.len()), &fields);
    let last = known(history.steps.len());
    assert_eq!(&Known::of(&index.read().unwrap()), last);
    index.clear_errors().unwrap();
    let cleared = image.crash(|| Fate::Lost);
    let index = open(&cleared).unwrap();
    assert_eq!(Known::of(&index.read().unwrap()), Known { errors: Vec::new(), ..last.clone() });
}

#[test]
fn a_crash_at_any_operation_leaves_the_index_at_a_batch_it_goes_on_from() {
    let (mut images, mut behind) = (0, 0);
    for seed in seeds(4, 150) {
        let _case = Case::of(seed);
        let whole = SimulatedIo::new();
        history(&whole, seed);
        let mut random = Random::new(seed ^ 0xc4a5);
        for at in 0..whole.operations() {
            let io = SimulatedIo::new();
            io.fail_at(Some(Fault { at, for_ever: at % 2 == 0, kind: ErrorKind::Other }));
            let history = history(&io, seed);
            io.fail_at(None);
            for _ in 0..2 {
                let image = io.crash(|| match random.below(3) {
                    0 => Fate::Lost,
                    1 => Fate::Persisted,
                    _ => Fate::Torn(random.next()),
                });
                check(&image, &history);
                images += 1;
            }
            behind += usize::from(history.flushed < history.steps.len());
        }
    }
    println!("{images} crash images");
    assert!(behind > 0, "no crash was in front of a batch");
}
