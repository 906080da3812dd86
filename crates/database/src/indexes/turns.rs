//! The run queues of indexing: which turn is next.
//!
//! Each priority has a run queue. Queues share the threads by stride scheduling (Waldspurger and Weihl, 1995): the queue with the lowest
//! *pass* is next. In it, the database that has used the least time is next, and of that the index that has used the least: a database
//! with many heavy indexes delays those of others no more than one with a single index does. Who was idle saves no credit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use query::definition::Priority;

/// One turn: a unit of work of the pool.
pub(crate) type Turn = Box<dyn FnOnce(&mut Scratch) + Send>;

/// Buffers that a thread reuses between turns.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Memory of batches: of one that is written, and one that is filled meanwhile.
    pub batches: [query::index::Batch; 2],
}

/// The time that an index, or all indexes of a database, have used, in nanoseconds.
#[derive(Default, Debug)]
pub(crate) struct TimeUsed(AtomicU64);

impl TimeUsed {
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Makes it at least `least`; gives the result.
    fn raise(&self, least: u64) -> u64 {
        self.0.fetch_max(least, Relaxed).max(least)
    }
}

/// What a database has had of the threads, for each priority apart: what is less urgent must not delay what is more.
#[derive(Default, Debug)]
pub(crate) struct Share {
    /// By all of its indexes of the priority.
    used: [TimeUsed; 3],
    /// The used time of the index that ran last.
    last_used: [TimeUsed; 3],
}

impl Share {
    /// An index of the database had a turn.
    pub fn add(&self, priority: Priority, time: Duration) {
        self.used[row(priority)].add(time);
    }
}

/// The place of a priority in lists.
fn row(priority: Priority) -> usize {
    match priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        Priority::High => 2,
    }
}

/// The stride of each priority: the cost of one turn.
const STRIDES: [u64; 3] = [4, 2, 1];

/// The run queues, by priority.
#[derive(Default)]
pub(super) struct Turns {
    queues: [Queue; 3],
    /// The pass of the queue that ran last.
    pass: u64,
    /// Number of places ever taken in a queue; it orders those with the same used time.
    count: u64,
    /// Of turns that wait.
    length: usize,
}

#[derive(Default)]
struct Queue {
    /// The databases that have turns here, by the addresses of their shares.
    databases: HashMap<usize, Waiting>,
    /// Each of them once.
    order: BinaryHeap<Reverse<Place>>,
    /// The pass of stride scheduling: the sum of the strides of all turns that ran.
    pass: u64,
    /// Used time of the database that ran last, in nanoseconds.
    used: u64,
}

/// The place of a database: by the time that it had used when it took the place, then by number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    used: u64,
    number: u64,
    database: usize,
}

/// The turns of one database.
struct Waiting {
    share: Arc<Share>,
    turns: BinaryHeap<Reverse<QueuedTurn>>,
}

/// A turn in a run queue, ordered by the used time of its index, then by its number.
struct QueuedTurn {
    used: u64,
    number: u64,
    turn: Turn,
}

impl PartialEq for QueuedTurn {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for QueuedTurn {}

impl PartialOrd for QueuedTurn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedTurn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.used, self.number).cmp(&(other.used, other.number))
    }
}

impl Turns {
    /// Adds a turn.
    ///
    /// * `share`: of its database.
    /// * `used`: by its index; `None`: it belongs to none.
    pub fn push(&mut self, priority: Priority, share: &Arc<Share>, used: Option<&TimeUsed>, turn: Turn) {
        let pass = self.pass;
        self.count += 1;
        let number = self.count;
        let row = row(priority);
        let queue = &mut self.queues[row];
        if queue.order.is_empty() {
            // An idle queue saves no credit, nor does an idle database or index.
            queue.pass = queue.pass.max(pass);
        }
        let last_used = share.last_used[row].get();
        let turn = QueuedTurn { used: used.map_or(last_used, |used| used.raise(last_used)), number, turn };
        let database = Arc::as_ptr(share) as usize;
        let waiting = queue.databases.entry(database).or_insert_with(|| {
            queue.order.push(Reverse(Place { used: share.used[row].raise(queue.used), number, database }));
            Waiting { share: share.clone(), turns: BinaryHeap::new() }
        });
        waiting.turns.push(Reverse(turn));
        self.length += 1;
    }

    /// The next turn.
    pub fn pop(&mut self) -> Option<Turn> {
        let waiting = (0..self.queues.len()).rev().filter(|row| !self.queues[*row].order.is_empty());
        let row = waiting.min_by_key(|row| self.queues[*row].pass)?;
        let queue = &mut self.queues[row];
        self.pass = queue.pass;
        queue.pass += STRIDES[row];
        self.count += 1;
        self.length -= 1;
        queue.pop(row, self.count)
    }

    /// How many turns wait.
    pub fn len(&self) -> usize {
        self.length
    }
}

impl Queue {
    /// * `row`: of this queue among the priorities.
    /// * `number`: of the next place of the database whose turn it is.
    fn pop(&mut self, row: usize, number: u64) -> Option<Turn> {
        loop {
            let Reverse(place) = self.order.pop()?;
            let waiting = self.databases.get_mut(&place.database)?;
            let used = waiting.share.used[row].get();
            if used > place.used {
                // A turn of it ended since it took its place.
                self.order.push(Reverse(Place { used, ..place }));
                continue;
            }
            self.used = self.used.max(used);
            let Reverse(QueuedTurn { used: used_by_index, turn, .. }) = waiting.turns.pop()?;
            waiting.share.last_used[row].raise(used_by_index);
            if waiting.turns.is_empty() {
                self.databases.remove(&place.database);
            } else {
                self.order.push(Reverse(Place { number, ..place }));
            }
            return Some(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn shares_follow_priorities_and_no_queue_starves() {
        let (mut turns, share) = (Turns::default(), Arc::default());
        let (sender, taken) = mpsc::channel();
        let add = |turns: &mut Turns, priority: Priority, count: usize| {
            for _ in 0..count {
                let sender = sender.clone();
                turns.push(priority, &share, None, Box::new(move |_| sender.send(priority).unwrap()));
            }
        };
        let take = |turns: &mut Turns, count: usize| {
            let mut scratch = Scratch::default();
            (0..count).for_each(|_| turns.pop().unwrap()(&mut scratch));
            let taken: Vec<Priority> = taken.try_iter().collect();
            [Priority::Low, Priority::Normal, Priority::High]
                .map(|priority| taken.iter().filter(|taken| **taken == priority).count())
        };
        add(&mut turns, Priority::High, 100);
        assert_eq!(take(&mut turns, 60), [0, 0, 60]);
        // Who comes late does not make up for what went before.
        add(&mut turns, Priority::Low, 100);
        add(&mut turns, Priority::Normal, 100);
        add(&mut turns, Priority::High, 100);
        assert_eq!(take(&mut turns, 70), [10, 20, 40]);
        assert_eq!((take(&mut turns, 270), turns.len()), ([90, 80, 100], 0));
    }

    #[test]
    fn the_index_with_the_least_used_time_is_next_and_saves_no_credit() {
        let (mut turns, share) = (Turns::default(), Arc::default());
        let (sender, taken) = mpsc::channel();
        let [slow, other, late] = [(); 3].map(|()| TimeUsed::default());
        let add = |turns: &mut Turns, name: &'static str, used: &TimeUsed| {
            let sender = sender.clone();
            turns.push(Priority::Normal, &share, Some(used), Box::new(move |_| sender.send(name).unwrap()));
        };
        let take = |turns: &mut Turns| {
            turns.pop().unwrap()(&mut Scratch::default());
            taken.try_recv().unwrap()
        };
        add(&mut turns, "slow", &slow);
        add(&mut turns, "other", &other);
        assert_eq!(take(&mut turns), "slow");
        slow.add(Duration::from_millis(100));
        add(&mut turns, "slow", &slow);
        for _ in 0..4 {
            assert_eq!(take(&mut turns), "other");
            other.add(Duration::from_millis(20));
            add(&mut turns, "other", &other);
        }
        other.add(Duration::from_millis(50));
        assert_eq!([take(&mut turns), take(&mut turns)], ["other", "slow"]);
        // One that comes later is next once, and has not saved up the time before.
        add(&mut turns, "late", &late);
        assert_eq!(take(&mut turns), "late");
        late.add(Duration::from_millis(200));
        add(&mut turns, "late", &late);
        add(&mut turns, "slow", &slow);
        assert_eq!([take(&mut turns), take(&mut turns)], ["slow", "late"]);
    }

    #[test]
    fn a_database_with_many_heavy_indexes_gets_no_more_than_one_with_a_single_index() {
        let mut turns = Turns::default();
        let (sender, taken) = mpsc::channel();
        let [heavy, single] = [(); 2].map(|()| Arc::<Share>::default());
        let add = |turns: &mut Turns, name: &'static str, share: &Arc<Share>, used: &TimeUsed| {
            let sender = sender.clone();
            turns.push(Priority::Normal, share, Some(used), Box::new(move |_| sender.send(name).unwrap()));
        };
        let take = |turns: &mut Turns| {
            turns.pop().unwrap()(&mut Scratch::default());
            taken.try_recv().unwrap()
        };
        let (indexes, own) = ([(); 40].map(|()| TimeUsed::default()), TimeUsed::default());
        indexes.iter().for_each(|used| add(&mut turns, "heavy", &heavy, used));
        assert_eq!(take(&mut turns), "heavy");
        heavy.add(Priority::Normal, Duration::from_secs(1));
        for _ in 0..3 {
            // 39 wait already, and none of their indexes has used any time.
            add(&mut turns, "single", &single, &own);
            assert_eq!(take(&mut turns), "single");
            own.add(Duration::from_millis(10));
            single.add(Priority::Normal, Duration::from_millis(10));
        }
        // It used less, but two of its turns are not owed in a row when it comes back late.
        assert_eq!([take(&mut turns), take(&mut turns)], ["heavy", "heavy"]);
        heavy.add(Priority::Normal, Duration::from_secs(2));
        add(&mut turns, "single", &single, &own);
        assert_eq!([take(&mut turns), take(&mut turns)], ["single", "heavy"]);
        assert_eq!(turns.len(), 36);
        // What its less urgent indexes use is not held against the others.
        heavy.add(Priority::Low, Duration::from_secs(60));
        assert_eq!(take(&mut turns), "heavy");
        single.add(Priority::Normal, Duration::from_secs(5));
        add(&mut turns, "single", &single, &own);
        assert_eq!([take(&mut turns), take(&mut turns)], ["heavy", "heavy"]);
    }
}
