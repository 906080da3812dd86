//! What may follow in an entry: commands, databases, collections, fields, and words of RQL.

use super::text::{is_in_quotes, word_start};

/// The commands: name, parameter, meaning.
pub(super) const COMMANDS: [(&str, &str, &str); 11] = [
    ("\\l", "", "list the databases"),
    ("\\c", "NAME", "choose a database"),
    ("\\d", "", "list the collections of the database"),
    ("\\d", "COLLECTION", "list the fields of a collection, from a sample of its documents"),
    ("\\di", "", "list the indexes of the database"),
    ("\\running", "", "list the queries of the database that run"),
    ("\\kill", "N", "end the running query with this number"),
    ("\\f", "FORM", "print results as table, json, jsonl or csv"),
    ("\\limit", "N", "print N rows at most"),
    ("\\?", "", "list these commands"),
    ("\\q", "", "leave"),
];

/// The names that a server has. Whatever cannot be found out is empty: completion reports no errors.
pub(super) trait Names {
    fn databases(&self) -> Vec<String>;
    fn collections(&self) -> Vec<String>;
    fn indexes(&self) -> Vec<String>;
    /// Numbers of queries that run.
    fn running(&self) -> Vec<String>;
    fn fields(&self, collection: &str) -> Vec<String>;
}

/// Words that begin a query.
const BEGINNINGS: [&str; 4] = ["from", "from index", "declare function", "explain from"];

/// Words that continue a query behind its source.
const CLAUSES: [&str; 11] = [
    "where",
    "group by",
    "order by",
    "select",
    "select distinct",
    "load",
    "include",
    "update",
    "filter",
    "limit",
    "offset",
];

/// Words of conditions and functions of RQL.
const WORDS: [&str; 28] = [
    "and",
    "or",
    "not",
    "in",
    "all in",
    "between",
    "true",
    "false",
    "null",
    "as",
    "asc",
    "desc",
    "as double",
    "as long",
    "search",
    "startsWith",
    "endsWith",
    "exists",
    "id()",
    "exact",
    "boost",
    "lucene",
    "regex",
    "fuzzy",
    "proximity",
    "spatial.within",
    "vector.search",
    "count()",
];

/// The candidates for the word before the end of `line`, and where that word begins.
pub(super) fn complete(line: &str, names: &dyn Names) -> (usize, Vec<String>) {
    if is_in_quotes(line) {
        return (line.len(), Vec::new());
    }
    let start = word_start(line);
    let (before, word) = line.split_at(start);
    let candidates = candidates(before, names);
    let begins = |candidate: &String| {
        let beginning = candidate.get(..word.len()).unwrap_or_default();
        beginning.eq_ignore_ascii_case(word) && candidate.len() > word.len()
    };
    (start, candidates.into_iter().filter(begins).collect())
}

fn candidates(before: &str, names: &dyn Names) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let words: Vec<&str> = before.split_whitespace().collect();
    let Some(last) = words.last() else {
        return COMMANDS.iter().map(|(name, ..)| (*name).to_owned()).chain(owned(&BEGINNINGS)).collect();
    };
    if before.trim_start().starts_with('\\') {
        return match words[..] {
            ["\\c"] => names.databases(),
            ["\\d"] => names.collections(),
            ["\\kill"] => names.running(),
            ["\\f"] => owned(&["table", "json", "jsonl", "csv"]),
            _ => Vec::new(),
        };
    }
    let is = |word: &str, expected: &str| word.eq_ignore_ascii_case(expected);
    match words[..] {
        [.., from, index] if is(from, "from") && is(index, "index") => return quoted_all(names.indexes()),
        _ if is(last, "from") => {
            let collections = names.collections();
            return collections.iter().map(|name| crate::remote::quoted(name)).chain(["index".to_owned()]).collect();
        }
        _ => {}
    }
    let source = words.windows(2).find(|pair| is(pair[0], "from") && !is(pair[1], "index")).map(|pair| pair[1]);
    let fields = source.map(|name| names.fields(name.trim_matches(['\'', '"']))).unwrap_or_default();
    let is_clause = |word: &str| CLAUSES.iter().any(|clause| clause.split(' ').any(|part| is(word, part)));
    // Right behind a source come clauses, behind a clause come fields.
    match source {
        Some(source) if is(source, last) => owned(&CLAUSES),
        _ if is_clause(last) || last.ends_with(',') || last.ends_with('(') => {
            fields.into_iter().chain(owned(&WORDS)).collect()
        }
        _ => owned(&WORDS).into_iter().chain(owned(&CLAUSES)).chain(fields).collect(),
    }
}

fn quoted_all(names: Vec<String>) -> Vec<String> {
    names.iter().map(|name| format!("'{name}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shop;

    impl Names for Shop {
        fn databases(&self) -> Vec<String> {
            vec!["Shop".to_owned(), "Cities".to_owned()]
        }
        fn collections(&self) -> Vec<String> {
            vec!["Orders".to_owned(), "Order Lines".to_owned()]
        }
        fn indexes(&self) -> Vec<String> {
            vec!["Orders/Totals".to_owned()]
        }
        fn running(&self) -> Vec<String> {
            vec!["17".to_owned()]
        }
        fn fields(&self, collection: &str) -> Vec<String> {
            assert_eq!(collection, "Orders");
            vec!["Freight".to_owned(), "ShipTo.City".to_owned()]
        }
    }

    #[track_caller]
    fn check(line: &str, start: usize, first: &[&str]) {
        let (found, candidates) = complete(line, &Shop);
        assert_eq!(
            (found, &candidates[..first.len().min(candidates.len())]),
            (start, &first.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..]),
            "{line}"
        );
    }

    #[test]
    fn each_place_has_its_candidates() {
        check("fr", 0, &["from", "from index"]);
        check("\\d", 0, &["\\di"]);
        check("\\kill ", 6, &["17"]);
        check("\\c ", 3, &["Shop", "Cities"]);
        check("\\c ci", 3, &["Cities"]);
        check("\\d Or", 3, &["Orders", "Order Lines"]);
        check("from ", 5, &["Orders", "'Order Lines'", "index"]);
        check("from index ", 11, &["'Orders/Totals'"]);
        check("from Orders ", 12, &["where", "group by"]);
        check("from Orders wh", 12, &["where"]);
        check("from Orders where ", 18, &["Freight", "ShipTo.City", "and"]);
        check("from Orders where shipto.c", 18, &["ShipTo.City"]);
        check("from Orders where Freight > 5 o", 30, &["or", "order by", "offset"]);
        check("from Orders order by ", 21, &["Freight"]);
        check("from Orders select Freight, ", 28, &["Freight"]);
    }

    #[test]
    fn nothing_is_completed_inside_of_quotes() {
        assert_eq!(complete("from Orders where ShipTo.City = 'fr", &Shop).1, [""; 0]);
    }
}
