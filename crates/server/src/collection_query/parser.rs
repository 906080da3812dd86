//! Recursive descent over the words of a query; see the grammar in the module's comment.

use std::borrow::Cow;

use super::lexer::{Placed, Token, syntax, words};
use super::{CollectionQuery, Filter, Order, Refused, Source};
use crate::limits::QUERY_DEPTH_MAX;

/// Words that begin a clause, so that they are no alias.
const CLAUSES: [&str; 15] = [
    "as",
    "where",
    "order",
    "group",
    "load",
    "select",
    "include",
    "limit",
    "offset",
    "filter",
    "filter_limit",
    "update",
    "intersect",
    "declare",
    "from",
];

/// Parses `text` and puts the values of `parameters` (an object, or anything else for none) in.
///
/// # Errors
///
/// [`Refused`], with the place in its message where there is one.
pub(crate) fn parse(text: &str, parameters: Option<&json::Value>) -> Result<CollectionQuery, Refused> {
    Parser { text, words: words(text)?, at: 0, parameters, alias: None }.query()
}

struct Parser<'a> {
    text: &'a str,
    words: Vec<Placed>,
    at: usize,
    parameters: Option<&'a json::Value>,
    alias: Option<String>,
}

impl Parser<'_> {
    fn query(&mut self) -> Result<CollectionQuery, Refused> {
        if self.is_keyword("declare") {
            return Err(needs("declared functions"));
        }
        if !self.take_keyword("from") {
            return Err(self.error("Expected FROM clause but got"));
        }
        if self.is_keyword("index") && matches!(self.peek(1), Token::Text(_) | Token::Word(_)) {
            self.at += 1;
            return Err(Refused::NoSuchIndex(self.name("the name of an index")?));
        }
        let source = match self.name("the name of a collection")?.as_str() {
            "@all_docs" => Source::All,
            name => Source::Collection(name.to_owned()),
        };
        if self.is_sign("(") {
            return Err(needs("queries over revisions"));
        }
        if self.take_keyword("as") {
            self.alias = Some(self.name("an alias")?);
        } else if let Token::Word(word) = self.peek(0)
            && !CLAUSES.iter().any(|clause| clause.eq_ignore_ascii_case(word))
        {
            self.alias = Some(word.clone());
            self.at += 1;
        }
        let mut query = CollectionQuery {
            source,
            filter: Filter::All,
            order: Order::Etag,
            includes: Vec::new(),
            skip: 0,
            take: None,
            is_limited: false,
        };
        if self.is_keyword("group") {
            return Err(needs("'group by'"));
        }
        if self.take_keyword("where") {
            query.filter = self.filter()?;
        }
        if self.take_keyword("order") {
            if !self.take_keyword("by") {
                return Err(self.error("Expected 'by' after 'order' but got"));
            }
            query.order = self.order()?;
        }
        for (keyword, feature) in [
            ("load", "'load'"),
            ("filter", "'filter'"),
            ("select", "projections ('select')"),
            ("update", "patches ('update')"),
        ] {
            if self.is_keyword(keyword) {
                return Err(needs(feature));
            }
        }
        if self.take_keyword("include") {
            query.includes = self.includes()?;
        }
        query.is_limited = self.is_keyword("limit") || self.is_keyword("offset");
        if self.take_keyword("limit") {
            let first = self.count()?;
            if self.take_sign(",") {
                query.skip = first.unwrap_or(0);
                query.take = self.count()?;
            } else {
                query.take = first;
                if self.take_keyword("offset") {
                    query.skip = self.count()?.unwrap_or(0);
                }
            }
        } else if self.take_keyword("offset") {
            query.skip = self.count()?.unwrap_or(0);
        }
        if self.is_keyword("filter_limit") {
            return Err(needs("'filter'"));
        }
        if *self.peek(0) != Token::End {
            return Err(self.error("Expected the end of the query but got"));
        }
        Ok(query)
    }

    fn filter(&mut self) -> Result<Filter, Refused> {
        if *self.peek(0) == Token::End {
            return Err(self.error("Unable to parse WHERE clause:"));
        }
        let mut open = 0;
        while self.is_sign("(") {
            if open == QUERY_DEPTH_MAX {
                return Err(self.error(&format!("Conditions nest deeper than {QUERY_DEPTH_MAX} levels at")));
            }
            self.at += 1;
            open += 1;
        }
        let filter = if self.is_keyword("startsWith") && self.is_id_at(2) {
            self.at += 2;
            self.id()?;
            self.expect(",")?;
            let prefix = self.one_text()?;
            self.expect(")")?;
            Filter::IdPrefix(prefix)
        } else if self.is_id_at(0) {
            self.id()?;
            if self.take_sign("=") || self.take_sign("==") {
                Filter::Ids(self.texts()?)
            } else if self.take_keyword("in") {
                self.expect("(")?;
                let mut ids = Vec::new();
                while !self.is_sign(")") {
                    ids.extend(self.texts()?);
                    if !self.take_sign(",") {
                        break;
                    }
                }
                self.expect(")")?;
                Filter::Ids(ids)
            } else {
                return Err(needs("this comparison of id()"));
            }
        } else {
            return Err(self.unknown_condition());
        };
        for _ in 0..open {
            self.expect(")")?;
        }
        if self.is_keyword("and") || self.is_keyword("or") {
            return Err(needs("conditions joined by 'and' and 'or'"));
        }
        Ok(match filter {
            Filter::Ids(ids) => Filter::Ids(without_duplicates(ids)),
            other => other,
        })
    }

    /// A condition that is not about the id: needs an index, if it looks like a condition at all.
    fn unknown_condition(&self) -> Refused {
        match self.peek(0) {
            Token::Word(_) | Token::Text(_) | Token::Number(_) => needs("conditions on other fields than id()"),
            _ => self.error("Unable to parse WHERE clause, got"),
        }
    }

    /// Whether `id(` or, for an alias, `id(alias` comes after `skip` words.
    fn is_id_at(&self, skip: usize) -> bool {
        matches!(self.peek(skip), Token::Word(word) if word.eq_ignore_ascii_case("id"))
            && *self.peek(skip + 1) == Token::Sign("(")
    }

    fn id(&mut self) -> Result<(), Refused> {
        self.at += 2;
        if let Token::Word(word) = self.peek(0) {
            if self.alias.as_deref() != Some(word.as_str()) {
                return Err(self.error("Expected ')' or the alias but got"));
            }
            self.at += 1;
        }
        self.expect(")")
    }

    fn order(&mut self) -> Result<Order, Refused> {
        if !self.is_id_at(0) {
            return Err(match self.peek(0) {
                Token::End => self.error("Expected a field after 'order by' but got"),
                _ => needs("sorting by other fields than id()"),
            });
        }
        self.id()?;
        if self.take_keyword("as") && !self.take_keyword("string") {
            return Err(needs("this way of sorting by id()"));
        }
        let is_descending = self.take_keyword("desc") || self.take_keyword("descending");
        if !is_descending {
            let _ = self.take_keyword("asc") || self.take_keyword("ascending");
        }
        if self.is_sign(",") {
            return Err(needs("sorting by several fields"));
        }
        Ok(if is_descending { Order::IdDescending } else { Order::IdAscending })
    }

    fn includes(&mut self) -> Result<Vec<String>, Refused> {
        let mut includes = Vec::new();
        loop {
            let mut path = match self.next() {
                Token::Text(path) | Token::Word(path) => path,
                _ => {
                    self.at -= 1;
                    return Err(self.error("Expected a path to include but got"));
                }
            };
            loop {
                match self.peek(0) {
                    Token::Sign("(") => return Err(needs(&format!("'include {path}(..)'"))),
                    Token::Sign(".") => {
                        self.at += 1;
                        path.push('.');
                        match self.next() {
                            Token::Word(part) | Token::Text(part) => path.push_str(&part),
                            Token::Parameter(part) => {
                                path.push('$');
                                path.push_str(&part);
                            }
                            _ => {
                                self.at -= 1;
                                return Err(self.error("Expected a name after '.' but got"));
                            }
                        }
                    }
                    Token::Sign("[") => {
                        self.at += 1;
                        self.expect("]")?;
                        path.push_str("[]");
                    }
                    _ => break,
                }
            }
            let alias = self.alias.as_deref().unwrap_or_default();
            let path = match path.strip_prefix(alias).and_then(|rest| rest.strip_prefix('.')) {
                Some(rest) if !alias.is_empty() => rest.to_owned(),
                _ => path,
            };
            includes.push(path);
            if !self.take_sign(",") {
                return Ok(includes);
            }
        }
    }

    /// A number of documents: a number, a parameter, or `null` for none. Negative counts are 0.
    fn count(&mut self) -> Result<Option<u64>, Refused> {
        let at = self.at;
        let text = match self.next() {
            Token::Number(text) => text,
            Token::Word(word) if word.eq_ignore_ascii_case("null") => return Ok(None),
            Token::Sign("-") => {
                self.next();
                return Ok(Some(0));
            }
            Token::Parameter(name) => match self.parameter(&name)? {
                json::Value::Null => return Ok(None),
                json::Value::Number(text) | json::Value::String(text) => text.clone(),
                _ => return Err(Refused::Parameter(format!("The parameter '{name}' must be a number"))),
            },
            _ => {
                self.at = at;
                return Err(self.error("Expected a number but got"));
            }
        };
        let number: f64 = text.parse().map_err(|_| Refused::Parameter(format!("'{text}' is not a number")))?;
        // Saturates, which is what a page size of 2^63 - 1 means.
        Ok(Some(number as u64))
    }

    /// One value as texts: a parameter may hold an array.
    fn texts(&mut self) -> Result<Vec<String>, Refused> {
        let at = self.at;
        match self.next() {
            Token::Text(text) | Token::Number(text) => Ok(vec![text]),
            Token::Word(word) if word.eq_ignore_ascii_case("null") => Ok(Vec::new()),
            Token::Parameter(name) => {
                let mut texts = Vec::new();
                push_texts(self.parameter(&name)?, &mut texts);
                Ok(texts)
            }
            _ => {
                self.at = at;
                Err(self.error("Expected a value but got"))
            }
        }
    }

    fn one_text(&mut self) -> Result<String, Refused> {
        let mut texts = self.texts()?;
        match (texts.pop(), texts.is_empty()) {
            (Some(text), true) => Ok(text),
            _ => Err(Refused::Parameter("startsWith() needs one text".to_owned())),
        }
    }

    fn parameter(&self, name: &str) -> Result<&json::Value, Refused> {
        let Some(parameters) = self.parameters.filter(|parameters| !parameters.members().is_empty()) else {
            return Err(Refused::Parameter(
                "The query is parametrized but the actual values of parameters were not provided".to_owned(),
            ));
        };
        parameters.get(name).ok_or_else(|| Refused::Parameter(format!("Value of parameter '{name}' was not provided")))
    }

    fn name(&mut self, what: &str) -> Result<String, Refused> {
        let mut name = match self.next() {
            Token::Text(text) => return Ok(text),
            Token::Word(word) => word,
            _ => {
                self.at -= 1;
                return Err(self.error(&format!("Expected {what} but got")));
            }
        };
        // Collections may be called `My-Things.Old`, unquoted, without blanks.
        while let (Token::Sign(sign @ ("-" | "." | "/")), Token::Word(part) | Token::Number(part)) =
            (self.peek(0), self.peek(1))
        {
            name.push_str(sign);
            name.push_str(part);
            self.at += 2;
        }
        Ok(name)
    }

    fn peek(&self, skip: usize) -> &Token {
        self.words.get(self.at + skip).map_or(&Token::End, |placed| &placed.token)
    }

    fn next(&mut self) -> Token {
        let token = self.peek(0).clone();
        self.at += 1;
        token
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(0), Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn take_keyword(&mut self, keyword: &str) -> bool {
        let is_there = self.is_keyword(keyword);
        self.at += usize::from(is_there);
        is_there
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(0), Token::Sign(found) if *found == sign)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), Refused> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.error(&format!("Expected '{sign}' but got"))) }
    }

    fn error(&self, message: &str) -> Refused {
        let found: Cow<'_, str> = match self.peek(0) {
            Token::End => "the end of the query".into(),
            Token::Word(word) => format!("'{word}'").into(),
            Token::Text(text) => format!("the string '{text}'").into(),
            Token::Number(number) => number.as_str().into(),
            Token::Parameter(name) => format!("${name}").into(),
            Token::Sign(sign) => format!("'{sign}'").into(),
        };
        let at = self.words.get(self.at).map_or(self.text.len(), |placed| placed.at);
        syntax(self.text, at, &format!("{message} {found}"))
    }
}

fn push_texts(value: &json::Value, texts: &mut Vec<String>) {
    match value {
        json::Value::String(text) | json::Value::Number(text) => texts.push(text.clone()),
        json::Value::Array(values) => values.iter().for_each(|value| push_texts(value, texts)),
        json::Value::Null | json::Value::Bool(_) | json::Value::Object(_) => {}
    }
}

fn without_duplicates(ids: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    ids.into_iter().filter(|id| seen.insert(id.to_lowercase())).collect()
}

fn needs(feature: &str) -> Refused {
    Refused::NeedsIndex(feature.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, parameters: &str) -> Result<CollectionQuery, Refused> {
        parse(text, Some(&json::Value::parse(parameters.as_bytes()).unwrap()))
    }

    #[track_caller]
    fn check(text: &str, change: impl FnOnce(&mut CollectionQuery)) {
        let mut expected = CollectionQuery {
            source: Source::Collection("Users".to_owned()),
            filter: Filter::All,
            order: Order::Etag,
            includes: Vec::new(),
            skip: 0,
            take: None,
            is_limited: text.contains("limit") || text.contains("offset"),
        };
        change(&mut expected);
        let parameters = r#"{"p0":"users/1","p1":["users/2","USERS/2"],"p2":3,"nothing":null}"#;
        assert_eq!(with(text, parameters), Ok(expected), "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let refused = format!("{:?}", with(text, r#"{"a":1}"#).unwrap_err());
        assert!(refused.contains(expected), "{text}: {refused}");
    }

    fn ids(ids: &[&str]) -> Filter {
        Filter::Ids(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    #[test]
    fn sources() {
        check("from Users", |_| {});
        check("  FROM 'Users' AS u ", |_| {});
        check("from \"Users\" u // all of them", |_| {});
        check("from /* which? */ @all_docs", |query| query.source = Source::All);
        check("from 'My \\'Things'", |query| query.source = Source::Collection("My 'Things".to_owned()));
        check("from My-Things.Old", |query| query.source = Source::Collection("My-Things.Old".to_owned()));
    }

    #[test]
    fn ids_and_prefixes() {
        check("from Users where id() = 'users/1'", |query| query.filter = ids(&["users/1"]));
        check("from Users as u where (id(u) == $p0)", |query| query.filter = ids(&["users/1"]));
        check("from Users where id() in ($p1, 'x', $p0)", |query| query.filter = ids(&["users/2", "x", "users/1"]));
        check("from Users where id() in ()", |query| query.filter = ids(&[]));
        check("from Users where startsWith(id(), 'users/1')", |query| {
            query.filter = Filter::IdPrefix("users/1".to_owned());
        });
    }

    #[test]
    fn orders_limits_and_includes() {
        check("from Users order by id() desc", |query| query.order = Order::IdDescending);
        check("from Users order by id()", |query| query.order = Order::IdAscending);
        check("from Users limit 5", |query| query.take = Some(5));
        check("from Users limit 2, $p2", |query| (query.skip, query.take) = (2, Some(3)));
        check("from Users limit $nothing, $p2", |query| query.take = Some(3));
        check("from Users limit 1 offset 2", |query| (query.skip, query.take) = (2, Some(1)));
        check("from Users offset 9", |query| query.skip = 9);
        check("from Users limit 9223372036854775807", |query| query.take = Some(9_223_372_036_854_775_807 + 1));
        check("from Users as u include u.Friend, Lines[].Product, 'a b', Dict.$Keys limit 1", |query| {
            query.includes = ["Friend", "Lines[].Product", "a b", "Dict.$Keys"].map(str::to_owned).to_vec();
            query.take = Some(1);
        });
    }

    #[test]
    fn what_needs_an_index_is_told_from_what_is_wrong() {
        check_refused("from Users where Name = 'x'", "NeedsIndex");
        check_refused("from Users where id() = 'a' or id() = 'b'", "NeedsIndex");
        check_refused("from Users order by Name", "NeedsIndex");
        check_refused("from Users select Name", "NeedsIndex");
        check_refused("from Users group by Name select count()", "NeedsIndex");
        check_refused("from index 'Users/ByName'", "NoSuchIndex(\"Users/ByName\")");
        check_refused("from Users where", "1:17 Unable to parse WHERE clause");
        check_refused("from\nUsers limit", "2:12 Expected a number");
        check_refused("from Users limit 1 select x", "1:20 Expected the end of the query");
        check_refused("from", "1:5 Expected the name of a collection");
        check_refused("from 'Users", "1:6 A string has no end");
        check_refused("hello", "1:1 Expected FROM");
        check_refused("", "1:1 Expected FROM");
        check_refused("from Users where id() = $p9", "Parameter");
    }

    #[test]
    fn no_text_panics() {
        let text = "from 'Ü' as u where startsWith(id(u), $p0) order by id() include a.b[] limit 1, 2 // x";
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let _ = parse(&text[..end], None);
            let _ = parse(&text[end..], None);
        }
    }
}
