//! The structures of an index environment, by their names in the catalog, and the single values among them.

use super::batch::Progress;
use super::dictionary::term::FieldNumber;
use super::error::{Error, Result, corrupt};
use super::graph::vectors::Vectors;
use super::groups::group::Groups;
use super::groups::outputs::Outputs;
use super::history::{self, History, IndexError, Notes};
use super::limits::{ENTRY_ID_MAX, FIELD_COUNT_MAX};
use super::references::References;
use storage::{Environment, FixedTree, Reader, Records, Tree, WriteTransaction};

/// The version of everything that an index keeps.
const VERSION_NOW: u64 = 11;

const POSTINGS: &[u8] = b"index/postings";
const ENTRIES: &[u8] = b"index/entries";
const RECORDS: &[u8] = b"index/records";
const DOCUMENTS: &[u8] = b"index/documents";
const FIELDS: &[u8] = b"index/fields";
const STATE: &[u8] = b"index/state";

/// The tree that leads to records, and these.
pub(super) const PLACED: (&[u8], &[u8]) = (ENTRIES, RECORDS);

/// Names in the state. A source's progress stands under its name, after [`SOURCE`].
const VERSION: &[u8] = b"version";
const COUNTERS: &[u8] = b"counters";
const HISTORY: &[u8] = b"history";
const SOURCE: &[u8] = b"source/";
const RESUME: &[u8] = b"resume/";

/// Handles of everything; they stay valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    /// Posting lists of all fields: [`super::postings::list`] under [`super::dictionary::key`].
    pub postings: Tree,
    /// Entry id to the location of its record.
    pub entries: FixedTree,
    /// Records of entries: [`super::entry`].
    pub records: Records,
    /// Lower-cased document id to the ids of its entries: [`super::postings::runs`] from base 0.
    pub documents: Tree,
    /// Name of a field to its number: 2 bytes big-endian.
    pub fields: Tree,
    /// Single values by name.
    state: Tree,
    /// What a reduce works on.
    pub groups: Option<Groups>,
    /// Which documents the results of a reduce are to be.
    pub outputs: Option<Outputs>,
    /// Which documents asked for which.
    pub references: Option<References>,
    /// Vectors and their graphs.
    pub vectors: Option<Vectors>,
}

/// Counts of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counters {
    /// Above all ids of entries that ever were; at least 1.
    pub next_entry: u64,
    pub entry_count: u64,
    pub document_count: u64,
}

impl Schema {
    /// Finds the structures, or makes them in a new environment.
    pub fn open(environment: &Environment) -> Result<Schema> {
        let found = Self::find(&environment.read())?;
        match found {
            Some(schema) => Ok(schema),
            None if !environment.is_empty()? => Err(Error::NotAnIndex),
            None => environment.write(Self::create),
        }
    }

    fn find(reader: &impl Reader) -> Result<Option<Schema>> {
        let Some(state) = Tree::open(reader, STATE)? else { return Ok(None) };
        match state.get(reader, VERSION)?.and_then(u64_of) {
            Some(VERSION_NOW) => {}
            Some(found) if found > VERSION_NOW => return Err(Error::NewerFormat { found, known: VERSION_NOW }),
            Some(found @ 1..) => return Err(Error::OlderFormat { found, known: VERSION_NOW }),
            _ => return Err(corrupt("an index says the version of its format")),
        }
        let missing = || corrupt("all structures of an index exist");
        Ok(Some(Schema {
            postings: Tree::open(reader, POSTINGS)?.ok_or_else(missing)?,
            entries: FixedTree::open(reader, ENTRIES)?.ok_or_else(missing)?,
            records: Records::open(reader, RECORDS)?.ok_or_else(missing)?,
            documents: Tree::open(reader, DOCUMENTS)?.ok_or_else(missing)?,
            fields: Tree::open(reader, FIELDS)?.ok_or_else(missing)?,
            state,
            groups: Groups::find(reader)?,
            outputs: Outputs::find(reader)?,
            references: References::find(reader)?,
            vectors: Vectors::find(reader)?,
        }))
    }

    fn create(tx: &mut WriteTransaction<'_>) -> Result<Schema> {
        let schema = Schema {
            postings: Tree::open_or_create(tx, POSTINGS)?,
            entries: FixedTree::open_or_create(tx, ENTRIES)?,
            records: Records::open_or_create(tx, RECORDS)?,
            documents: Tree::open_or_create(tx, DOCUMENTS)?,
            fields: Tree::open_or_create(tx, FIELDS)?,
            state: Tree::open_or_create(tx, STATE)?,
            groups: None,
            outputs: None,
            references: None,
            vectors: None,
        };
        schema.state.put(tx, VERSION, &VERSION_NOW.to_be_bytes())?;
        schema.set_counters(tx, Counters { next_entry: 1, entry_count: 0, document_count: 0 })?;
        Ok(schema)
    }

    pub fn counters(&self, reader: &impl Reader) -> Result<Counters> {
        let [next_entry, entry_count, document_count] =
            self.state.get(reader, COUNTERS)?.and_then(u64s_of).ok_or_else(|| corrupt("an index has its counters"))?;
        if !(1..=ENTRY_ID_MAX).contains(&next_entry) || entry_count >= next_entry || document_count > entry_count {
            return Err(corrupt("an index has fewer documents and entries than it gave ids"));
        }
        Ok(Counters { next_entry, entry_count, document_count })
    }

    pub fn set_counters(&self, tx: &mut WriteTransaction<'_>, counters: Counters) -> Result<()> {
        let words = [counters.next_entry, counters.entry_count, counters.document_count];
        Ok(self.state.put(tx, COUNTERS, words.map(u64::to_be_bytes).as_flattened())?)
    }

    /// Counts and dates; those of an index that never noted any are 0.
    pub fn history(&self, reader: &impl Reader) -> Result<History> {
        let Some(value) = self.state.get(reader, HISTORY)? else { return Ok(History::default()) };
        History::decode(u64s_of(value).ok_or_else(|| corrupt("the history of an index has six numbers"))?)
    }

    /// Adds to them.
    pub fn note(&self, tx: &mut WriteTransaction<'_>, notes: &Notes) -> Result<()> {
        let mut history = self.history(tx)?;
        history.add(tx, notes)?;
        Ok(self.state.put(tx, HISTORY, history.words().map(u64::to_be_bytes).as_flattened())?)
    }

    /// The errors that are kept, the oldest first.
    pub fn errors(&self, reader: &impl Reader) -> Result<Vec<IndexError>> {
        history::errors(reader)
    }

    pub fn error_count(&self, reader: &impl Reader) -> Result<u64> {
        self.history(reader)?.error_count(reader)
    }

    pub fn progress(&self, reader: &impl Reader, source: &str) -> Result<Option<Progress>> {
        let Some(value) = self.state.get(reader, &source_key(source))? else { return Ok(None) };
        let [items, tombstones] = u64s_of(value).ok_or_else(|| corrupt("a source has two etags"))?;
        Ok(Some(Progress { items, tombstones }))
    }

    pub fn set_progress(&self, tx: &mut WriteTransaction<'_>, source: &str, progress: Progress) -> Result<()> {
        let words = [progress.items, progress.tombstones];
        Ok(self.state.put(tx, &source_key(source), words.map(u64::to_be_bytes).as_flattened())?)
    }

    /// Where a source is gone on with, within what is next of it.
    pub fn resume<'t>(&self, reader: &'t impl Reader, source: &str) -> Result<Option<&'t [u8]>> {
        Ok(self.state.get(reader, &[RESUME, source.as_bytes()].concat())?)
    }

    /// * `at`: empty: with what is next of it.
    pub fn set_resume(&self, tx: &mut WriteTransaction<'_>, source: &str, at: &[u8]) -> Result<()> {
        let key = [RESUME, source.as_bytes()].concat();
        if at.is_empty() {
            self.state.delete(tx, &key)?;
        } else {
            self.state.put(tx, &key, at)?;
        }
        Ok(())
    }

    /// All sources by name.
    pub fn sources(&self, reader: &impl Reader) -> Result<Vec<String>> {
        let mut sources = Vec::new();
        let mut cursor = self.state.cursor(reader);
        let mut found = cursor.seek(SOURCE)?;
        while let Some(name) = found.and_then(|(key, _)| key.strip_prefix(SOURCE)) {
            sources.push(String::from_utf8(name.to_vec()).map_err(|_| corrupt("the name of a source is UTF-8"))?);
            found = cursor.next()?;
        }
        Ok(sources)
    }

    pub fn field(&self, reader: &impl Reader, name: &str) -> Result<Option<FieldNumber>> {
        self.fields.get(reader, name.as_bytes())?.map(field_of).transpose()
    }

    /// All fields by name.
    pub fn field_names(&self, reader: &impl Reader) -> Result<Vec<(String, FieldNumber)>> {
        let mut fields = Vec::new();
        let mut cursor = self.fields.cursor(reader);
        while let Some((name, value)) = cursor.next()? {
            let name = String::from_utf8(name.to_vec()).map_err(|_| corrupt("the name of a field is UTF-8"))?;
            fields.push((name, field_of(value)?));
        }
        Ok(fields)
    }

    /// Gives a field a number that no other has.
    ///
    /// * `known_count`: how many fields there are, once they were counted.
    pub fn add_field(
        &self,
        tx: &mut WriteTransaction<'_>,
        name: &str,
        known_count: &mut Option<usize>,
    ) -> Result<FieldNumber> {
        if let Some(number) = self.field(tx, name)? {
            return Ok(number);
        }
        let count = match *known_count {
            Some(count) => count,
            None => self.field_names(tx)?.len(),
        };
        match u16::try_from(count) {
            Ok(number) if count < FIELD_COUNT_MAX => {
                self.fields.put(tx, name.as_bytes(), &number.to_be_bytes())?;
                *known_count = Some(count + 1);
                Ok(FieldNumber(number))
            }
            _ => Err(Error::TooManyFields { name: name.to_owned(), max: FIELD_COUNT_MAX }),
        }
    }
}

fn source_key(source: &str) -> Vec<u8> {
    [SOURCE, source.as_bytes()].concat()
}

fn field_of(value: &[u8]) -> Result<FieldNumber> {
    let number = value.try_into().map(u16::from_be_bytes).map_err(|_| corrupt("a field has a number of two bytes"))?;
    Ok(FieldNumber(number))
}

fn u64_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn u64s_of<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: [[u8; 8]; N] = words.try_into().ok()?;
    rest.is_empty().then(|| words.map(u64::from_be_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::Options;

    #[test]
    fn another_format_is_told_by_its_number() {
        let environment = Environment::in_memory(Options::default()).unwrap();
        let schema = Schema::open(&environment).unwrap();
        let open_as = |version: u64| {
            let put = |tx: &mut WriteTransaction<'_>| schema.state.put(tx, VERSION, &version.to_be_bytes());
            environment.write(put).unwrap();
            Schema::open(&environment)
        };
        assert!(matches!(open_as(VERSION_NOW - 1), Err(Error::OlderFormat { found, .. }) if found == VERSION_NOW - 1));
        assert!(matches!(open_as(VERSION_NOW + 1), Err(Error::NewerFormat { found, .. }) if found == VERSION_NOW + 1));
        assert!(matches!(open_as(0), Err(Error::Corrupt { .. })));
        assert!(open_as(VERSION_NOW).is_ok());
    }
}
