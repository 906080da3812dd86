//! Conditions and orders as text, and what they mean, looked up in documents as trees: the rules of docs/rql.md once more, as
//! plainly as they can be written.

use json::Value;
use std::cmp::Ordering;
use std::fmt;
use testing::random::Random;

/// The fields that queries name.
pub const PATHS: [&str; 6] = ["Name", "Age", "Tags", "Address.City", "Lines[].P", "Tags.Length"];

const TEXTS: [&str; 15] = [
    "ann",
    "Ann",
    "BOB",
    "a b",
    "",
    "10",
    "1.5",
    "Zoë",
    DATES[0].0,
    DATES[1].0,
    DATES[2].0,
    DATES[3].0,
    DATES[4].0,
    DURATIONS[0].0,
    DURATIONS[1].0,
];
/// Durations and their ticks.
const DURATIONS: [(&str, &str); 2] = [("00:00:00.0000007", "7"), ("-1.00:00:00", "-864000000000")];
/// Dates, which comes after which, and the text by which each is found.
const DATES: [(&str, u8, &str); 5] = [
    ("2020-01-01", 0, "2020-01-01"),
    ("2020-01-01T00:00:00.0000000", 0, "2020-01-01T00:00:00.0000000"),
    ("2020-01-01T02:00:00+02:00", 0, "2020-01-01T00:00:00.0000000Z"),
    ("2020-01-01T00:00:00.5Z", 1, "2020-01-01T00:00:00.5000000Z"),
    ("2020-06-01T10:00:00", 2, "2020-06-01T10:00:00.0000000"),
];
const NUMBERS: [&str; 9] = ["10", "10.0", "1.5", "1.50", "-3", "9007199254740993", "0", "1e2", "7"];

fn random_scalar(random: &mut Random) -> Value {
    match random.below(9) {
        0 => Value::Null,
        1 => Value::Bool(random.chance(2)),
        2..=4 => Value::Number((*random.of(&NUMBERS)).to_owned()),
        _ => Value::String((*random.of(&TEXTS)).to_owned()),
    }
}

pub fn random_document(random: &mut Random) -> Value {
    let mut document = Value::object();
    for name in ["Name", "Age"] {
        if !random.chance(6) {
            document.set(name, random_scalar(random));
        }
    }
    if !random.chance(4) {
        let tags = (0..random.below(4)).map(|_| random_scalar(random)).collect();
        document.set("Tags", if random.chance(7) { random_scalar(random) } else { Value::Array(tags) });
    }
    if random.chance(2) {
        let mut address = Value::object();
        if !random.chance(4) {
            address.set("City", random_scalar(random));
        }
        document.set("Address", address);
    }
    if random.chance(2) {
        let line = |random: &mut Random| {
            let mut line = Value::object();
            if !random.chance(3) {
                line.set("P", random_scalar(random));
            }
            line
        };
        document.set("Lines", Value::Array((0..random.below(3)).map(|_| line(random)).collect()));
    }
    document
}

/// All values of a field; those of arrays one by one.
fn values(document: &Value, path: &str) -> Vec<Value> {
    let mut found = vec![document.clone()];
    for name in path.split('.').map(|part| part.trim_end_matches("[]")) {
        found = found.into_iter().flat_map(|value| step(&value, name)).collect();
    }
    found.into_iter().flat_map(flat).collect()
}

fn step(value: &Value, name: &str) -> Vec<Value> {
    let count = |count: usize| vec![Value::Number(count.to_string())];
    match value {
        Value::Array(elements) if name == "Length" => count(elements.len()),
        Value::String(text) if name == "Length" => count(text.chars().count()),
        Value::Array(elements) => elements.iter().flat_map(|element| step(element, name)).collect(),
        Value::Object(_) => value.get(name).cloned().into_iter().collect(),
        _ => Vec::new(),
    }
}

fn flat(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements.into_iter().flat_map(flat).collect(),
        value => vec![value],
    }
}

/// A number, exactly: whole ones are compared as such.
fn compare_numbers(one: &str, other: &str) -> Ordering {
    match (one.parse::<i64>(), other.parse::<i64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        _ => one.parse::<f64>().unwrap().partial_cmp(&other.parse().unwrap()).unwrap(),
    }
}

/// When a text is.
fn moment(value: &Value) -> Option<u8> {
    let Value::String(text) = value else { return None };
    DATES.iter().find(|(date, ..)| date == text).map(|(_, moment, _)| *moment)
}

/// The number that a value is, or is besides.
fn number_of(value: &Value) -> Option<&str> {
    match value {
        Value::Number(text) => Some(text),
        Value::String(text) => DURATIONS.iter().find(|(duration, _)| duration == text).map(|(_, ticks)| *ticks),
        _ => None,
    }
}

/// The text by which a value is found.
fn text_of(value: &Value, is_exact: bool) -> Option<String> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Number(text) => Some(match text.as_str() {
            "10.0" => "10".to_owned(),
            "1.50" => "1.5".to_owned(),
            text => text.to_owned(),
        }),
        Value::String(text) => Some(match DATES.iter().find(|(date, ..)| date == text) {
            Some((.., term)) => (*term).to_owned(),
            None if is_exact => text.clone(),
            None => text.to_lowercase(),
        }),
    }
}

fn is_equal(value: &Value, sought: &Value, is_exact: bool) -> bool {
    match (value, sought) {
        (Value::Null, Value::Null) => true,
        (value, Value::Number(sought)) => {
            number_of(value).is_some_and(|value| compare_numbers(value, sought) == Ordering::Equal)
        }
        (_, Value::Null) => false,
        (value, sought) if moment(sought).is_some() => moment(value) == moment(sought),
        (value, sought) => text_of(value, is_exact).is_some_and(|text| Some(text) == text_of(sought, is_exact)),
    }
}

pub enum Condition {
    Compare {
        path: &'static str,
        sign: &'static str,
        value: Value,
        is_exact: bool,
    },
    In {
        path: &'static str,
        values: Vec<Value>,
        is_all: bool,
    },
    Between {
        path: &'static str,
        low: Value,
        high: Value,
    },
    Call {
        function: &'static str,
        path: &'static str,
        text: &'static str,
    },
    Exists(&'static str),
    IdIs(String),
    IdStarts(String),
    True,
    And(Vec<Condition>),
    Or(Vec<Condition>),
    /// The first and not the second: `not` stands only behind something.
    Without(Box<Condition>, Box<Condition>),
}

impl Condition {
    pub fn random(random: &mut Random, depth: u64) -> Condition {
        let several = |random: &mut Random| (0..2 + random.below(2)).map(|_| Self::random(random, depth + 1)).collect();
        let path = *random.of(&PATHS);
        match random.below(16 + depth * 6) {
            0 => Condition::And(several(random)),
            1 => Condition::Or(several(random)),
            2 => {
                Condition::Without(Box::new(Self::random(random, depth + 1)), Box::new(Self::random(random, depth + 1)))
            }
            3 => Condition::True,
            4 => Condition::IdIs(format!("US/{}", random.below(60))),
            5 => Condition::IdStarts(format!("uS/{}", random.below(7))),
            6 => Condition::Exists(path),
            7 => {
                let function = *random.of(&["startsWith", "endsWith", "regex"]);
                Condition::Call { function, path, text: random.of::<&str>(&["a", "B", "10", "n", "", "zo"]) }
            }
            8 => {
                let values = (0..random.below(11)).map(|_| random_scalar(random)).collect();
                Condition::In { path, values, is_all: random.chance(2) }
            }
            9 => {
                let ends = |random: &mut Random| match random.below(2) {
                    0 => (0..2).map(|_| Value::Number((*random.of(&NUMBERS)).to_owned())).collect::<Vec<_>>(),
                    _ => (0..2).map(|_| Value::String((*random.of(&TEXTS)).to_owned())).collect(),
                };
                let ends = ends(random);
                Condition::Between { path, low: ends[0].clone(), high: ends[1].clone() }
            }
            10 | 11 => Self::range(random, path),
            // In arrays each may hold for another element, but for two ends beside each other.
            12 => Condition::And((0..2 + random.below(2)).map(|_| Self::range(random, path)).collect()),
            13 => {
                let path = *random.of(&["Tags", "Lines[].P"]);
                let is_exact = random.chance(4);
                let values: &[&str] =
                    if random.chance(2) { &["-3", "0", "7", "10"] } else { &["1", "a b", "ann", "zo"] };
                let mut end = |sign| {
                    let text = (*random.of(values)).to_owned();
                    let value = if text.parse::<i64>().is_ok() { Value::Number(text) } else { Value::String(text) };
                    Condition::Compare { path, sign, value, is_exact }
                };
                Condition::And(vec![end(">="), end("<")])
            }
            _ => {
                let sign = *random.of(&["=", "=", "!="]);
                Condition::Compare { path, sign, value: random_scalar(random), is_exact: random.chance(4) }
            }
        }
    }

    fn range(random: &mut Random, path: &'static str) -> Condition {
        let value = match random.below(2) {
            0 => Value::Number((*random.of(&NUMBERS)).to_owned()),
            _ => Value::String((*random.of(&TEXTS)).to_owned()),
        };
        let sign = *random.of(&["<", "<=", ">", ">="]);
        Condition::Compare { path, sign, value, is_exact: random.chance(4) }
    }

    /// Two ends of a range beside each other ask for one value that is between them.
    fn between<'c>(&'c self, other: &'c Condition) -> Option<(&'static str, impl Fn(&Value) -> bool + 'c)> {
        let end = |condition: &'c Condition| match condition {
            Condition::Compare { path, sign, value, is_exact }
                if !sign.contains('=') || sign.len() == 2 && *sign != "!=" =>
            {
                let kind = (matches!(value, Value::Number(_)), moment(value).is_some());
                Some(((*path, *is_exact, kind), sign.starts_with('<'), (*sign, value)))
            }
            _ => None,
        };
        let ((field, is_below, one), (of, is_other_below, other)) = (end(self)?, end(other)?);
        let (path, is_exact, _) = field;
        let is_in =
            move |value: &Value| [one, other].iter().all(|(sign, sought)| is_in_range(value, sign, sought, is_exact));
        (field == of && is_below != is_other_below).then_some((path, is_in))
    }

    pub fn holds(&self, id: &str, document: &Value) -> bool {
        match self {
            Condition::True => true,
            Condition::IdIs(other) => other.to_lowercase() == id,
            Condition::IdStarts(prefix) => id.starts_with(&prefix.to_lowercase()),
            Condition::And(all) => {
                let mut left = all.as_slice();
                while let [one, rest @ ..] = left {
                    let both = rest.first().and_then(|other| one.between(other));
                    left = rest.get(usize::from(both.is_some())..).unwrap_or_default();
                    let holds = both.map_or_else(
                        || one.holds(id, document),
                        |(path, is_in)| values(document, path).iter().any(is_in),
                    );
                    if !holds {
                        return false;
                    }
                }
                true
            }
            Condition::Or(any) => any.iter().any(|condition| condition.holds(id, document)),
            Condition::Without(one, other) => one.holds(id, document) && !other.holds(id, document),
            Condition::Exists(path) => !values(document, path).is_empty(),
            Condition::In { path, values: sought, is_all } => {
                let values = values(document, path);
                let has = |sought: &Value| values.iter().any(|value| is_equal(value, sought, false));
                !sought.is_empty() && if *is_all { sought.iter().all(has) } else { sought.iter().any(has) }
            }
            Condition::Between { path, low, high } => {
                let are_dates = moment(low).is_some() && moment(high).is_some();
                let is_in = |value: &Value, sign: &str, bound: &Value| match are_dates {
                    true => is_in_range(value, sign, bound, false),
                    false => is_in_plain_range(value, sign, bound, false),
                };
                values(document, path).iter().any(|value| is_in(value, ">=", low) && is_in(value, "<=", high))
            }
            Condition::Compare { path, sign, value: sought, is_exact } => {
                let values = values(document, path);
                let is_equal = |value: &Value| is_equal(value, sought, *is_exact);
                match *sign {
                    "=" => values.iter().any(is_equal),
                    "!=" => !values.iter().any(is_equal),
                    sign => values.iter().any(|value| is_in_range(value, sign, sought, *is_exact)),
                }
            }
            Condition::Call { function, path, text } => values(document, path).iter().any(|value| {
                let text = text.to_lowercase();
                text_of(value, false).is_some_and(|value| match *function {
                    "startsWith" => value.starts_with(&text),
                    "endsWith" => value.ends_with(&text),
                    _ => value.contains(&text),
                })
            }),
        }
    }
}

/// Dates are compared as such with dates, and with nothing else.
fn is_in_range(value: &Value, sign: &str, sought: &Value, is_exact: bool) -> bool {
    match (moment(value), moment(sought)) {
        (Some(value), Some(sought)) => is_ordered(value.cmp(&sought), sign),
        (None, Some(_)) => false,
        (_, None) => is_in_plain_range(value, sign, sought, is_exact),
    }
}

fn is_in_plain_range(value: &Value, sign: &str, sought: &Value, is_exact: bool) -> bool {
    let order = match (value, sought) {
        (value, Value::Number(sought)) => match number_of(value) {
            Some(value) => compare_numbers(value, sought),
            None => return false,
        },
        // A date beside another text, as the other end of a range, is a text like any other.
        (value, Value::String(sought)) => match text_of(value, is_exact) {
            Some(value) if is_exact => value.as_str().cmp(sought),
            Some(value) => value.cmp(&sought.to_lowercase()),
            None => return false,
        },
        (value, sought) => match (text_of(value, is_exact), text_of(sought, is_exact)) {
            (Some(value), Some(sought)) => value.cmp(&sought),
            _ => return false,
        },
    };
    is_ordered(order, sign)
}

fn is_ordered(order: Ordering, sign: &str) -> bool {
    match sign {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// A value as the language writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        value => String::from_utf8(value.to_vec()).unwrap(),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |conditions: &[Condition], word: &str| {
            conditions.iter().map(|condition| format!("({condition})")).collect::<Vec<_>>().join(word)
        };
        match self {
            Condition::True => write!(f, "true"),
            Condition::IdIs(id) => write!(f, "(id() = '{id}' or id() in ())"),
            Condition::IdStarts(prefix) => write!(f, "(startsWith(id(), '{prefix}') and true)"),
            Condition::And(all) => write!(f, "{}", joined(all, " and ")),
            Condition::Or(any) => write!(f, "{}", joined(any, " or ")),
            Condition::Without(one, other) => write!(f, "({one}) and not ({other})"),
            Condition::Exists(path) => write!(f, "exists({path})"),
            Condition::Call { function, path, text } => write!(f, "{function}({path}, '{text}')"),
            Condition::Between { path, low, high } => {
                write!(f, "{path} between {} and {}", literal(low), literal(high))
            }
            Condition::In { path, values, is_all } => {
                let values: Vec<String> = values.iter().map(literal).collect();
                write!(f, "{path} {}in ({})", if *is_all { "all " } else { "" }, values.join(", "))
            }
            Condition::Compare { path, sign, value, is_exact: true } => {
                write!(f, "exact({path} {sign} {})", literal(value))
            }
            Condition::Compare { path, sign, value, .. } => write!(f, "{path} {sign} {}", literal(value)),
        }
    }
}

/// Keys to sort by: the path, how, and whether the greatest come first.
pub struct Order(Vec<(&'static str, &'static str, bool)>);

impl Order {
    pub fn random(random: &mut Random) -> Order {
        // A field first: ordered by ids alone, and without a condition, no index would be asked.
        let keys = (0..1 + random.below(2)).map(|place| {
            let hows = ["", " as string", " as long", " as double", "id()"];
            let how = *random.of(if place == 0 { &hows[..4] } else { &hows });
            (*random.of(&PATHS), how, random.chance(2))
        });
        Order(keys.collect())
    }

    /// Whether the first may stand before the second.
    ///
    /// * `all`: all documents. A field of dates alone is sorted by time.
    pub fn is_in_order<'a>(
        &self,
        all: impl Iterator<Item = &'a Value> + Clone,
        (id, document): (&str, &Value),
        (other_id, other): (&str, &Value),
    ) -> bool {
        let by_keys = self.0.iter().map(|(path, how, is_descending)| {
            let order = match *how {
                "id()" => id.cmp(other_id),
                " as long" | " as double" => number(document, path, *is_descending, other),
                _ if are_dates(all.clone(), path) => {
                    time(document, path, *is_descending).cmp(&time(other, path, *is_descending))
                }
                _ => text(document, path, *is_descending).cmp(&text(other, path, *is_descending)),
            };
            if *is_descending { order.reverse() } else { order }
        });
        by_keys.fold(Ordering::Equal, Ordering::then).is_le()
    }
}

/// Nothing is before null, and null before everything. Of several values the least counts, or the greatest if those come first.
fn text(document: &Value, path: &str, is_descending: bool) -> (bool, Option<String>) {
    let texts = values(document, path).into_iter().filter_map(|value| text_of(&value, false));
    let text = if is_descending { texts.max() } else { texts.min() };
    (text.is_some() || has_null(document, path), text)
}

/// Whether all texts of a field are dates.
fn are_dates<'a>(mut all: impl Iterator<Item = &'a Value>, path: &str) -> bool {
    all.all(|document| values(document, path).iter().all(|value| *value == Value::Null || moment(value).is_some()))
}

/// As [`text`], of dates.
fn time(document: &Value, path: &str, is_descending: bool) -> (bool, Option<u8>) {
    let moments = values(document, path).into_iter().filter_map(|value| moment(&value));
    let moment = if is_descending { moments.max() } else { moments.min() };
    (moment.is_some() || has_null(document, path), moment)
}

fn has_null(document: &Value, path: &str) -> bool {
    values(document, path).contains(&Value::Null)
}

fn number(document: &Value, path: &str, is_descending: bool, other: &Value) -> Ordering {
    let key = |document: &Value| {
        let mut numbers: Vec<String> =
            values(document, path).into_iter().filter_map(|value| number_of(&value).map(str::to_owned)).collect();
        numbers.sort_by(|one, other| compare_numbers(one, other));
        if is_descending { numbers.pop() } else { numbers.into_iter().next() }
    };
    match (key(document), key(other)) {
        (Some(one), Some(other)) => compare_numbers(&one, &other),
        (None, None) => has_null(document, path).cmp(&has_null(other, path)),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.0.iter().map(|(path, how, is_descending)| {
            let key = if *how == "id()" { "id()".to_owned() } else { format!("{path}{how}") };
            key + if *is_descending { " desc" } else { "" }
        });
        write!(f, " order by {}", keys.collect::<Vec<_>>().join(", "))
    }
}
