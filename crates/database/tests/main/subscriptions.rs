//! Subscriptions in process, to documents and to revisions: what workers get, over acknowledgements, restarts, take-overs, changes and
//! concurrency.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use rookery_database::documents::{
    Batch, CollectionRevisions, CounterAction, CounterCommand, CounterIncludes, CounterOperation, Document, Expected,
    ItemKind, RevisionsConfiguration, StoreSettings,
};
use rookery_database::subscriptions::{
    BatchSink, Connected, Next, ReadIncludes, Strategy, SubscriptionRequest, Worker, WorkerEnd, WorkerOptions,
};
use rookery_database::{Database, Databases, DatabasesOptions, Error};

/// What a batch has, as text.
#[derive(Default)]
struct Taken {
    rows: Vec<String>,
    failures: Vec<String>,
    included: Vec<String>,
    /// Ids of the documents whose counters come along.
    counters: Vec<String>,
    buffer: Vec<u8>,
    size: usize,
}

impl BatchSink for Taken {
    fn begin(&mut self) -> &mut Vec<u8> {
        self.buffer.clear();
        &mut self.buffer
    }

    fn end(&mut self, failure: Option<&str>) {
        let row = String::from_utf8(self.buffer.clone()).unwrap();
        self.size += row.len();
        match failure {
            None => self.rows.push(row),
            Some(failure) => self.failures.push(format!("{failure}: {row}")),
        }
    }

    fn include(&mut self, document: &Document<'_>) {
        self.included.push(document.id().to_owned());
    }

    fn include_counters(&mut self, counters: &CounterIncludes) {
        let ids = counters.documents().iter().map(|counters| counters.document_id().to_owned());
        self.counters = ids.collect();
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl Taken {
    /// The ids of its documents, in order.
    fn ids(&self) -> Vec<String> {
        let id = |row: &String| row.split("\"@id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        self.rows.iter().map(id).collect()
    }
}

fn in_memory() -> Arc<Database> {
    Databases::open(DatabasesOptions::in_memory()).unwrap().find_or_create("Shop").unwrap()
}

fn on_disk(folder: &Path) -> (Arc<Databases>, Arc<Database>) {
    let databases = Databases::open(DatabasesOptions::folder(folder)).unwrap();
    let shop = databases.find_or_create("Shop").unwrap();
    (databases, shop)
}

fn put(database: &Database, id: &str, json: &str) {
    let mut batch = Batch::new();
    batch.put(id, json.as_bytes(), Expected::Any).unwrap();
    database.execute(batch).unwrap();
}

fn put_user(database: &Database, id: &str, age: u32) {
    put(database, id, &format!(r#"{{"Age":{age},"Friend":"users/0","@metadata":{{"@collection":"Users"}}}}"#));
}

fn request(name: &str, query: &str) -> SubscriptionRequest {
    SubscriptionRequest { name: Some(name.to_owned()), query: Some(query.to_owned()), ..Default::default() }
}

fn options(strategy: Strategy, count_max: usize) -> WorkerOptions {
    let reads = ReadIncludes { documents: true, counters: true };
    WorkerOptions { strategy, count_max, worker_id: None, address: "here".to_owned(), reads, wake: Arc::new(|| ()) }
}

#[track_caller]
fn connect(database: &Arc<Database>, name: &str, strategy: Strategy, count_max: usize) -> Worker {
    match database.connect_worker(name, options(strategy, count_max)).unwrap() {
        Connected::Worker(worker) => *worker,
        _ => panic!("the subscription is in use"),
    }
}

fn open(database: &Arc<Database>, name: &str, count_max: usize) -> Worker {
    connect(database, name, Strategy::OpenIfFree, count_max)
}

/// The next batch; `None` if all was sent.
fn take(worker: &Worker) -> Option<(u64, Taken)> {
    loop {
        let mut taken = Taken::default();
        match worker.next(&mut taken).unwrap() {
            Next::Batch(number) => return Some((number, taken)),
            Next::CaughtUp => return None,
            Next::Searching => {}
            Next::Ended(end) => panic!("{end:?}"),
        }
    }
}

fn acknowledge(worker: &Worker, batch: u64) {
    let acknowledgement = worker.acknowledge(batch).unwrap_or_else(|end| panic!("{end:?}"));
    worker.database().write(&acknowledgement.write).unwrap();
}

/// Takes and acknowledges all that there is.
fn take_all(worker: &Worker) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some((batch, taken)) = take(worker) {
        ids.extend(taken.ids());
        acknowledge(worker, batch);
    }
    ids
}

#[test]
fn documents_that_fit_come_in_order_and_again_when_they_change() {
    let shop = in_memory();
    (1..=5).for_each(|number| put_user(&shop, &format!("users/{number}"), number));
    put(&shop, "dogs/1", r#"{"Age":9,"@metadata":{"@collection":"Dogs"}}"#);
    shop.create_subscription(request("old", "from Users where Age >= 3")).unwrap();
    let worker = open(&shop, "OLD", 2);
    let (first, taken) = take(&worker).unwrap();
    assert_eq!(taken.ids(), ["users/3", "users/4"]);
    acknowledge(&worker, first);
    assert_eq!(take_all(&worker), ["users/5"]);
    put_user(&shop, "users/1", 30);
    put_user(&shop, "users/4", 1);
    put_user(&shop, "users/3", 40);
    assert_eq!(take_all(&worker), ["users/1", "users/3"]);
    assert_eq!(take_all(&worker), Vec::<String>::new());
}

#[test]
fn what_was_not_acknowledged_comes_again_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    {
        let (_databases, shop) = on_disk(folder.path());
        (1..=3).for_each(|number| put_user(&shop, &format!("users/{number}"), number));
        shop.create_subscription(request("all", "from Users")).unwrap();
        let worker = open(&shop, "all", 1);
        let (batch, _) = take(&worker).unwrap();
        acknowledge(&worker, batch);
        // This one is not acknowledged.
        take(&worker).unwrap();
        let progress = shop.subscription("all").unwrap().unwrap().progress;
        assert!(progress.etag > 0 && progress.acknowledged.is_some(), "{progress:?}");
        assert!(progress.change_vector.unwrap().starts_with("A:"));
    }
    let (_databases, shop) = on_disk(folder.path());
    let worker = open(&shop, "all", 10);
    assert_eq!(take_all(&worker), ["users/2", "users/3"]);
    // The same without a restart.
    put_user(&shop, "users/4", 4);
    take(&worker).unwrap();
    drop(worker);
    assert_eq!(take_all(&open(&shop, "all", 10)), ["users/4"]);
}

#[test]
fn a_query_projects_includes_and_tells_of_scripts_that_fail() {
    let shop = in_memory();
    put_user(&shop, "users/0", 1);
    put_user(&shop, "users/1", 2);
    let query = "declare function f(u) { if (u.Age == 1) { throw 'too young' } return { Twice: u.Age * 2 } } \
                 from Users as u select f(u) include u.Friend";
    shop.create_subscription(request("scripts", query)).unwrap();
    let (_, taken) = take(&open(&shop, "scripts", 10)).unwrap();
    assert!(taken.rows[0].starts_with(r#"{"Twice":4,"@metadata":{"@projection":true"#), "{:?}", taken.rows);
    assert!(taken.failures[0].contains("too young") && taken.failures[0].contains("users/0"), "{:?}", taken.failures);
    shop.create_subscription(request("included", "from Users where Age = 2 include Friend")).unwrap();
    let (_, taken) = take(&open(&shop, "included", 10)).unwrap();
    assert_eq!((taken.ids(), taken.included), (vec!["users/1".to_owned()], vec!["users/0".to_owned()]));
    shop.create_subscription(request(
        "called",
        "declare function g(u) { return u.Age > 1 } from Users as u where g(u)",
    ))
    .unwrap();
    assert_eq!(take_all(&open(&shop, "called", 10)), ["users/1"]);
    shop.create_subscription(request(
        "of the C# client",
        "declare function predicate() { return this.Age>1 }\r\nfrom 'Users' as doc\r\nwhere predicate.call(doc)",
    ))
    .unwrap();
    assert_eq!(take_all(&open(&shop, "of the C# client", 10)), ["users/1"]);
}

#[test]
fn queries_that_no_subscription_can_have_are_refused() {
    let shop = in_memory();
    for query in [
        "",
        "from Users order by Name",
        "from Users limit 5",
        "from index 'X'",
        "from Users group by Age select Age, count()",
        "from Users select distinct Age",
        "from Users where Age = $age",
        "from Users update { this.x = 1 }",
        "from Users where",
    ] {
        let refused = shop.create_subscription(request("x", query)).unwrap_err();
        assert!(matches!(refused, Error::BadSubscription { .. } | Error::Query(_)), "{query}: {refused}");
    }
    assert!(shop.subscriptions().unwrap().is_empty());
    let refused = shop.create_subscription(request(&"n".repeat(600), "from Users")).unwrap_err();
    assert!(refused.to_string().contains("SUBSCRIPTION_NAME_SIZE_MAX"), "{refused}");
}

#[test]
fn one_worker_at_a_time_unless_all_share() {
    let shop = in_memory();
    shop.create_subscription(request("all", "from Users")).unwrap();
    put_user(&shop, "users/1", 1);
    let first = open(&shop, "all", 10);
    let (batch, _) = take(&first).unwrap();
    for strategy in [Strategy::OpenIfFree, Strategy::Concurrent] {
        assert!(matches!(shop.connect_worker("all", options(strategy, 1)).unwrap(), Connected::InUse));
    }
    let rung = Arc::new(AtomicUsize::new(0));
    let ring = rung.clone();
    let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || _ = ring.fetch_add(1, Ordering::SeqCst));
    let waiting = WorkerOptions { wake, ..options(Strategy::WaitForFree, 1) };
    let Connected::Waiting(place) = shop.connect_worker("all", waiting).unwrap() else { panic!("it is not free") };
    assert_eq!(rung.load(Ordering::SeqCst), 0);

    // What the first one has goes to the second one, and its acknowledgement counts no more.
    let second = connect(&shop, "all", Strategy::TakeOver, 10);
    assert_eq!(first.end(), Some(WorkerEnd::TakenOver));
    assert!(matches!(first.acknowledge(batch), Err(Some(WorkerEnd::TakenOver))));
    assert!(matches!(first.next(&mut Taken::default()).unwrap(), Next::Ended(WorkerEnd::TakenOver)));
    drop(first);
    assert_eq!(take_all(&second), ["users/1"]);
    drop(second);
    assert!(rung.load(Ordering::SeqCst) > 0, "the waiting worker was not woken");
    drop(place);
    assert!(matches!(shop.connect_worker("none", options(Strategy::OpenIfFree, 1)), Err(Error::NoSubscription { .. })));
}

#[test]
fn changes_deletions_and_drops_send_workers_away() {
    let shop = in_memory();
    put_user(&shop, "users/1", 1);
    put_user(&shop, "users/2", 2);
    let made = shop.create_subscription(request("all", "from Users")).unwrap();
    assert!(matches!(shop.create_subscription(request("ALL", "from Dogs")), Err(Error::SubscriptionExists { .. })));
    let worker = open(&shop, "all", 10);
    assert_eq!(take_all(&worker), ["users/1", "users/2"]);

    let changed = shop.update_subscription(Some(made.id), request("old", "from Users where Age = 2")).unwrap();
    assert_eq!((changed.id, worker.end()), (made.id, Some(WorkerEnd::Changed)));
    assert!(shop.subscription("all").unwrap().is_none());
    // It goes on from where it was, until it is told another beginning.
    assert!(take_all(&open(&shop, "old", 10)).is_empty());
    let again = SubscriptionRequest {
        change_vector: Some("BeginningOfTime".to_owned()),
        ..request("old", "from Users where Age = 2")
    };
    shop.update_subscription(None, again).unwrap();
    let worker = open(&shop, "old", 10);
    assert_eq!(take_all(&worker), ["users/2"]);

    shop.drop_subscription_workers(Some("old"), None).unwrap();
    assert_eq!(worker.end(), Some(WorkerEnd::Dropped));
    let worker = open(&shop, "old", 10);
    shop.set_subscription_disabled("old", true).unwrap();
    assert_eq!(worker.end(), Some(WorkerEnd::Disabled));
    assert!(matches!(shop.connect_worker("old", options(Strategy::OpenIfFree, 1)).unwrap(), Connected::Disabled));
    shop.set_subscription_disabled("old", false).unwrap();
    let worker = open(&shop, "old", 10);
    assert!(shop.delete_subscription("OLD").unwrap() && !shop.delete_subscription("old").unwrap());
    assert_eq!(worker.end(), Some(WorkerEnd::Deleted));
    // Its number is not given again, nor its progress taken over.
    let next = shop.create_subscription(request("old", "from Users")).unwrap();
    assert!(next.id > made.id);
    assert_eq!(take_all(&open(&shop, "old", 10)).len(), 2);
}

#[test]
fn it_begins_where_it_is_told_to() {
    let shop = in_memory();
    put_user(&shop, "users/1", 1);
    let vector = shop.read().get("users/1").unwrap().unwrap().change_vector();
    put_user(&shop, "users/2", 2);
    for (name, begin, expected) in [("a", vector.as_str(), 1), ("b", "LastDocument", 0), ("c", "BeginningOfTime", 2)] {
        let begin = Some(begin.to_owned());
        shop.create_subscription(SubscriptionRequest { change_vector: begin, ..request(name, "from Users") }).unwrap();
        assert_eq!(take_all(&open(&shop, name, 10)).len(), expected, "{name}");
    }
    // What is new has no place that could stay as it is.
    for nonsense in ["nonsense", "DoNotChange"] {
        let wrong = SubscriptionRequest { change_vector: Some(nonsense.to_owned()), ..request("e", "from Users") };
        assert!(matches!(shop.create_subscription(wrong), Err(Error::BadSubscription { .. })), "{nonsense}");
    }
    let kept = SubscriptionRequest { change_vector: Some("DoNotChange".to_owned()), ..request("a", "from Users") };
    shop.update_subscription(None, kept).unwrap();
    assert!(take_all(&open(&shop, "a", 10)).is_empty());
}

#[test]
fn a_condition_that_nothing_fits_does_not_read_everything_again() {
    let shop = in_memory();
    let mut batch = Batch::new();
    for number in 0..5000 {
        batch
            .put(&format!("users/{number}"), br#"{"Age":1,"@metadata":{"@collection":"Users"}}"#, Expected::Any)
            .unwrap();
    }
    shop.execute(batch).unwrap();
    shop.create_subscription(request("none", "from Users where Age = 2")).unwrap();
    assert!(take(&open(&shop, "none", 10)).is_none());
    assert!(shop.subscription("none").unwrap().unwrap().progress.etag >= 5000);
}

/// What counters take counts like documents: a batch ends, however small these are.
#[test]
fn a_batch_ends_behind_the_counters_that_it_includes() {
    let shop = in_memory();
    for number in 0..10 {
        let id = format!("users/{number}");
        put_user(&shop, &id, number);
        let operation = |counter| CounterOperation {
            name: format!("{}{counter}", "x".repeat(300)),
            action: CounterAction::Increment(1),
        };
        let mut batch = Batch::new();
        batch.push_counters(CounterCommand::new(&id, (0..5_000).map(operation).collect(), false).unwrap());
        shop.execute(batch).unwrap();
    }
    shop.create_subscription(request("all", "from Users select Age include counters()")).unwrap();
    let worker = open(&shop, "all", 100);
    let mut counts = Vec::new();
    while let Some((batch, taken)) = take(&worker) {
        assert_eq!(taken.counters, taken.ids());
        counts.push(taken.rows.len());
        acknowledge(&worker, batch);
    }
    assert!(counts.len() > 1 && counts.iter().sum::<usize>() == 10, "{counts:?}");
}

/// A batch in the middle of whose making another worker takes the subscription over.
struct TakenOver<'d> {
    shop: &'d Arc<Database>,
    taken: Taken,
    other: Option<Worker>,
}

impl BatchSink for TakenOver<'_> {
    fn begin(&mut self) -> &mut Vec<u8> {
        self.other.get_or_insert_with(|| connect(self.shop, "all", Strategy::TakeOver, 10));
        self.taken.begin()
    }

    fn end(&mut self, failure: Option<&str>) {
        self.taken.end(failure);
    }

    fn include(&mut self, document: &Document<'_>) {
        self.taken.include(document);
    }

    fn include_counters(&mut self, counters: &CounterIncludes) {
        self.taken.include_counters(counters);
    }

    fn size(&self) -> usize {
        self.taken.size()
    }
}

#[test]
fn a_worker_that_takes_over_gets_what_the_other_one_is_reading() {
    let shop = in_memory();
    shop.create_subscription(request("all", "from Users")).unwrap();
    (1..=3).for_each(|number| put_user(&shop, &format!("users/{number}"), number));
    let first = connect(&shop, "all", Strategy::TakeOver, 10);
    let mut sink = TakenOver { shop: &shop, taken: Taken::default(), other: None };
    assert_eq!(first.next(&mut sink).unwrap(), Next::Ended(WorkerEnd::TakenOver));
    let second = sink.other.unwrap();
    let (batch, taken) = take(&second).unwrap();
    assert_eq!(taken.ids(), ["users/1", "users/2", "users/3"]);
    acknowledge(&second, batch);
    drop(first);
    drop(second);
    assert!(take(&connect(&shop, "all", Strategy::TakeOver, 10)).is_none(), "the acknowledgement counts");
}

/// A step of several workers that share a subscription.
#[derive(Clone, Debug)]
enum Step {
    Put(u8),
    Take(usize),
    Acknowledge(usize),
    Leave(usize),
}

fn step() -> impl proptest::strategy::Strategy<Value = Step> {
    prop_oneof![
        3 => (0..12_u8).prop_map(Step::Put),
        3 => (0..3_usize).prop_map(Step::Take),
        3 => (0..3_usize).prop_map(Step::Acknowledge),
        1 => (0..3_usize).prop_map(Step::Leave),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Of the model: a document is with one worker at a time; the last version of each is acknowledged in the end; and what was
    /// acknowledged when all workers leave does not come again.
    #[test]
    fn workers_that_share_get_each_document_one_at_a_time_and_all_of_them(steps in prop::collection::vec(step(), 1..60)) {
        let shop = in_memory();
        shop.create_subscription(request("all", "from Users")).unwrap();
        let join = || connect(&shop, "all", Strategy::Concurrent, 3);
        let mut workers: Vec<(Worker, Option<(u64, Taken)>)> = (0..3).map(|_| (join(), None)).collect();
        let mut version = 0;
        let mut written: BTreeMap<String, u32> = BTreeMap::new();
        let mut acknowledged: BTreeMap<String, u32> = BTreeMap::new();
        let note = |acknowledged: &mut BTreeMap<String, u32>, taken: &Taken| {
            for (id, row) in taken.ids().into_iter().zip(&taken.rows) {
                let age = row.split("\"Age\":").nth(1).unwrap().split(',').next().unwrap().parse::<u32>().unwrap();
                let known = acknowledged.entry(id).or_default();
                *known = age.max(*known);
            }
        };
        for step in steps {
            match step {
                Step::Put(number) => {
                    version += 1;
                    let id = format!("users/{number}");
                    put_user(&shop, &id, version);
                    written.insert(id, version);
                }
                Step::Take(at) if workers[at].1.is_none() => {
                    workers[at].1 = take(&workers[at].0);
                    let mut seen = BTreeSet::new();
                    for (_, held) in &workers {
                        for id in held.iter().flat_map(|(_, taken)| taken.ids()) {
                            prop_assert!(seen.insert(id.clone()), "two workers have {id}");
                        }
                    }
                }
                Step::Acknowledge(at) => {
                    if let Some((batch, taken)) = workers[at].1.take() {
                        acknowledge(&workers[at].0, batch);
                        note(&mut acknowledged, &taken);
                    }
                }
                Step::Leave(at) => {
                    let fresh = join();
                    workers[at] = (fresh, None);
                }
                Step::Take(_) => {}
            }
        }
        // Half of the time what is held is never acknowledged.
        workers.clear();
        let last = join();
        while let Some((batch, taken)) = take(&last) {
            acknowledge(&last, batch);
            note(&mut acknowledged, &taken);
        }
        prop_assert_eq!(&acknowledged, &written);
        drop(last);
        prop_assert!(take(&join()).is_none());
    }
}

fn configure_revisions(shop: &Database) {
    let users = ("Users".to_owned(), CollectionRevisions::default());
    let revisions = Arc::new(RevisionsConfiguration { default: None, collections: vec![users] });
    shop.documents().configure(StoreSettings { revisions, ..StoreSettings::default() });
}

/// `current<previous` of each pair, `-` for none.
fn pairs(taken: &Taken) -> Vec<String> {
    let name = |pair: &json::Value, of: &str| {
        let state = pair.get(of).unwrap();
        state.get("Age").map_or("-".to_owned(), |age| age.as_i64().unwrap().to_string())
    };
    let show = |row: &String| {
        let pair = json::Value::parse(row.as_bytes()).unwrap();
        format!("{}<{}", name(&pair, "Current"), name(&pair, "Previous"))
    };
    taken.rows.iter().map(show).collect()
}

fn take_pairs(worker: &Worker) -> Vec<String> {
    let mut all = Vec::new();
    while let Some((batch, taken)) = take(worker) {
        all.extend(pairs(&taken));
        acknowledge(worker, batch);
    }
    all
}

#[test]
fn revisions_come_with_those_before_them() {
    let shop = in_memory();
    shop.create_subscription(request("old", "from Users (Revisions = true)")).unwrap();
    let refused = shop.connect_worker("old", options(Strategy::OpenIfFree, 9)).err().unwrap();
    assert!(matches!(refused, Error::NoRevisions { .. }), "{refused}");
    configure_revisions(&shop);
    put_user(&shop, "users/1", 1);
    put_user(&shop, "users/2", 9);
    put_user(&shop, "users/1", 2);
    put(&shop, "dogs/1", r#"{"Age":5,"@metadata":{"@collection":"Dogs"}}"#);
    let mut batch = Batch::new();
    batch.delete("users/1", Expected::Any).unwrap();
    shop.execute(batch).unwrap();
    put_user(&shop, "users/1", 3);
    let worker = open(&shop, "old", 2);
    assert_eq!(worker.kind(), ItemKind::Revision);
    assert_eq!(take_pairs(&worker), ["1<-", "9<-", "2<1", "-<2", "3<-"]);
    put_user(&shop, "users/2", 10);
    let (first, taken) = take(&worker).unwrap();
    assert_eq!((pairs(&taken), taken.ids()), (vec!["10<9".to_owned()], vec!["users/2".to_owned(); 1]));
    drop(worker);
    // It was not acknowledged.
    let worker = open(&shop, "old", 2);
    let (again, taken) = take(&worker).unwrap();
    assert_eq!(pairs(&taken), ["10<9"]);
    assert_ne!(first, again);
    acknowledge(&worker, again);
    assert!(take(&worker).is_none());
    let check = |query: &str, expected: &[&str]| {
        shop.create_subscription(request(query, query)).unwrap();
        assert_eq!(take_pairs(&open(&shop, query, 100)), expected, "{query}");
    };
    // Behind the revision with a change vector.
    let vector = {
        let snapshot = shop.read();
        let place = snapshot.revisions("users/1", 2, 1).unwrap()[0];
        snapshot.revision_at(place).unwrap().document().unwrap().change_vector()
    };
    let later =
        SubscriptionRequest { change_vector: Some(vector), ..request("later", "from Users (Revisions = true)") };
    shop.create_subscription(later).unwrap();
    assert_eq!(take_pairs(&open(&shop, "later", 100)), ["-<2", "3<-", "10<9"]);
    check("from Users (Revisions = true) as d where d.Current.Age = 2", &["2<1"]);
    check("from Users (Revisions = true) where Current.Age = 2", &["2<1"]);
    // As in JavaScript null is 0 there, and a deletion before has no age to compare with.
    check("from Users (Revisions = true) as d where d.Current.Age > d.Previous.Age", &["1<-", "9<-", "2<1", "10<9"]);
    check("from Users (Revisions = true) as d where d.Current = null", &["-<2"]);
    check("from Users (Revisions = true) where Age = 2", &[]);
    check("from @all_docs (Revisions = true) where Current.Age = 9", &["9<-"]);
}

#[test]
fn pairs_are_projected_include_and_fail_as_documents_do() {
    let shop = in_memory();
    configure_revisions(&shop);
    put_user(&shop, "users/0", 7);
    put_user(&shop, "users/1", 1);
    put_user(&shop, "users/1", 2);
    let take_one = |query: &str| {
        shop.create_subscription(request(query, query)).unwrap();
        take(&open(&shop, query, 100)).unwrap().1
    };
    let taken = take_one(
        "from Users (Revisions = true) as d where d.Previous != null select { Now: d.Current.Age, Before: d.Previous.Age, Id: id(d), Own: d.Current['@metadata']['@id'] }",
    );
    let [row] = taken.rows.as_slice() else { panic!("{:?}", taken.rows) };
    assert!(row.starts_with(r#"{"Now":2,"Before":1,"Id":"users/1","Own":"users/1","@metadata":{"#), "{row}");
    assert!(row.contains(r#""@projection":true"#) && row.contains(r#""@id":"users/1""#), "{row}");
    let taken = take_one("from Users (Revisions = true) as d where d.Current.Age = 2 include d.Current.Friend");
    assert_eq!(taken.included, ["users/0"]);
    let taken = take_one("declare function f(d) { throw 'no'; } from Users (Revisions = true) as d select f(d)");
    assert_eq!((taken.rows.len(), taken.failures.len()), (0, 3), "{:?}", taken.failures);
    for (query, refused) in [
        ("from Users (Revisions = true) include counters()", "counters() in 'include'"),
        ("from Users (Revisions = true) order by Current.Age", "'order by'"),
    ] {
        let error = shop.create_subscription(request("x", query)).unwrap_err().to_string();
        assert!(error.contains(refused), "{error}");
    }
}

#[test]
fn revisions_of_one_document_come_in_order_to_several_workers() {
    let shop = in_memory();
    configure_revisions(&shop);
    (1..=4).for_each(|age| put_user(&shop, "users/1", age));
    put_user(&shop, "users/2", 9);
    shop.create_subscription(request("old", "from Users (Revisions = true)")).unwrap();
    let one = connect(&shop, "old", Strategy::Concurrent, 2);
    let other = connect(&shop, "old", Strategy::Concurrent, 2);
    let (first, taken) = take(&one).unwrap();
    assert_eq!(pairs(&taken), ["1<-", "2<1"]);
    // The rest of that document waits.
    let (second, taken) = take(&other).unwrap();
    assert_eq!(pairs(&taken), ["9<-"]);
    acknowledge(&other, second);
    assert!(take(&other).is_none());
    acknowledge(&one, first);
    let (third, taken) = take(&other).unwrap();
    assert_eq!(pairs(&taken), ["3<2", "4<3"]);
    drop(other);
    let (fourth, taken) = take(&one).unwrap();
    assert_eq!(pairs(&taken), ["3<2", "4<3"], "its worker left");
    assert_ne!(third, fourth);
    acknowledge(&one, fourth);
    assert!(take(&one).is_none());
}
