//! Room in sections of records is used again, however it became free.

use storage::{Environment, Error, Location, Options, Records};

fn environment() -> (Environment, Records) {
    let environment = Environment::in_memory(Options::default()).unwrap();
    let records = environment.write(|tx| Records::open_or_create(tx, b"records")).unwrap();
    (environment, records)
}

fn insert(environment: &Environment, records: Records, count: usize, length: usize) -> Vec<Location> {
    let all = |tx: &mut storage::WriteTransaction<'_>| {
        (0..count).map(|_| records.insert(tx, &[&vec![7; length]])).collect::<Result<Vec<_>, Error>>()
    };
    environment.write(all).unwrap()
}

fn used_pages(environment: &Environment) -> u64 {
    assert!(environment.verify().unwrap().problems.is_empty());
    environment.statistics().unwrap().used_pages
}

#[test]
fn sections_whose_records_shrank_are_filled_again() {
    let (environment, records) = environment();
    let locations = insert(&environment, records, 40, 3_900);
    environment
        .write(|tx| locations.iter().try_for_each(|location| records.update(tx, *location, &[&[1; 100]]).map(drop)))
        .unwrap();
    let before = used_pages(&environment);
    insert(&environment, records, 36, 3_900);
    assert!(used_pages(&environment) <= before + 1, "{} pages, {before} before", used_pages(&environment));
    for location in locations {
        assert_eq!(records.get(&environment.read(), location).unwrap(), [1; 100]);
    }
}

#[test]
fn sections_that_ran_out_of_slots_are_filled_again() {
    let (environment, records) = environment();
    // A slot is used up long before the bytes are.
    let locations = insert(&environment, records, 255 * 8, 4);
    let before = used_pages(&environment);
    let deleted = locations.iter().enumerate().filter(|(index, _)| !index.is_multiple_of(4));
    environment.write(|tx| deleted.clone().try_for_each(|(_, location)| records.delete(tx, *location))).unwrap();
    insert(&environment, records, 255 * 6 - 255, 4);
    assert!(used_pages(&environment) <= before + 1, "{} pages, {before} before", used_pages(&environment));
}

#[test]
fn a_spare_section_that_filled_up_by_itself_is_passed_over() {
    let (environment, records) = environment();
    let locations = insert(&environment, records, 20, 3_900);
    // Half of each section goes, and what is left takes its room.
    for pair in locations.chunks(2) {
        environment
            .write(|tx| {
                records.delete(tx, pair[0])?;
                records.update(tx, pair[1], &[&[3; 4_000]])?;
                records.update(tx, pair[1], &[&[3; 3_000]])
            })
            .unwrap();
    }
    let before = used_pages(&environment);
    insert(&environment, records, 10, 4_000);
    assert!(used_pages(&environment) <= before + 1, "{} pages, {before} before", used_pages(&environment));
}
