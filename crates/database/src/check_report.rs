//! What the check of an open database found.

use crate::limits::CHECK_PROBLEMS_MAX;

/// What a check found in the documents, or in one index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedPart {
    /// The name of the index; `None`: the documents, with all that belongs to them.
    pub index: Option<String>,
    /// Pages that were read.
    pub pages: u64,
    /// Documents and what belongs to them, or entries of the index.
    pub items: u64,
    /// Rules that do not hold.
    pub problem_count: u64,
    /// The first of them, as sentences: [`CHECK_PROBLEMS_MAX`] at most.
    pub problems: Vec<String>,
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The documents, then the indexes by name.
    pub parts: Vec<CheckedPart>,
}

impl CheckReport {
    /// Rules that do not hold, in all parts.
    pub fn problem_count(&self) -> u64 {
        self.parts.iter().map(|part| part.problem_count).sum()
    }
}

impl CheckedPart {
    pub(crate) fn add(&mut self, count: u64, problems: Vec<String>) {
        self.problem_count += count;
        self.problems.extend(problems);
        self.problems.truncate(CHECK_PROBLEMS_MAX);
    }
}
