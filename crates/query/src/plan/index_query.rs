//! Queries that an index answers: which fields they need of it, and what they ask.

use super::clauses::grouping::Grouping;
use super::conditions::condition::{Condition, TermValue};
use super::conditions::term_value::{range, term_value};
use super::parameters::Scalar;
use super::{FacetClause, Highlight, Parameters, Refused, Suggestion};
use crate::analysis::Analyzer;
use crate::definition::{Analysis, AutomaticIndex, Field, FieldName, FieldNeeds, FieldUse};
use crate::functions::{self, Function, facet, highlight, suggest};
use crate::index::limits::NAME_SIZE_MAX;
use crate::rql::{self, Between, Call, Comparison, Expression, In, Operator, OrderKey, Ordering, Query};
use crate::spatial::Geometry;
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
        let suggestions = suggest::plan(query, &mut planner)?;
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

/// Plans the clauses of one query over an index.
pub(crate) struct Planner<'p> {
    pub alias: Option<&'p str>,
    pub(super) grouping: Option<&'p Grouping<'p>>,
    pub parameters: Parameters<'p>,
    /// Whether the query names its index.
    pub is_named: bool,
    /// Those that are needed, some perhaps twice.
    fields: Vec<Field>,
}

impl Planner<'_> {
    /// Plans a condition.
    ///
    /// * `analysis`: that of the fields in it, unless a function has its own.
    pub fn condition(&mut self, condition: &Expression<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        if functions::is_left_out(condition, self.parameters)? {
            return Ok(Condition::All);
        }
        match condition {
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Boolean(true) => Ok(Condition::All),
                _ => Err(Refused::Invalid("a value alone is no condition".to_owned())),
            },
            Expression::Field(path) => Err(Refused::Invalid(format!("'{}' alone is no condition", path.text()))),
            Expression::And(operands) => Ok(Condition::all_of(self.conditions(operands, analysis)?)),
            Expression::Or(operands) => Ok(Condition::any_of(self.conditions(operands, analysis)?)),
            Expression::Not(operand) => Ok(Condition::Not(Box::new(self.condition(operand, analysis)?))),
            Expression::Compare(comparison) => self.comparison(comparison, analysis),
            Expression::Between(between) => self.between(between, analysis),
            Expression::In(choice) => self.choice(choice, analysis),
            Expression::Call(call) => self.call(call, analysis),
        }
    }

    /// The same of several, without those that are to be left out.
    pub fn conditions(&mut self, operands: &[Expression<'_>], analysis: Analysis) -> Result<Vec<Condition>, Refused> {
        let mut conditions = Vec::with_capacity(operands.len());
        for operand in operands {
            if !functions::is_left_out(operand, self.parameters)? {
                conditions.push(self.condition(operand, analysis.clone())?);
            }
        }
        Ok(conditions)
    }

    fn comparison(&mut self, comparison: &Comparison<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        let value = match &comparison.right {
            Expression::Value(value) => self.parameters.scalar(value)?,
            Expression::Call(call) => functions::value_of(call, self.parameters)?,
            Expression::Field(path) => {
                return Err(Refused::no_value(&path.text()));
            }
            _ => return Err(Refused::Invalid("Expected value, but got a condition".to_owned())),
        };
        let not = |condition| Condition::Not(Box::new(condition));
        if self.is_id(&comparison.left) {
            let ids = Condition::Ids(value.text().into_iter().collect());
            let end = || id_bound(&value);
            return Ok(match comparison.operator {
                Operator::Equal => ids,
                Operator::NotEqual => not(ids),
                Operator::Less => Condition::IdRange(Bound::Unbounded, Bound::Excluded(end()?)),
                Operator::LessOrEqual => Condition::IdRange(Bound::Unbounded, Bound::Included(end()?)),
                Operator::Greater => Condition::IdRange(Bound::Excluded(end()?), Bound::Unbounded),
                Operator::GreaterOrEqual => Condition::IdRange(Bound::Included(end()?), Bound::Unbounded),
            });
        }
        let field = self.field(&comparison.left, analysis)?;
        let equal = |field: FieldUse, value| Condition::AnyOf(field, vec![term_value(value)]);
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
            Expression::Call(call) => functions::value_of(call, self.parameters),
            _ => Err(Refused::Invalid("'between' needs two values".to_owned())),
        };
        let (low, high) = (bound(&between.low)?, bound(&between.high)?);
        if self.is_id(&between.operand) {
            return Ok(Condition::IdRange(Bound::Included(id_bound(&low)?), Bound::Included(id_bound(&high)?)));
        }
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
        let values: Vec<TermValue> = values.into_iter().map(term_value).collect();
        Ok(match (values.is_empty(), choice.is_all) {
            (true, _) => Condition::Nothing,
            (false, true) => Condition::AllOf(field, values),
            (false, false) => Condition::AnyOf(field, values),
        })
    }

    fn call(&mut self, call: &Call<'_>, analysis: Analysis) -> Result<Condition, Refused> {
        match functions::find(&call.name).and_then(Function::condition) {
            Some(plan) => plan(self, call, analysis),
            None => Err(functions::not_a_condition(&call.name)),
        }
    }

    /// The arguments of a function that takes a field and a text.
    pub fn field_and_text<'c, 'q>(
        &self,
        call: &'c Call<'q>,
        function: &Function,
    ) -> Result<(&'c Expression<'q>, String), Refused> {
        let [operand, Expression::Value(value)] = call.arguments.as_slice() else {
            return Err(function.wrong_arguments());
        };
        match self.parameters.scalar(value)? {
            Scalar::Text(text) => Ok((operand, text)),
            _ => Err(function.wrong_arguments()),
        }
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

    /// A number, unless it is beyond those of 32 bits.
    pub fn number(&self, value: &rql::Value<'_>) -> Option<f32> {
        match self.parameters.scalar(value) {
            Ok(Scalar::Number(text)) => text.parse().ok().filter(|number: &f32| number.is_finite()),
            _ => None,
        }
    }

    fn sort_key(&mut self, key: &OrderKey<'_>) -> Result<SortKey, Refused> {
        let by = match &key.key {
            id if self.is_id(id) && matches!(key.ordering, Some(Ordering::AlphaNumeric)) => SortBy::AlphaNumericId,
            id if self.is_id(id) => SortBy::Id,
            Expression::Call(call) => match functions::find(&call.name).and_then(Function::order) {
                Some(plan) => plan(self, call)?,
                None if self.grouping.is_none() => {
                    return Err(Refused::call(&call.name, "in 'order by'"));
                }
                None => self.field_order(key)?,
            },
            _ => self.field_order(key)?,
        };
        let absent_last = key.nulls.map(|nulls| nulls == rql::Nulls::Last);
        Ok(SortKey { by, is_descending: key.is_descending, absent_last })
    }

    fn field_order(&mut self, key: &OrderKey<'_>) -> Result<SortBy, Refused> {
        let field = self.field(&key.key, Analysis::LowerCase)?;
        Ok(match key.ordering {
            None | Some(Ordering::String) => SortBy::Text(field),
            Some(Ordering::Long | Ordering::Double) => SortBy::Number(field),
            Some(Ordering::AlphaNumeric) => SortBy::AlphaNumeric(field),
        })
    }

    /// A field that the index must have.
    pub fn need(&mut self, field: Field, analysis: Analysis) -> FieldUse {
        let name = field.name.clone();
        self.fields.push(field);
        FieldUse { name, analysis }
    }

    /// A field of the query, which the index must have.
    pub fn field(&mut self, expression: &Expression<'_>, analysis: Analysis) -> Result<FieldUse, Refused> {
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
                return Err(Refused::call(&call.name, "as a field"));
            }
            _ => return Err(Refused::Invalid("Expected a field, but got a condition".to_owned())),
        };
        Ok(self.need(Field { name, needs: FieldNeeds::of(analysis.kind()) }, analysis))
    }

    /// The path of a field that a function names, as it is or in a text.
    pub fn path(&self, expression: &Expression<'_>) -> Result<String, Refused> {
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

    /// Whether an expression is the id of the document.
    pub fn is_id(&self, expression: &Expression<'_>) -> bool {
        super::is_id(expression, self.alias)
    }
}

/// An end of a range of ids.
fn id_bound(value: &Scalar) -> Result<String, Refused> {
    value.text().ok_or_else(|| Refused::Invalid("id() is compared with a text".to_owned()))
}
