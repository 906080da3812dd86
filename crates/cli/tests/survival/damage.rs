//! Damaged files under the real program: RELIABILITY.md, P9 and P10.
//!
//! A database is built over HTTP and ended, cleanly or by a kill. Then one of its files, or of the node's own, is damaged,
//! and the server started. Each document is what it was, or the answer says that something is damaged; never is it
//! another one, or gone. Only after a kill may the last record of the journal be lost, since a damaged one looks like one that was being
//! written.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::history::{History, State};
use crate::ledger::Stored;
use crate::process::{Server, command, log_of, tool};
use crate::run::{Run, files_below, folder_in_memory};
use testing::random::Random;

const PAGE_SIZE: u64 = 8192;

/// Cases on one database; then another is built.
const CASES_PER_DATABASE: u64 = 50;

/// No record of a journal is smaller.
const RECORD_SIZE_MIN: u64 = 64;

#[test]
fn damage_is_found_and_never_served() {
    let run = Run::begin("damage_is_found_and_never_served", 15, 4000);
    let mut random = Random::new(run.seed);
    let mut figures = Figures::default();
    let mut built = None;
    for case in 0..run.rounds {
        if case % CASES_PER_DATABASE == 0 {
            built = Some([true, false].map(|is_clean| Database::build(is_clean, &mut random)));
        }
        let database = &built.as_ref().expect("it was built")[(case % 2) as usize];
        database.hurt(case, random.split(), &mut figures);
    }
    run.end(&figures.to_string());
}

/// A database as it was ended, and what is in it.
struct Database {
    folder: tempfile::TempDir,
    history: History,
    is_clean: bool,
}

/// How a case ended that did no harm.
enum Ending {
    /// Nothing was read wrongly: so many documents were refused.
    Served { refused: u64 },
    /// The server did not start, and said what is damaged.
    NotStarted,
    /// The journal ended early, by so many requests.
    ShortJournal { lost: u64 },
}

#[derive(Default)]
struct Figures {
    harmless: u64,
    refused: u64,
    not_started: u64,
    short: u64,
    documents: u64,
}

impl std::fmt::Display for Figures {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Figures { harmless, refused, not_started, short, documents } = self;
        write!(
            out,
            "{harmless} harmless, {refused} refused by requests, {not_started} at the start, {short} cost the end of a \
             killed journal; {documents} documents compared, 0 wrong"
        )
    }
}

impl Database {
    fn build(is_clean: bool, random: &mut Random) -> Database {
        let folder = folder_in_memory();
        let data = folder.path().join("data");
        let mut history = History::new();
        let server = Server::start(&data);
        let mut client = server.client();
        let answer = client.call("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.text());
        history.go_on(&mut client, 200, random);
        server.stop();
        // Some of it is in the data file now, and some more comes into the journal.
        let server = Server::start(&data);
        history.go_on(&mut server.client(), 60, random);
        match is_clean {
            true => server.stop(),
            false => server.kill(),
        };
        Database { folder, history, is_clean }
    }

    /// One case: a copy is damaged, started, read. What fails is kept for whoever looks into it.
    fn hurt(&self, case: u64, mut random: Random, figures: &mut Figures) {
        let copy = folder_in_memory();
        let data = copy.path().join("data");
        let original = self.folder.path().join("data");
        for path in files_below(&original) {
            let target = data.join(path.strip_prefix(&original).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&path, target).unwrap();
        }
        let harm = Harm::choose(&data, &mut random);
        match self.outcome(&data, &harm, &mut random) {
            Ok(Ending::Served { refused: 0 }) => figures.harmless += 1,
            Ok(Ending::Served { .. }) => figures.refused += 1,
            Ok(Ending::NotStarted) => figures.not_started += 1,
            Ok(Ending::ShortJournal { .. }) => figures.short += 1,
            Err(fault) => {
                let kept = copy.keep();
                panic!(
                    "case {case}, clean {}, {harm:?}: {fault}\nits files after the start: {}",
                    self.is_clean,
                    kept.display()
                )
            }
        }
        figures.documents += self.history.ids.len() as u64;
    }

    fn outcome(&self, data: &Path, harm: &Harm, random: &mut Random) -> Result<Ending, String> {
        let log = log_of(data);
        let server = match Server::try_start(&mut command(data), &log) {
            Ok(server) => server,
            Err(log) if names_damage(&log) => return Ok(Ending::NotStarted),
            Err(log) => return Err(format!("it does not start, and does not say what is damaged: {log}")),
        };
        let mut ending = self.read(&mut server.client())?;
        if random.chance(3) {
            // Whatever it answers, a write makes nothing worse.
            let _ = server.client().call("PUT", "/databases/db/docs?id=more", "{}");
            server.kill();
            let server = match Server::try_start(&mut command(data), &log) {
                Ok(server) => server,
                Err(log) if names_damage(&log) => return Ok(Ending::NotStarted),
                Err(log) => return Err(format!("it does not start again: {log}")),
            };
            ending = self.read(&mut server.client())?;
            server.kill();
        } else {
            server.kill();
        }
        if matches!(ending, Ending::Served { refused: 1.. }) && random.chance(3) {
            let (is_clean, text) = tool("check", data);
            if is_clean {
                return Err(format!("documents are refused, and 'rookery check' finds nothing: {text}"));
            }
        }
        match ending {
            Ending::ShortJournal { lost } if lost > harm.records_max() || self.is_clean || !harm.is_in_journal() => {
                Err(format!("{lost} acknowledged requests are gone without a word"))
            }
            ending => Ok(ending),
        }
    }

    /// Reads every id and all documents at once.
    fn read(&self, client: &mut Client) -> Result<Ending, String> {
        let mut found = State::new();
        let mut refused = Vec::new();
        for id in &self.history.ids {
            let answer = client.call("GET", &format!("/databases/db/docs?id={id}"), "").map_err(|e| e.to_string())?;
            match answer.status {
                200 => {
                    let (_, stored) = Stored::read(&answer.json()["Results"][0]);
                    found.insert(id.clone(), stored.text);
                }
                404 => {}
                500 | 503 if names_damage(&answer.text()) => refused.push(id),
                status => return Err(format!("{id}: {status} {}", answer.text())),
            }
        }
        let fits = |state: &&State| {
            let is_same = |id: &String| refused.contains(&id) || state.get(id) == found.get(id);
            self.history.ids.iter().all(is_same)
        };
        let lost = self.history.states.iter().rev().position(|state| fits(&state));
        let Some(lost) = lost else {
            let last = self.history.last();
            let wrong = self.history.ids.iter().find(|id| !refused.contains(id) && last.get(*id) != found.get(*id));
            let id = wrong.expect("something does not fit");
            return Err(format!("{id} was {:?} and is served as {:?}", last.get(id), found.get(id)));
        };
        // A stream is cut off where it meets damage; what comes to its end is complete.
        if let Ok(answer) = client.call("GET", "/databases/db/streams/docs", "")
            && answer.status == 200
        {
            let all = answer.json()["Results"].as_array().unwrap().iter().map(Stored::read).collect::<Vec<_>>();
            let state: State = all.into_iter().filter(|(id, _)| id != "more").map(|(id, it)| (id, it.text)).collect();
            if state != self.history.states[self.history.states.len() - 1 - lost] {
                return Err("a stream ends well, and other documents are in it".to_owned());
            }
        }
        match lost {
            0 => Ok(Ending::Served { refused: refused.len() as u64 }),
            lost => Ok(Ending::ShortJournal { lost: lost as u64 }),
        }
    }
}

fn names_damage(text: &str) -> bool {
    text.contains("is damaged")
}

/// What was done to one file.
#[derive(Debug)]
struct Harm {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Bits(Vec<u64>),
    Zeros { at: u64, size: u64 },
    Noise { at: u64, size: u64 },
    Swapped { at: [u64; 2] },
    Cut { to: u64 },
    Deleted,
}

impl Harm {
    /// Damages a file of a folder.
    fn choose(data: &Path, random: &mut Random) -> Harm {
        let files: Vec<PathBuf> = files_below(data).into_iter().filter(|path| !path.ends_with("lock")).collect();
        let of_database = |path: &&PathBuf| path.starts_with(data.join("databases"));
        let chosen: Vec<_> = match random.chance(5) {
            true => files.iter().filter(|path| !of_database(path)).collect(),
            false => files.iter().filter(of_database).collect(),
        };
        let path = (*random.of(&chosen)).clone();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let size = file.metadata().unwrap().len();
        let kind = match random.below(16) {
            0..4 => Kind::Bits((0..1 + random.below(4)).map(|_| random.below(size * 8)).collect()),
            4..7 => Kind::Zeros { at: random.below(size) & !511, size: 512 },
            7..9 => Kind::Zeros { at: random.below(size) & !4095, size: 4096 },
            9..12 => Kind::Noise { at: random.below(size) & !(PAGE_SIZE - 1), size: PAGE_SIZE },
            12..14 => Kind::Swapped { at: [0, 1].map(|_| random.below(size) & !(PAGE_SIZE - 1)) },
            14 => Kind::Cut { to: random.below(size) },
            _ => Kind::Deleted,
        };
        let harm = Harm { path, kind };
        harm.inflict(&file, size, random);
        harm
    }

    fn inflict(&self, file: &File, file_size: u64, random: &mut Random) {
        let within = |at: u64, size: u64| size.min(file_size - at) as usize;
        match &self.kind {
            Kind::Bits(bits) => {
                for bit in bits {
                    let mut byte = [0];
                    file.read_exact_at(&mut byte, bit / 8).unwrap();
                    byte[0] ^= 1 << (bit % 8);
                    file.write_all_at(&byte, bit / 8).unwrap();
                }
            }
            Kind::Zeros { at, size } => file.write_all_at(&vec![0; within(*at, *size)], *at).unwrap(),
            Kind::Noise { at, size } => file.write_all_at(&random.bytes(within(*at, *size)), *at).unwrap(),
            Kind::Swapped { at: [first, second] } => {
                let pages = [*first, *second].map(|at| {
                    let mut page = vec![0; PAGE_SIZE.min(file_size) as usize];
                    file.read_exact_at(&mut page, at).unwrap();
                    page
                });
                file.write_all_at(&pages[1], *first).unwrap();
                file.write_all_at(&pages[0], *second).unwrap();
            }
            Kind::Cut { to } => file.set_len(*to).unwrap(),
            Kind::Deleted => std::fs::remove_file(&self.path).unwrap(),
        }
    }

    fn is_in_journal(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-"))
    }

    /// How many records can have been at the end of a journal, and in what was damaged.
    fn records_max(&self) -> u64 {
        match &self.kind {
            Kind::Bits(bits) => bits.len() as u64,
            Kind::Zeros { size, .. } | Kind::Noise { size, .. } => 1 + size / RECORD_SIZE_MIN,
            Kind::Swapped { .. } => 2 * (1 + PAGE_SIZE / RECORD_SIZE_MIN),
            // The file `journals` tells how long the newest one was.
            Kind::Cut { .. } | Kind::Deleted => 0,
        }
    }
}
