//! The rules of contents, for `Environment::verify`.

use super::entries::{Entry, chunk_of};
use crate::error::Result;
use crate::transaction::Reader;
use crate::tree::Tree;
use crate::tree::node::Payload;
use std::collections::BTreeMap;

/// What has chunks.
enum Owner {
    /// A content or an upload of this length.
    Whole(u64),
    /// A removal; some of its chunks may be freed already.
    Rest,
}

/// Checks what the pages of the tree do not tell: that chunks follow each other and belong to one content, upload or removal. The
/// chunks themselves are not read.
///
/// # Errors
///
/// [`crate::Error::Corrupt`] if a page is damaged. Broken rules go to `problem`.
pub(crate) fn check(reader: &impl Reader, tree: Tree, mut problem: impl FnMut(String)) -> Result<()> {
    let mut owners = BTreeMap::new();
    let mut next_number = 1;
    let mut cursor = tree.cursor(reader);
    let mut is_there = cursor.move_to(b"")?;
    while is_there {
        if let Some((key, payload)) = cursor.place() {
            let value = match payload {
                Payload::Inline(bytes) => bytes,
                Payload::Run { .. } => &[],
            };
            let owner = match Entry::decode(key, value) {
                Some(Entry::Content { entry, .. }) => Some((entry.number, Owner::Whole(entry.length))),
                Some(Entry::Upload { entry, .. }) => Some((entry.number, Owner::Whole(entry.length))),
                Some(Entry::Removal { number }) => Some((number, Owner::Rest)),
                Some(Entry::Next(number)) => {
                    next_number = number;
                    None
                }
                None if chunk_of(key).is_some() => None,
                None => {
                    problem(format!("an entry of contents is unknown or cut: {key:02x?}"));
                    None
                }
            };
            if let Some((number, owner)) = owner
                && owners.insert(number, owner).is_some()
            {
                problem(format!("two contents, uploads or removals have the chunks of number {number}"));
            }
        }
        is_there = cursor.move_on()?;
    }
    if owners.last_key_value().is_some_and(|(last, _)| *last >= next_number) {
        problem(format!("the next number of a content is {next_number}, which is in use"));
    }
    check_chunks(reader, tree, owners, problem)
}

fn check_chunks(
    reader: &impl Reader,
    tree: Tree,
    mut owners: BTreeMap<u64, Owner>,
    mut problem: impl FnMut(String),
) -> Result<()> {
    // The number that the last chunk had, and where that ended.
    let mut before = (0, 0);
    let mut end_of = |owners: &mut BTreeMap<u64, Owner>, (number, end): (u64, u64)| {
        if let Some(Owner::Whole(length)) = owners.remove(&number)
            && length != end
        {
            problem(format!("content {number} has {length} bytes, its chunks have {end}"));
        }
    };
    let mut gaps = Vec::new();
    let mut cursor = tree.cursor(reader);
    let mut is_there = cursor.move_to(b"c")?;
    while is_there {
        let Some((key, payload)) = cursor.place() else { break };
        let Some((number, offset)) = chunk_of(key) else { break };
        let length = match payload {
            Payload::Inline(bytes) => bytes.len() as u64,
            Payload::Run { length, .. } => length,
        };
        if number != before.0 {
            end_of(&mut owners, before);
            before = (number, 0);
        }
        match owners.get(&number) {
            None => gaps.push(format!("a chunk of number {number} belongs to no content")),
            Some(Owner::Whole(_)) if offset != before.1 => {
                gaps.push(format!("content {number} has a chunk at {offset}, the one before ends at {}", before.1));
            }
            Some(_) => {}
        }
        before.1 = offset.saturating_add(length);
        is_there = cursor.move_on()?;
    }
    end_of(&mut owners, before);
    // Those without chunks.
    while let Some((number, _)) = owners.first_key_value() {
        let number = *number;
        end_of(&mut owners, (number, 0));
    }
    gaps.into_iter().for_each(problem);
    Ok(())
}
