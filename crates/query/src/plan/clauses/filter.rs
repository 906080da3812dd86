//! The clause `filter`: a condition that is evaluated on each result, without an index.

use std::sync::Arc;

use regex::Regex;

use super::projection::{Brackets, PathStep, Projected, path_of, steps_of};
use super::script::Load;
use crate::functions::{self, Clause, Function, ID};
use crate::limits::FILTER_CALLS_MAX;
use crate::plan::parameters::Scalar;
use crate::plan::{Parameters, Refused, ScriptClause};
use crate::rql::{Call, Comparison, Expression, Operator, Path, Query, Value};

/// What `filter` says of each result.
#[derive(Clone, Debug)]
pub struct FilterClause {
    pub(crate) condition: FilterCondition,
    /// How many results are looked at: `filter_limit`.
    pub limit: Option<u64>,
    /// The calls of declared functions, which conditions name by their places.
    pub(crate) calls: Vec<ScriptClause>,
    /// The documents that conditions name by their places. Empty if no condition does.
    pub(crate) loads: Vec<Load>,
}

/// A value of a result that a condition is about.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// What is projected from it.
    Of(Projected),
    /// What a declared function gives: the place of its call.
    Called(usize),
    /// What stands at a path of a loaded document, or of the array of several.
    Loaded {
        /// The place of its `load`.
        place: usize,
        /// The path; empty: all of the document.
        steps: Vec<PathStep>,
    },
    /// The id of a loaded document: the place of its `load`.
    LoadedId(usize),
}

/// A condition of a result.
#[derive(Clone, Debug)]
pub(crate) enum FilterCondition {
    Always,
    And(Vec<FilterCondition>),
    Or(Vec<FilterCondition>),
    Not(Box<FilterCondition>),
    Compare(Operand, Operator, Scalar),
    CompareFields(Operand, Operator, Operand),
    AnyOf(Operand, Vec<Scalar>),
    AllOf(Operand, Vec<Scalar>),
    Prefix(Operand, String),
    Suffix(Operand, String),
    Pattern(Operand, Regex),
    Exists(Operand),
    /// A call alone, which has to give `true` itself.
    IsTrue(Operand),
}

impl FilterClause {
    /// What a query filters its results by, if it does.
    pub(in crate::plan) fn plan(
        query: &Query<'_>,
        parameters: Parameters<'_>,
    ) -> Result<Option<FilterClause>, Refused> {
        let limit = match &query.filter_limit {
            Some(limit) => parameters.count(limit, "FILTER_LIMIT")?,
            None => None,
        };
        let Some(condition) = &query.filter else {
            return match query.filter_limit {
                Some(_) => Err(Refused::Invalid("'filter_limit' needs 'filter'".to_owned())),
                None => Ok(None),
            };
        };
        let mut planner = Planner {
            query,
            alias: query.from.alias.as_deref(),
            parameters,
            calls: Vec::new(),
            loads: Load::plan(query, parameters)?,
            names_loaded: false,
        };
        let condition = planner.condition(condition)?;
        let loads = if planner.names_loaded { planner.loads } else { Vec::new() };
        Ok(Some(FilterClause { condition, limit, calls: planner.calls, loads }))
    }
}

/// Plans the clause `filter` of one query.
pub(crate) struct Planner<'p, 'q> {
    query: &'p Query<'q>,
    alias: Option<&'p str>,
    parameters: Parameters<'p>,
    calls: Vec<ScriptClause>,
    loads: Vec<Load>,
    /// Whether a condition names a loaded document, other than as the argument of a call.
    names_loaded: bool,
}

impl Planner<'_, '_> {
    /// Plans a condition. The depth of the recursion is that of the expression, which the parser bounds.
    pub fn condition(&mut self, condition: &Expression<'_>) -> Result<FilterCondition, Refused> {
        if functions::is_left_out(condition, self.parameters)? {
            return Ok(FilterCondition::Always);
        }
        match condition {
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Boolean(true) => Ok(FilterCondition::Always),
                _ => Err(Refused::Invalid("a value alone is no condition".to_owned())),
            },
            Expression::Field(path) => Err(Refused::Invalid(format!("'{}' alone is no condition", path.text()))),
            Expression::And(operands) => Ok(FilterCondition::And(self.conditions(operands)?)),
            Expression::Or(operands) => Ok(FilterCondition::Or(self.conditions(operands)?)),
            Expression::Not(operand) => Ok(FilterCondition::Not(Box::new(self.condition(operand)?))),
            Expression::Compare(comparison) => {
                let Comparison { left, operator, right } = &**comparison;
                let is_value = |call: &Call<'_>| self.query.declares(call) || self.loaded_id(call).is_some();
                let is_called = matches!(right, Expression::Call(call) if is_value(call));
                if is_called || matches!(right, Expression::Field(_)) {
                    return Ok(FilterCondition::CompareFields(self.operand(left)?, *operator, self.operand(right)?));
                }
                Ok(FilterCondition::Compare(self.operand(left)?, *operator, self.value(right)?))
            }
            Expression::Between(between) => {
                let operand = self.operand(&between.operand)?;
                let bound =
                    |operator, value| Ok(FilterCondition::Compare(operand.clone(), operator, self.value(value)?));
                Ok(FilterCondition::And(vec![
                    bound(Operator::GreaterOrEqual, &between.low)?,
                    bound(Operator::LessOrEqual, &between.high)?,
                ]))
            }
            Expression::In(choice) => {
                let operand = self.operand(&choice.operand)?;
                let mut values = Vec::new();
                for value in &choice.values {
                    values.extend(self.parameters.scalars(value)?);
                }
                Ok(match choice.is_all {
                    true => FilterCondition::AllOf(operand, values),
                    false => FilterCondition::AnyOf(operand, values),
                })
            }
            Expression::Call(call) => self.call(call),
        }
    }

    fn conditions(&mut self, operands: &[Expression<'_>]) -> Result<Vec<FilterCondition>, Refused> {
        let mut conditions = Vec::with_capacity(operands.len());
        for operand in operands {
            if !functions::is_left_out(operand, self.parameters)? {
                conditions.push(self.condition(operand)?);
            }
        }
        Ok(conditions)
    }

    fn call(&mut self, call: &Call<'_>) -> Result<FilterCondition, Refused> {
        if self.query.declares(call) {
            return Ok(FilterCondition::IsTrue(self.called(call)?));
        }
        match functions::find(&call.name).and_then(Function::filter) {
            Some(plan) => plan(self, call),
            None if functions::stands_in(&call.name, Clause::Filter) => Err(functions::not_alone(&call.name)),
            None => Err(Refused::call(&call.name, "in 'filter'")),
        }
    }

    /// The arguments of a function that takes a field and a text.
    pub fn operand_and_text(&mut self, call: &Call<'_>, function: &Function) -> Result<(Operand, String), Refused> {
        let [operand, Expression::Value(value)] = call.arguments.as_slice() else {
            return Err(function.wrong_arguments());
        };
        let operand = self.operand(operand)?;
        let text = self.text(value).ok_or_else(|| function.wrong_arguments())?;
        Ok((operand, text))
    }

    /// The place of the `load` whose document a path begins with.
    fn loaded(&self, path: &Path<'_>) -> Option<usize> {
        let is_named = |load: &Load| !path.first.is_quoted && load.alias == path.first.text;
        self.loads.iter().rposition(is_named)
    }

    /// The place of the `load` whose document `id()` is called with.
    fn loaded_id(&self, call: &Call<'_>) -> Option<usize> {
        match call.arguments.as_slice() {
            [Expression::Field(path)] if ID.is(&call.name) && call.member.is_none() && path.rest.is_empty() => {
                let place = self.loaded(path)?;
                self.loads.get(place).filter(|load| !load.is_array).map(|_| place)
            }
            _ => None,
        }
    }

    fn called(&mut self, call: &Call<'_>) -> Result<Operand, Refused> {
        if self.calls.len() == FILTER_CALLS_MAX {
            return Err(Refused::Invalid(format!("'filter' calls more than {FILTER_CALLS_MAX} functions")));
        }
        let values = self.calls.first().map_or_else(|| Arc::new(self.parameters.all()), |call| call.values.clone());
        self.calls.push(ScriptClause::call(self.query, call, values, &self.loads)?);
        Ok(Operand::Called(self.calls.len() - 1))
    }

    fn text(&self, value: &Value<'_>) -> Option<String> {
        match self.parameters.scalar(value) {
            Ok(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// What a condition is about.
    pub fn operand(&mut self, expression: &Expression<'_>) -> Result<Operand, Refused> {
        match expression {
            Expression::Call(call) if self.query.declares(call) => self.called(call),
            id if crate::plan::is_id(id, self.alias) => Ok(Operand::Of(Projected::Id)),
            Expression::Field(path) if let Some(place) = self.loaded(path) => {
                self.names_loaded = true;
                Ok(Operand::Loaded { place, steps: steps_of(path, true, Brackets::Element)? })
            }
            Expression::Call(call) if let Some(place) = self.loaded_id(call) => {
                self.names_loaded = true;
                Ok(Operand::LoadedId(place))
            }
            Expression::Field(path) => Ok(Operand::Of(path_of(path, self.alias, Brackets::Element)?.0)),
            // Clients quote names that would not be names otherwise.
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Text(path) => Ok(Operand::Of(Projected::of_path(&path))),
                _ => Err(Refused::Invalid("Expected a field, but got a value".to_owned())),
            },
            Expression::Call(call) => Err(Refused::call(&call.name, "in 'filter'")),
            _ => Err(Refused::Invalid("Expected a field, but got a condition".to_owned())),
        }
    }

    fn value(&self, expression: &Expression<'_>) -> Result<Scalar, Refused> {
        match expression {
            Expression::Value(value) => self.parameters.scalar(value),
            Expression::Call(call) => functions::value_of(call, self.parameters),
            Expression::Field(path) => Err(Refused::no_value(&path.text())),
            _ => Err(Refused::Invalid("Expected value, but got a condition".to_owned())),
        }
    }
}
