//! What to do about a syntax error: the clause that was probably meant, or the order that clauses have.
//!
//! The parser says what it expected, in RavenDB's words, and where. This looks at the text again, only when there is an error: a
//! misspelt clause is taken for an alias first (`from Orders wher Status = 1`), so that the parser stumbles behind it.

use super::error::{ActualToken, Error, Reason};
use super::lexer::{Lexer, Sign, Token};
use super::nearest::nearest;

/// A sentence, and the place that it is about if that is not the one of the error.
#[derive(Debug, PartialEq, Eq)]
struct Hint {
    text: String,
    offset: Option<usize>,
}

impl Hint {
    fn here(text: impl Into<String>) -> Option<Hint> {
        Some(Hint { text: text.into(), offset: None })
    }
}

/// The word that begins each clause, what the clause is called, and its place in the order of a query.
const CLAUSES: [(&str, &str, u8); 12] = [
    ("from", "from", 0),
    ("group", "group by", 1),
    ("where", "where", 2),
    ("order", "order by", 3),
    ("load", "load", 4),
    ("filter", "filter", 5),
    ("select", "select", 6),
    ("update", "update", 6),
    ("include", "include", 7),
    ("limit", "limit", 7),
    ("offset", "offset", 7),
    ("filter_limit", "filter_limit", 7),
];

/// Clauses of SQL that RQL has not, and what to write.
const OF_SQL: [(&str, &str); 6] = [
    ("join", "RQL has no joins: use `load` for documents that others name, or `include`"),
    ("inner", "RQL has no joins: use `load` for documents that others name, or `include`"),
    ("left", "RQL has no joins: use `load` for documents that others name, or `include`"),
    ("having", "RQL has no `having`: conditions on groups stand in `where`, behind `group by`"),
    ("union", "RQL has no `union`: send two queries"),
    ("fetch", "The number of results is `limit 10`, or `limit 20, 10` behind the first 20"),
];

/// What statements of SQL that write begin with.
const WRITES_OF_SQL: [&str; 4] = ["delete", "insert", "merge", "replace"];

/// Operators of SQL and other languages that RQL has not, and what to write.
const OPERATORS: [(&str, &str); 10] = [
    ("like", "use `startsWith(Name, 'x')`, `endsWith(Name, 'x')`, or `search(Name, '*x*')` for words"),
    ("ilike", "texts compare without regard to case: use `startsWith(Name, 'x')` or `search(Name, '*x*')`"),
    ("is", "write `= null` or `!= null`"),
    ("not", "`not` stands in front of a condition: `true and not Name in ('x', 'y')`"),
    ("contains", "`Names = 'x'` finds documents with 'x' among the elements of an array; for words use `search()`"),
    ("startswith", "it is a function: `startsWith(Name, 'x')`"),
    ("endswith", "it is a function: `endsWith(Name, 'x')`"),
    ("matches", "use `regex(Name, 'x')`"),
    ("regexp", "use `regex(Name, 'x')`"),
    ("exists", "it is a function: `exists(Name)`"),
];

/// An error with what to do about it, at the place that this is about.
///
/// * `text`: the text that was refused.
pub(super) fn explained(error: Error, text: &str) -> Error {
    match hint(text, &error.reason, error.offset) {
        None => error,
        Some(found) => {
            let offset = found.offset.unwrap_or(error.offset);
            Error { hint: Some(found.text), ..Error::at(error.reason, text, offset) }
        }
    }
}

/// A hint for an error at byte `offset` of `text`.
fn hint(text: &str, reason: &Reason, offset: usize) -> Option<Hint> {
    match reason {
        Reason::Unexpected { expected, found: ActualToken::Text(_) } => match &**expected {
            "Expected FROM clause" => of_begin(text, offset),
            "Expected end of query" => of_end(text, offset),
            "Unable to parse identifier in FROM clause" => of_source(text, offset),
            "parsing method, expected an argument" => of_argument(text, offset),
            _ => None,
        },
        Reason::NoOperator { .. } => of_operator(text, offset),
        _ => None,
    }
}

/// The word at a place.
fn word_at(text: &str, offset: usize) -> Option<&str> {
    match Lexer::new(text.get(offset..)?).token() {
        (Token::Word(word), _) => Some(word),
        _ => None,
    }
}

fn clause(word: &str) -> Option<(&'static str, u8)> {
    let found = CLAUSES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(word));
    found.map(|(_, name, rank)| (*name, *rank))
}

fn nearest_clause(word: &str) -> Option<&'static str> {
    nearest(word, CLAUSES.map(|(known, ..)| known)).and_then(clause).map(|(name, _)| name)
}

fn unknown_clause(word: &str, meant: &str) -> String {
    format!("Unknown clause `{word}`. Did you mean `{meant}`?")
}

fn of_begin(text: &str, offset: usize) -> Option<Hint> {
    let begin = "RQL begins with `from`: `from Orders`";
    let Some(word) = word_at(text, offset) else { return Hint::here(begin) };
    match nearest(word, ["from", "declare"]) {
        Some(meant) => Hint::here(unknown_clause(word, meant)),
        None if word.eq_ignore_ascii_case("select") => {
            Hint::here(format!("{begin}; `select` stands behind it: `from Orders select Name`"))
        }
        None if WRITES_OF_SQL.iter().any(|known| word.eq_ignore_ascii_case(known)) => Hint::here(format!(
            "{begin}. RQL only reads and patches documents; clients store and delete them, also by the results of a query"
        )),
        None if word.eq_ignore_ascii_case("update") => {
            Hint::here(format!("{begin}; `update` stands behind it: `from Orders update {{ this.Done = true; }}`"))
        }
        None => Hint::here(begin),
    }
}

/// A word of the language stands where the name of a collection should.
fn of_source(text: &str, offset: usize) -> Option<Hint> {
    let word = word_at(text, offset)?;
    Hint::here(format!("`{word}` is a word of RQL: a collection of that name stands in quotes, `from '{word}'`"))
}

/// `count(*)`
fn of_argument(text: &str, offset: usize) -> Option<Hint> {
    let is_star = text.get(offset..).is_some_and(|rest| rest.starts_with('*'));
    is_star
        .then(|| Hint::here("`count()` has no argument: `from Orders group by Company select Company, count()`"))
        .flatten()
}

/// The query could have ended here, but goes on.
fn of_end(text: &str, offset: usize) -> Option<Hint> {
    let before = words_before(text, offset);
    let word = word_at(text, offset);
    if let Some((name, rank)) = word.and_then(clause) {
        let seen = || before.iter().filter_map(|word| clause(word.text));
        if seen().any(|(other, _)| other == name) {
            return Hint::here(format!("`{name}` may stand only once"));
        }
        let later = seen().find(|(_, other)| *other > rank);
        return later.and_then(|(later, _)| Hint::here(format!("`{name}` must come before `{later}`")));
    }
    if text.as_bytes().get(offset) == Some(&b';') {
        return Hint::here("A query has no `;` at its end");
    }
    let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
    if let (Some(word), Some(direction)) = (word, before.last().map(|last| last.text))
        && is(word, "as")
        && (is(direction, "desc") || is(direction, "asc"))
    {
        return Hint::here(format!("The type stands before `{direction}`: `order by Freight as double {direction}`"));
    }
    // `from Orders, Companies`: nothing but a source stands before the comma.
    let is_source = before.iter().filter_map(|word| clause(word.text)).eq([("from", 0)]);
    if text.as_bytes().get(offset) == Some(&b',') && is_source {
        return Hint::here(
            "A query has one collection: use `load` for documents that others name, or send two queries",
        );
    }
    // An alias that nothing announces stands behind the name of the source or a key.
    let alias = before.last().filter(|last| last.is_behind_name && last.end == last_token_end(text, offset));
    let misspelt = alias.and_then(|alias| Some((alias, nearest_clause(alias.text)?)));
    if let Some((alias, meant)) = misspelt {
        return Some(Hint { text: unknown_clause(alias.text, meant), offset: Some(alias.start) });
    }
    let word = word?;
    if let Some(meant) = nearest_clause(word) {
        return Hint::here(unknown_clause(word, meant));
    }
    OF_SQL.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).and_then(|(_, advice)| Hint::here(*advice))
}

/// A field stands alone, and this behind it.
fn of_operator(text: &str, offset: usize) -> Option<Hint> {
    let word = word_at(text, offset)?;
    let known = OPERATORS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
    if let Some((_, advice)) = known {
        return Hint::here(format!("`{word}` is no operator of RQL: {advice}"));
    }
    let meant = nearest(word, ["between"])?;
    Hint::here(format!("Unknown operator `{word}`. Did you mean `{meant}`?"))
}

/// A word outside of brackets.
struct Word<'q> {
    text: &'q str,
    start: usize,
    end: usize,
    /// A name or string stands directly before it, and is no keyword.
    is_behind_name: bool,
}

/// The words before a place that are in no brackets and no part of a path.
fn words_before(text: &str, offset: usize) -> Vec<Word<'_>> {
    let mut lexer = Lexer::new(text);
    let (mut words, mut depth, mut last) = (Vec::new(), 0_usize, Token::End);
    loop {
        let (token, span) = lexer.token();
        if span.start as usize >= offset {
            return words;
        }
        match token {
            Token::End => return words,
            Token::Sign(Sign::OpenParenthesis | Sign::OpenBracket | Sign::OpenBrace) => depth += 1,
            Token::Sign(Sign::CloseParenthesis | Sign::CloseBracket | Sign::CloseBrace) => {
                depth = depth.saturating_sub(1);
            }
            Token::Word(word) if depth == 0 && last != Token::Sign(Sign::Dot) => {
                let is_behind_name = match last {
                    Token::Word(last) => {
                        clause(last).is_none()
                            && !["as", "index", "by"].iter().any(|known| known.eq_ignore_ascii_case(last))
                    }
                    Token::Text(_) => true,
                    _ => false,
                };
                let (start, end) = (span.start as usize, span.end as usize);
                words.push(Word { text: word, start, end, is_behind_name });
            }
            _ => {}
        }
        last = token;
    }
}

/// Where the last token before a place ends.
fn last_token_end(text: &str, offset: usize) -> usize {
    let mut lexer = Lexer::new(text);
    let mut end = 0;
    loop {
        let (token, span) = lexer.token();
        if token == Token::End || span.start as usize >= offset {
            return end;
        }
        end = span.end as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        assert_eq!(parse(query).unwrap_err().to_string(), expected, "{query}");
    }

    #[test]
    fn a_misspelt_clause_is_named_with_its_place() {
        let unknown = |place: &str, found: &str, word: &str, meant: &str| {
            format!("{place} Expected end of query but got: {found}. Unknown clause `{word}`. Did you mean `{meant}`?")
        };
        check("from Orders wher Status = 'x'", &unknown("1:13", "Status", "wher", "where"));
        check("from Orders\n oder by Name", &unknown("2:2", "by", "oder", "order by"));
        check("from 'Orders' slect Name", &unknown("1:15", "Name", "slect", "select"));
        check("from Orders as o wher o.A = 1", &unknown("1:18", "wher", "wher", "where"));
        check("from Orders where A = 1 limt 5", &unknown("1:25", "limt", "limt", "limit"));
        check("from Orders where A = 1 grop by B", &unknown("1:25", "grop", "grop", "group by"));
        check("form Orders", "1:1 Expected FROM clause but got: form. Unknown clause `form`. Did you mean `from`?");
        check("from Orders o x", "1:15 Expected end of query but got: x");
    }

    #[test]
    fn clauses_have_an_order_and_stand_once() {
        let order =
            |place: &str, found: &str, hint: &str| format!("{place} Expected end of query but got: {found}. {hint}");
        let of = |query: &str| parse(query).unwrap_err().to_string();
        assert_eq!(of("from O where A = 1 group by B"), order("1:20", "group", "`group by` must come before `where`"));
        assert_eq!(of("from O order by A where B = 1"), order("1:19", "where", "`where` must come before `order by`"));
        assert_eq!(of("from O load A as a order by B"), order("1:20", "order", "`order by` must come before `load`"));
        assert_eq!(of("from O select A where B = 1"), order("1:17", "where", "`where` must come before `select`"));
        assert_eq!(of("from O where A = 1 where B = 2"), order("1:20", "where", "`where` may stand only once"));
        assert_eq!(of("from O where f(A, where = 1)").matches("must come").count(), 0);
    }

    #[test]
    fn small_mistakes_are_answered_with_what_is_right() {
        let source = "`Order` is a word of RQL: a collection of that name stands in quotes, `from 'Order'`";
        check("from Order", &format!("1:6 Unable to parse identifier in FROM clause but got: Order. {source}"));
        let count = "`count()` has no argument: `from Orders group by Company select Company, count()`";
        check(
            "from Orders select count(*)",
            &format!("1:26 parsing method, expected an argument but got: *). {count}"),
        );
        let double = "The type stands before `desc`: `order by Freight as double desc`";
        check("from Orders order by A desc as double", &format!("1:29 Expected end of query but got: as. {double}"));
        check("from Orders;", "1:12 Expected end of query but got: ;. A query has no `;` at its end");
    }

    #[test]
    fn what_is_of_sql_is_answered_with_what_rql_has() {
        let begin = "RQL begins with `from`: `from Orders`";
        let select = "; `select` stands behind it: `from Orders select Name`";
        check("select * from Orders", &format!("1:1 Expected FROM clause but got: select. {begin}{select}"));
        let writes =
            "RQL only reads and patches documents; clients store and delete them, also by the results of a query";
        check("insert into A", &format!("1:1 Expected FROM clause but got: insert. {begin}. {writes}"));
        check("delete from Orders", &format!("1:1 Expected FROM clause but got: delete. {begin}. {writes}"));
        let update = "; `update` stands behind it: `from Orders update { this.Done = true; }`";
        check("update Orders set A = 1", &format!("1:1 Expected FROM clause but got: update. {begin}{update}"));
        let two = "A query has one collection: use `load` for documents that others name, or send two queries";
        check("from Orders, Companies", &format!("1:12 Expected end of query but got: ,. {two}"));
        check("from Orders o, Companies c", &format!("1:14 Expected end of query but got: ,. {two}"));
        let like = parse("from O where Status like 'x%'").unwrap_err().to_string();
        assert!(
            like.starts_with("1:21 Expected operator after 'Status' field, but found 'l'. Valid operators"),
            "{like}"
        );
        assert!(
            like.ends_with(
                "`like` is no operator of RQL: use `startsWith(Name, 'x')`, `endsWith(Name, 'x')`, or \
                                `search(Name, '*x*')` for words"
            ),
            "{like}"
        );
        let null = parse("from O where A is null").unwrap_err().to_string();
        assert!(null.ends_with("`is` is no operator of RQL: write `= null` or `!= null`"), "{null}");
        let between = parse("from O where A betwen 1 and 2").unwrap_err().to_string();
        assert!(between.ends_with("Unknown operator `betwen`. Did you mean `between`?"), "{between}");
        let join = parse("from O where A = 1 join B").unwrap_err().to_string();
        assert!(join.contains("RQL has no joins"), "{join}");
    }
}
