//! Queries that an index answers: which fields they need of it, and what they ask.

use super::condition::{Condition, FieldUse, Sought, TextQuery};
use super::grouping::Grouping;
use super::parameters::Scalar;
use super::search_text::{self, SearchPart, Wildcard};
use super::sought::{check_bound, range, sought};
use super::{
    Base, FacetClause, Highlight, MoreLikeThis, Parameters, Refused, Suggestion, facet, highlight, lucene, spatial,
    suggestion, vector,
};
use crate::analysis::Analyzer;
use crate::definition::{Analysis, AutomaticIndex, Field, FieldName, FieldNeeds};
use crate::index::limits::NAME_SIZE_MAX;
use crate::limits::{BOUND_SIZE_MAX, REGEX_SIZE_MAX, SEARCH_CLAUSES_MAX};
use crate::rql::{self, Between, Call, Comparison, Expression, In, Operator, OrderKey, Ordering, Query};
use crate::spatial::Geometry;
use regex::RegexBuilder;
use std::ops::Bound;

/// A query over an index, its parameters put in.
#[derive(Clone, Debug)]
pub struct IndexQuery {
    /// Which index.
    pub index: IndexChoice,
    /// Which entries.
    pub condition: Condition,
    /// By what they are sorted, the most important first; without it they come in the order in which they were first indexed.
    pub order: Vec<SortKey>,
    /// What is suggested in place of entries.
    pub suggestions: Vec<Suggestion>,
    /// By what entries are counted, in place of being given.
    pub facets: Vec<FacetClause>,
    /// The fields whose words are marked in what is found.
    pub highlights: Vec<Highlight>,
    /// Whether it is to be told why entries score what they do, which then all do.
    pub explains: bool,
}

/// Which index answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexChoice {
    /// Any that has at least the fields of this one, from the same source.
    Covering(AutomaticIndex),
    /// The one of this name. It must have these fields.
    Named(String, Vec<Field>),
}

/// One key that entries are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// What is compared.
    pub by: SortBy,
    /// The greatest first.
    pub is_descending: bool,
    /// Those without a value come last; if not given, they come before the least.
    pub absent_last: Option<bool>,
}

/// Distances that entries are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceKey {
    /// The field of the shapes.
    pub field: FieldUse,
    /// From the middle of this.
    pub geometry: Geometry,
    /// Distances are equal that have as many whole multiples of this; `None`: only if they are the same.
    pub round: Option<f64>,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// Texts of a field, by their bytes.
    Text(FieldUse),
    /// Numbers of a field.
    Number(FieldUse),
    /// Texts of a field, digits in them as numbers.
    AlphaNumeric(FieldUse),
    /// The document's id.
    Id,
    /// By id, digits that follow each other as numbers.
    AlphaNumericId,
    /// How well the entry fits, the best first.
    Score,
    /// Nothing: an order that looks like chance, the same for the same seed. `None`: the query gives no seed, see [`super::Plan::seed`].
    Random(Option<String>),
    /// How far the shapes of a field are from the middle of one, the nearest first.
    Distance(DistanceKey),
}

impl IndexQuery {
    /// What a query asks of an index.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub(super) fn plan(
        query: &Query<'_>,
        grouping: Option<&Grouping<'_>>,
        parameters: Parameters<'_>,
    ) -> Result<IndexQuery, Refused> {
        let is_named = matches!(query.from.source, rql::Source::Index(_));
        let alias = query.from.alias.as_deref();
        let mut planner = Planner { alias, grouping, parameters, is_named, fields: Vec::new() };
        let condition = match &query.condition {
            Some(condition) => planner.condition(condition, Analysis::LowerCase)?,
            None => Condition::All,
        };
        let mut order = query.order_by.iter().map(|key| planner.sort_key(key)).collect::<Result<Vec<_>, _>>()?;
        if order.is_empty() && condition.is_boosted() {
            order.push(SortKey { by: SortBy::Score, is_descending: false, absent_last: None });
        }
        let suggestions = suggestion::plan(query, &mut planner)?;
        let facets = facet::plan(query, &planner)?;
        let highlights = highlight::plan(query, &mut planner)?;
        let covering = |collection, fields| {
            let index = match grouping {
                Some(grouping) => grouping.index(collection, fields),
                None => AutomaticIndex::new(collection, fields),
            };
            match index.name_over(NAME_SIZE_MAX) {
                None => Ok(IndexChoice::Covering(index)),
                Some(name) => Err(Refused::Invalid(format!(
                    "The field '{}...' of {} bytes is over the limit NAME_SIZE_MAX = {NAME_SIZE_MAX}",
                    name.chars().take(40).collect::<String>(),
                    name.len(),
                ))),
            }
        };
        let index = match &query.from.source {
            rql::Source::Index(_) if grouping.is_some() => {
                return Err(Refused::Invalid(
                    "'group by' needs a collection: an index groups by its reduce".to_owned(),
                ));
            }
            rql::Source::Index(name) => IndexChoice::Named(name.to_string(), planner.fields),
            rql::Source::AllDocuments => covering(None, planner.fields)?,
            rql::Source::Collection(name) => covering(Some(name.to_string()), planner.fields)?,
        };
        Ok(IndexQuery { index, condition, order, suggestions, facets, highlights, explains: false })
    }
}

pub(super) struct Planner<'p> {
    pub alias: Option<&'p str>,
    pub(super) grouping: Option<&'p Grouping<'p>>,
    pub parameters: Parameters<'p>,
    /// Whether the query names its index.
    pub is_named: bool,
    /// Those that are needed, some perhaps twice.
    pub(super) fields: Vec<Field>,
}

impl Planner<'_> {
    fn condition(&mut self, condition: &Expression<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        match condition {
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Boolean(true) => Ok(Condition::All),
                _ => Err(Refused::Invalid("a value alone is no condition".to_owned())),
            },
            Expression::Field(path) => Err(Refused::Invalid(format!("'{}' alone is no condition", path.text()))),
            Expression::And(operands) => Ok(Condition::all_of(self.conditions(operands, analysis)?)),
            Expression::Or(operands) => Ok(Condition::Or(self.conditions(operands, analysis)?)),
            Expression::Not(operand) => Ok(Condition::Not(Box::new(self.condition(operand, analysis)?))),
            Expression::Compare(comparison) => self.comparison(comparison, analysis),
            Expression::Between(between) => self.between(between, analysis),
            Expression::In(choice) => self.choice(choice, analysis),
            Expression::Call(call) => self.call(call, analysis),
        }
    }

    fn conditions(&mut self, operands: &[Expression<'_>], analysis: Analysis) -> Result<Vec<Condition>, Refused> {
        operands.iter().map(|operand| self.condition(operand, analysis)).collect()
    }

    fn comparison(&mut self, comparison: &Comparison<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let value = match &comparison.right {
            Expression::Value(value) => self.parameters.scalar(value)?,
            Expression::Call(call) => return Err(Refused::NotSupported(format!("{}() as a value", call.name))),
            Expression::Field(path) => {
                return Err(Refused::Invalid(format!("Expected value, but got: <Field>: {}", path.text())));
            }
            _ => return Err(Refused::Invalid("Expected value, but got a condition".to_owned())),
        };
        let not = |condition| Condition::Not(Box::new(condition));
        if self.is_id(&comparison.left) {
            let ids = Condition::Ids(value.text().into_iter().collect());
            return match comparison.operator {
                Operator::Equal => Ok(ids),
                Operator::NotEqual => Ok(not(ids)),
                _ => Err(Refused::NotSupported("ranges of id()".to_owned())),
            };
        }
        let field = self.field(&comparison.left, analysis)?;
        let equal = |field: FieldUse, value| Condition::AnyOf(field, vec![sought(value)]);
        match comparison.operator {
            Operator::Equal => Ok(equal(field, value)),
            Operator::NotEqual => Ok(not(equal(field, value))),
            Operator::Less => range(field, Bound::Unbounded, Bound::Excluded(value)),
            Operator::LessOrEqual => range(field, Bound::Unbounded, Bound::Included(value)),
            Operator::Greater => range(field, Bound::Excluded(value), Bound::Unbounded),
            Operator::GreaterOrEqual => range(field, Bound::Included(value), Bound::Unbounded),
        }
    }

    fn between(&mut self, between: &Between<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let bound = |expression: &Expression<'_>| match expression {
            Expression::Value(value) => self.parameters.scalar(value),
            Expression::Call(call) => Err(Refused::NotSupported(format!("{}() as a value", call.name))),
            _ => Err(Refused::Invalid("'between' needs two values".to_owned())),
        };
        let (low, high) = (bound(&between.low)?, bound(&between.high)?);
        let field = self.field(&between.operand, analysis)?;
        range(field, Bound::Included(low), Bound::Included(high))
    }

    fn choice(&mut self, choice: &In<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let mut values = Vec::new();
        for value in &choice.values {
            values.extend(self.parameters.scalars(value)?);
        }
        if self.is_id(&choice.operand) {
            let ids: Vec<String> = values.iter().filter_map(Scalar::text).collect();
            return match choice.is_all && ids.len() > 1 {
                true => Ok(Condition::Nothing),
                false => Ok(Condition::Ids(ids)),
            };
        }
        let field = self.field(&choice.operand, analysis)?;
        let values: Vec<Sought> = values.into_iter().map(sought).collect();
        Ok(match (values.is_empty(), choice.is_all) {
            (true, _) => Condition::Nothing,
            (false, true) => Condition::AllOf(field, values),
            (false, false) => Condition::AnyOf(field, values),
        })
    }

    fn call(&mut self, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let is = |name: &str| call.name.eq_ignore_ascii_case(name);
        let arguments = call.arguments.as_slice();
        if is("exact") {
            return match arguments {
                [condition] => self.condition(condition, Analysis::Exact),
                _ => Err(wrong_arguments("exact", "one condition")),
            };
        }
        if is("intersect") {
            return match arguments {
                [] | [_] => Err(wrong_arguments("intersect", "at least two conditions")),
                operands => {
                    // Entries of the first, of documents that the others find, too.
                    let mut conditions = self.conditions(operands, analysis)?.into_iter();
                    let first = conditions.next();
                    let others = conditions.map(|condition| Condition::OfDocuments(Box::new(condition)));
                    Ok(Condition::And(first.into_iter().chain(others).collect()))
                }
            };
        }
        if is("exists") {
            return match arguments {
                [field] => Ok(Condition::Exists(self.field(field, analysis)?)),
                _ => Err(wrong_arguments("exists", "a field")),
            };
        }
        if is("search") {
            let (field, parts, is_all) = self.search(call)?;
            return Ok(Condition::Words(field, TextQuery::Search { parts, is_all }));
        }
        if is("boost") {
            return self.boost(arguments, analysis);
        }
        if is("fuzzy") {
            return self.fuzzy(arguments, analysis);
        }
        if is("moreLikeThis") {
            return self.more_like_this(arguments);
        }
        if is("lucene") {
            return self.lucene(arguments, analysis);
        }
        if is("proximity") {
            return self.proximity(arguments);
        }
        if is(vector::FUNCTION) {
            return self.vector_search(call, analysis);
        }
        if let Some(operation) = spatial::operation(&call.name) {
            return self.spatial(call, operation);
        }
        if !["startsWith", "endsWith", "regex"].into_iter().any(is) {
            return Err(unknown(&call.name));
        }
        let [operand, Expression::Value(value)] = arguments else {
            return Err(wrong_arguments(&call.name, "a field and a text"));
        };
        let Scalar::Text(text) = self.parameters.scalar(value)? else {
            return Err(wrong_arguments(&call.name, "a field and a text"));
        };
        if self.is_id(operand) {
            return match is("startsWith") {
                true => Ok(Condition::IdPrefix(text)),
                false => Err(Refused::NotSupported(format!("{}() of id()", call.name))),
            };
        }
        let field = self.field(operand, analysis)?;
        if is("regex") {
            // The terms are lower-cased, and it fits in any case, as with the reference.
            let mut builder = RegexBuilder::new(&text);
            builder.case_insensitive(analysis == Analysis::LowerCase).size_limit(REGEX_SIZE_MAX);
            let regex = builder.build().map_err(|error| Refused::Invalid(format!("'{text}': {error}")))?;
            return Ok(Condition::Pattern(field, regex));
        }
        check_bound(&text)?;
        Ok(if is("startsWith") { Condition::Prefix(field, text) } else { Condition::Suffix(field, text) })
    }

    /// `search(field, text[, and | or])`
    fn search(&mut self, call: &Call<'_>) -> Result<(FieldUse, Vec<SearchPart>, bool), Refused> {
        let wrong = || wrong_arguments("search", "a field, a text, and perhaps 'and' or 'or'");
        let (operand, text, operator) = match call.arguments.as_slice() {
            [operand, text] => (operand, text, None),
            [operand, text, Expression::Field(operator)] => (operand, text, Some(operator.text())),
            [operand, text, Expression::Value(operator)] => {
                (operand, text, Some(self.parameters.scalar(operator)?.text().ok_or_else(wrong)?.into()))
            }
            _ => return Err(wrong()),
        };
        let is_all = match operator {
            None => false,
            Some(operator) if operator.eq_ignore_ascii_case("or") => false,
            Some(operator) if operator.eq_ignore_ascii_case("and") => true,
            Some(_) => return Err(wrong()),
        };
        let Expression::Value(value) = text else { return Err(wrong()) };
        let Scalar::Text(text) = self.parameters.scalar(value)? else {
            return Err(Refused::Invalid("Method search() expects to get an argument of type String".to_owned()));
        };
        if self.is_id(operand) {
            return Err(Refused::NotSupported("search() of id()".to_owned()));
        }
        let parts = search_text::parts(&text);
        if parts.len() > SEARCH_CLAUSES_MAX {
            let count = parts.len();
            let message =
                format!("a search for {count} words exceeds the limit SEARCH_CLAUSES_MAX = {SEARCH_CLAUSES_MAX}");
            return Err(Refused::Invalid(message));
        }
        if let Some(long) =
            parts.iter().find(|part| part.wildcard != Wildcard::None && part.text.len() > BOUND_SIZE_MAX)
        {
            check_bound(&long.text)?;
        }
        Ok((self.field(operand, Analysis::Words(Analyzer::Standard))?, parts, is_all))
    }

    /// `boost(condition, number)`
    fn boost(&mut self, arguments: &[Expression<'_>], analysis: Analysis) -> Result<Condition, Refused> {
        let [condition, Expression::Value(value)] = arguments else {
            return Err(wrong_arguments("boost", "a condition and a number"));
        };
        let boost = self.number(value).ok_or_else(|| wrong_arguments("boost", "a condition and a number"))?;
        Ok(Condition::Boosted(Box::new(self.condition(condition, analysis)?), boost))
    }

    /// `fuzzy(field = text, similarity)`
    fn fuzzy(&mut self, arguments: &[Expression<'_>], analysis: Analysis) -> Result<Condition, Refused> {
        let wrong = || wrong_arguments("fuzzy", "a field that equals a text, and a number from 0 to below 1");
        let [Expression::Compare(comparison), Expression::Value(similarity)] = arguments else { return Err(wrong()) };
        let (Operator::Equal, Expression::Value(value)) = (comparison.operator, &comparison.right) else {
            return Err(wrong());
        };
        let Scalar::Text(text) = self.parameters.scalar(value)? else { return Err(wrong()) };
        let similarity = self.number(similarity).filter(|number| (0.0..1.0).contains(number)).ok_or_else(wrong)?;
        check_bound(&text)?;
        let field = self.field(&comparison.left, analysis)?;
        Ok(Condition::Words(field, TextQuery::Fuzzy { text, similarity }))
    }

    /// `proximity(search(field, text), distance)`
    fn proximity(&mut self, arguments: &[Expression<'_>]) -> Result<Condition, Refused> {
        let wrong = || wrong_arguments("proximity", "search() of several words, and a whole number from 0 on");
        let [Expression::Call(search), Expression::Value(distance)] = arguments else { return Err(wrong()) };
        if !search.name.eq_ignore_ascii_case("search") {
            return Err(wrong());
        }
        let distance =
            self.number(distance).filter(|number| *number >= 0.0 && number.fract() == 0.0).ok_or_else(wrong)?;
        let (field, parts, _) = self.search(search)?;
        if parts.iter().any(|part| part.wildcard != Wildcard::None) {
            let message = "Proximity search works only on simple string terms, not wildcard or prefix ones";
            return Err(Refused::Invalid(message.to_owned()));
        }
        Ok(Condition::Words(field, TextQuery::Proximity { parts, distance: distance as u32 }))
    }

    /// `moreLikeThis(document | condition[, options])`
    fn more_like_this(&mut self, arguments: &[Expression<'_>]) -> Result<Condition, Refused> {
        if !self.is_named {
            return Err(Refused::Invalid("Method moreLikeThis() cannot be used in dynamic queries".to_owned()));
        }
        let wrong = || wrong_arguments("moreLikeThis", "a document or a condition, and perhaps options");
        let (base, options) = match arguments {
            [base] => (base, None),
            [base, Expression::Value(options)] => (base, Some(options)),
            _ => return Err(wrong()),
        };
        let base =
            match base {
                Expression::Value(value) => {
                    let Scalar::Text(text) = self.parameters.scalar(value)? else { return Err(wrong()) };
                    let document = json::Value::parse(text.as_bytes());
                    Base::Document(document.map_err(|error| {
                        Refused::Invalid(format!("the document of moreLikeThis() is no JSON: {error}"))
                    })?)
                }
                condition => Base::Entry(Box::new(self.condition(condition, Analysis::LowerCase)?)),
            };
        Ok(Condition::Like(Box::new(MoreLikeThis::new(base, options, self.parameters)?)))
    }

    /// A field that words are suggested of.
    pub fn suggested_field(&mut self, expression: &Expression<'_>) -> Result<FieldUse, Refused> {
        let field = self.field(expression, Analysis::LowerCase)?;
        if let Some(needed) = self.fields.last_mut() {
            needed.needs.is_suggested = true;
        }
        Ok(field)
    }

    /// A field whose words are marked.
    pub fn highlighted_field(&mut self, expression: &Expression<'_>) -> Result<FieldUse, Refused> {
        let field = self.field(expression, Analysis::Words(Analyzer::Standard))?;
        if let Some(needed) = self.fields.last_mut() {
            needed.needs.is_highlighted = true;
        }
        Ok(field)
    }

    /// Whether documents are grouped by the query.
    pub fn is_grouping(&self) -> bool {
        self.grouping.is_some()
    }

    /// `lucene(field, text)`
    fn lucene(&mut self, arguments: &[Expression<'_>], analysis: Analysis) -> Result<Condition, Refused> {
        let [operand, Expression::Value(value)] = arguments else {
            return Err(wrong_arguments("lucene", "a field and a text"));
        };
        let analysis = if analysis == Analysis::Exact { analysis } else { Analysis::Words(Analyzer::Standard) };
        let field = self.field(operand, analysis)?;
        let text = match self.parameters.scalar(value)? {
            Scalar::Text(text) => text,
            Scalar::Null => return Ok(Condition::AnyOf(field, vec![Sought::Null])),
            _ => return Err(Refused::Invalid("Method lucene() expects to get an argument of type String".to_owned())),
        };
        let lucene::Parsed { query, fields } = lucene::parse(&text)?;
        let mut named = |path: String| {
            let name = FieldName { path, is_quoted: false };
            self.fields.push(Field { name: name.clone(), needs: FieldNeeds::of(analysis) });
            FieldUse { name, analysis }
        };
        let fields = fields.into_iter().map(&mut named).collect();
        Ok(Condition::Words(field, TextQuery::Lucene { query, fields }))
    }

    fn number(&self, value: &rql::Value<'_>) -> Option<f32> {
        match self.parameters.scalar(value) {
            Ok(Scalar::Number(text)) => text.parse().ok().filter(|number: &f32| number.is_finite()),
            _ => None,
        }
    }

    /// `custom(field, name)`: a sorter that users write in C#, which cannot be put here.
    fn no_such_sorter(&self, call: &Call<'_>) -> Refused {
        let name = match call.arguments.as_slice() {
            [_, Expression::Value(name)] => self.parameters.scalar(name).ok().and_then(|name| name.text()),
            _ => None,
        };
        name.map_or_else(|| wrong_arguments("custom", "a field and the name of a sorter"), Refused::NoSuchSorter)
    }

    fn sort_key(&mut self, key: &OrderKey<'_>) -> Result<SortKey, Refused> {
        let by = match &key.key {
            id if self.is_id(id) && matches!(key.ordering, Some(Ordering::AlphaNumeric)) => SortBy::AlphaNumericId,
            id if self.is_id(id) => SortBy::Id,
            Expression::Call(call) if call.name.eq_ignore_ascii_case("score") => SortBy::Score,
            Expression::Call(call) if call.name.eq_ignore_ascii_case("random") => match call.arguments.as_slice() {
                [] => SortBy::Random(None),
                [Expression::Value(value)] => match self.parameters.scalar(value)?.text() {
                    Some(seed) => SortBy::Random(Some(seed)),
                    None => return Err(wrong_arguments("random", "a text or nothing")),
                },
                _ => return Err(wrong_arguments("random", "a text or nothing")),
            },
            Expression::Call(call) if call.name.eq_ignore_ascii_case("spatial.distance") => {
                SortBy::Distance(self.distance(call)?)
            }
            Expression::Call(call) if call.name.eq_ignore_ascii_case("custom") => return Err(self.no_such_sorter(call)),
            Expression::Call(call) if self.grouping.is_none() => {
                return Err(Refused::NotSupported(format!("sorting by {}()", call.name)));
            }
            field => {
                let field = self.field(field, Analysis::LowerCase)?;
                match key.ordering {
                    None | Some(Ordering::String) => SortBy::Text(field),
                    Some(Ordering::Long | Ordering::Double) => SortBy::Number(field),
                    Some(Ordering::AlphaNumeric) => SortBy::AlphaNumeric(field),
                }
            }
        };
        let absent_last = key.nulls.map(|nulls| nulls == rql::Nulls::Last);
        Ok(SortKey { by, is_descending: key.is_descending, absent_last })
    }

    /// A field of the query, which the index must have.
    pub(super) fn field(&mut self, expression: &Expression<'_>, analysis: Analysis) -> Result<FieldUse, Refused> {
        let name = match (expression, self.grouping) {
            (expression, Some(grouping)) => grouping.field(expression)?,
            (Expression::Field(path), None) => FieldName::of(path, self.alias)
                .map_err(|step| Refused::NotSupported(format!("'{step}' in the name of a field of an index")))?,
            // Clients quote names that would not be names otherwise.
            (Expression::Value(value), None) => match self.parameters.scalar(value)? {
                Scalar::Text(path) => FieldName { path, is_quoted: true },
                _ => return Err(Refused::Invalid("Expected a field, but got a value".to_owned())),
            },
            (Expression::Call(call), None) => {
                return Err(Refused::NotSupported(format!("{}() as a field", call.name)));
            }
            _ => return Err(Refused::Invalid("Expected a field, but got a condition".to_owned())),
        };
        self.fields.push(Field { name: name.clone(), needs: FieldNeeds::of(analysis) });
        Ok(FieldUse { name, analysis })
    }

    /// The path of a field that a function names, as it is or in a text.
    pub(super) fn path(&self, expression: &Expression<'_>) -> Result<String, Refused> {
        match expression {
            Expression::Field(path) => FieldName::without_brackets(path, self.alias)
                .map(|name| name.path)
                .map_err(|step| Refused::NotSupported(format!("'{step}' in the name of a field of an index"))),
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Text(path) => Ok(path),
                _ => Err(Refused::Invalid("Expected a field, but got a value".to_owned())),
            },
            _ => Err(Refused::Invalid("Expected a field, but got a condition".to_owned())),
        }
    }

    fn is_id(&self, expression: &Expression<'_>) -> bool {
        super::is_id(expression, self.alias)
    }
}

fn wrong_arguments(function: &str, needed: &str) -> Refused {
    Refused::Invalid(format!("Method {function}() needs {needed}"))
}

/// Functions of conditions that are not there yet; any other is a mistake.
const NOT_SUPPORTED: [&str; 3] = ["when", "count", "sum"];

fn unknown(name: &str) -> Refused {
    match NOT_SUPPORTED.into_iter().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => Refused::NotSupported(format!("{known}() in a condition")),
        None => Refused::Invalid(format!("'{name}' is not a function of conditions")),
    }
}
