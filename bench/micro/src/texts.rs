//! GUIDs and change vectors to text and back, beside `uuid`.
use crate::Effort;
use micro::random::Random;
use micro::round::{OURS, compare, side};
use rookery_database::documents::{Batch, Expected};
use rookery_database::{Databases, DatabasesOptions};
use rookery_documents::{ChangeVector, id};
use std::hint::black_box;
use uuid::Uuid;

const COUNT: usize = 4096;

pub fn run(effort: Effort) {
    let mut random = Random(5);
    let uuids: Vec<Uuid> = (0..COUNT).map(|_| Uuid::from_u64_pair(random.next(), random.next())).collect();
    uuids.iter().for_each(|uuid| assert_eq!(uuid.to_string().as_bytes(), id::guid_text(uuid.as_bytes())));
    let mut buffer = [0; 36];
    let mut format_by_uuid = |count| {
        for n in 0..count {
            black_box(black_box(&uuids[n % COUNT]).hyphenated().encode_lower(&mut buffer));
        }
    };
    let ours = |count| (0..count).for_each(|n| _ = black_box(id::guid_text(black_box(uuids[n % COUNT].as_bytes()))));
    let sides = vec![side(OURS, ours), side("uuid", &mut format_by_uuid)];
    compare("guid format", effort.rounds, effort.operations, sides);

    // A document's own change vector, as each answer has it, from a database with real ids and etags.
    let databases = Databases::open(DatabasesOptions::in_memory()).unwrap();
    let database = databases.find_or_create("texts").unwrap();
    let mut batch = Batch::new();
    for n in 0..1000 {
        batch.put(&format!("users/{n}"), b"{}", Expected::Any).unwrap();
    }
    database.execute(batch).unwrap();
    let snapshot = database.read();
    let documents: Vec<_> = (0..1000).map(|n| snapshot.get(&format!("users/{n}")).unwrap().unwrap()).collect();
    let mut out = Vec::with_capacity(64);
    let ours = |count| {
        for n in 0..count {
            out.clear();
            black_box(&documents[n % 1000]).write_change_vector(&mut out);
            black_box(&out);
        }
    };
    let sides = vec![side(OURS, ours), side("uuid", &mut format_by_uuid)];
    compare("change vector format", effort.rounds, effort.operations, sides);

    let texts: Vec<String> = uuids.iter().map(Uuid::to_string).collect();
    let vectors: Vec<String> = documents.iter().map(|document| document.change_vector()).collect();
    let mut parse_by_uuid =
        |count| (0..count).for_each(|n| _ = black_box(Uuid::try_parse_ascii(black_box(texts[n % COUNT].as_bytes()))));
    let ours = |count| (0..count).for_each(|n| _ = black_box(ChangeVector::parse(black_box(&vectors[n % 1000]))));
    let sides = vec![side(OURS, ours), side("uuid", &mut parse_by_uuid)];
    compare("change vector parse", effort.rounds, effort.operations, sides);

    // What `If-Match` and `If-None-Match` ask.
    let ours = |count| {
        for n in 0..count {
            assert!(black_box(&documents[n % 1000]).has_change_vector(black_box(&vectors[n % 1000])));
        }
    };
    let sides = vec![side(OURS, ours), side("uuid", &mut parse_by_uuid)];
    compare("change vector match", effort.rounds, effort.operations, sides);
}
