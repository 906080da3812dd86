//! A set of pages: a bit for each.

use std::ops::Range;

/// Pages, a bit for each up to the highest one.
#[derive(Default)]
pub(crate) struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// Adds a page. False: it was there.
    pub fn insert(&mut self, page: u64) -> bool {
        let (word, bit) = ((page / 64) as usize, 1 << (page % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let was_there = self.words[word] & bit != 0;
        self.words[word] |= bit;
        !was_there
    }

    /// Adds neighbouring pages.
    pub fn insert_all(&mut self, pages: Range<u64>) {
        for page in pages {
            self.insert(page);
        }
    }

    /// Takes neighbouring pages out.
    pub fn remove_all(&mut self, pages: Range<u64>) {
        let known = self.words.len() as u64 * 64;
        for page in pages.start..pages.end.min(known) {
            self.words[(page / 64) as usize] &= !(1 << (page % 64));
        }
    }

    /// Whether a page is in it.
    pub fn contains(&self, page: u64) -> bool {
        self.group(page / 64 * 64) >> (page % 64) & 1 == 1
    }

    /// A bit for each page of the 64 from `first` on, a multiple of 64.
    pub fn group(&self, first: u64) -> u64 {
        self.words.get((first / 64) as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_the_set_until_they_are_taken_out() {
        let mut set = PageSet::default();
        set.insert_all(60..70);
        assert!(!set.insert(63) && set.insert(1000));
        set.remove_all(62..5000);
        let left: Vec<u64> = (0..2000).filter(|page| set.contains(*page)).collect();
        assert_eq!(left, [60, 61]);
        assert_eq!(set.group(0), 3 << 60);
    }
}
