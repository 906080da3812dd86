//! What `group by` comes to: the keys of groups, what is added up in them, and which fields of their results other clauses mean.

use super::projection::{PathStep, Projected, ProjectedColumn};
use crate::definition::{AutomaticIndex, COUNT, Field, FieldName, FieldNeeds, GroupedBy, Measure, MeasuredField};
use crate::functions::{self, Clause, Function, GroupField};
use crate::plan::parameters::Scalar;
use crate::plan::{Parameters, Refused};
use crate::rql::{Call, Column, ColumnValue, Expression, Output, Projection, Query, Select};
use documents::Feature;

/// The groups of a query.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Grouping<'p> {
    alias: Option<&'p str>,
    parameters: Parameters<'p>,
    keys: Vec<Key>,
    /// What is counted, added up or measured, by the names of results.
    aggregates: Vec<FieldName>,
    /// Other names of fields of results, which the query gives them.
    names: Vec<(String, FieldName)>,
}

#[derive(Clone, Debug)]
struct Key {
    name: FieldName,
    /// Whether arrays are compared whole.
    is_array: bool,
    /// Its name in the query.
    alias: Option<String>,
}

impl<'p> Grouping<'p> {
    /// The groups of a query; `None`: it does not group.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub fn plan(query: &'p Query<'_>, parameters: Parameters<'p>) -> Result<Option<Grouping<'p>>, Refused> {
        if query.group_by.is_empty() {
            return Ok(None);
        }
        let alias = query.from.alias.as_deref();
        let mut grouping = Grouping { alias, parameters, keys: Vec::new(), aggregates: Vec::new(), names: Vec::new() };
        for key in &query.group_by {
            let (field, is_array) = match &key.key {
                Expression::Call(call) => match call.arguments.as_slice() {
                    [field] if functions::stands_in(&call.name, Clause::GroupBy) => (field, true),
                    _ => return Err(Refused::Invalid(format!("Unsupported method '{}' in GROUP BY", call.name))),
                },
                field => (field, false),
            };
            let name = grouping.name(field)?;
            if grouping.keys.iter().any(|key| key.name.path == name.path) {
                return Err(Refused::Invalid(format!("'{}' comes twice in GROUP BY", name.path)));
            }
            grouping.keys.push(Key { name, is_array, alias: key.alias.as_deref().map(str::to_owned) });
        }
        if let Output::Select(Select { projection: Projection::Columns(columns), .. }) = &query.output {
            for Column { value, alias } in columns {
                let field = match value {
                    ColumnValue::Call(call) => grouping.note_call(call)?,
                    ColumnValue::Field(path) => grouping.key_of(&grouping.name(&Expression::Field(path.clone()))?),
                    ColumnValue::Value(_) | ColumnValue::TimeSeries(_) => None,
                };
                if let (Some(field), Some(alias)) = (field, alias) {
                    grouping.names.push((alias.to_string(), field));
                }
            }
        }
        query.order_by.iter().try_for_each(|key| grouping.note(&key.key))?;
        query.condition.iter().try_for_each(|condition| grouping.note(condition))?;
        Ok(Some(grouping))
    }

    /// The index that has these groups.
    ///
    /// * `fields`: those of results that conditions and orders mean, with how they are looked for.
    pub fn index(&self, collection: Option<String>, fields: Vec<Field>) -> AutomaticIndex {
        let keys = self.keys.iter().map(|key| GroupedBy { path: key.name.path.clone(), is_array: key.is_array });
        let plain = |name: &FieldName| Field { name: name.clone(), needs: FieldNeeds::default() };
        let own = self.keys.iter().map(|key| plain(&key.name)).chain(self.aggregates.iter().map(plain));
        AutomaticIndex::grouped(collection, keys.collect(), own.chain(fields))
    }

    /// The field of results that an expression of a condition or an order means.
    ///
    /// # Errors
    ///
    /// [`Refused`]: it is neither a key nor an aggregate.
    pub fn field(&self, expression: &Expression<'_>) -> Result<FieldName, Refused> {
        if let Expression::Call(call) = expression {
            return match (field_of(call), self.keys.as_slice()) {
                (Some(GroupField::Count), _) => Ok(count()),
                (Some(GroupField::Sum), _) => self.sum(call),
                (Some(GroupField::Measure(measure)), _) => self.measured(call, measure),
                (Some(GroupField::Key), [key]) => Ok(key.name.clone()),
                (Some(GroupField::Key), _) => Err(Refused::Invalid(
                    "key() of several keys can be selected, and neither compared nor sorted by".to_owned(),
                )),
                (None, _) => Err(Refused::call(&call.name, "as a field of a group")),
            };
        }
        let name = self.name(expression)?;
        let named = self.names.iter().find(|(alias, _)| *alias == name.path).map(|(_, name)| name.clone());
        let is_aggregate = self.aggregates.iter().any(|aggregate| aggregate.path == name.path);
        match self.key_of(&name).or(named) {
            Some(name) => Ok(name),
            None if is_aggregate => Ok(name),
            None => Err(Refused::Invalid(format!(
                "Field '{}' is neither an aggregation operation nor part of the group by key",
                name.path
            ))),
        }
    }

    /// What a column of `select` gives.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub fn column(&self, column: &Column<'_>) -> Result<ProjectedColumn, Refused> {
        let of_field = |name: FieldName| {
            let steps = vec![PathStep::Name(name.path.clone())];
            (Projected::Path { field: name.path.clone(), steps }, name.path)
        };
        let (value, own_name) = match &column.value {
            ColumnValue::Field(path) => {
                let name = self.name(&Expression::Field(path.clone()))?;
                let found = self.key_of(&name).unwrap_or_else(|| name.clone());
                (of_field(found).0, name.path)
            }
            ColumnValue::Call(call) => match (field_of(call), self.keys.as_slice()) {
                (Some(GroupField::Key), [key]) => of_field(key.name.clone()),
                (Some(GroupField::Key), keys) => {
                    (Projected::Key(keys.iter().map(|key| key.name.path.clone()).collect()), "Key".to_owned())
                }
                (Some(GroupField::Count), _) => of_field(count()),
                (Some(GroupField::Sum), _) => of_field(self.sum(call)?),
                (Some(GroupField::Measure(measure)), _) => of_field(self.measured(call, measure)?),
                (None, _) => {
                    return Err(Refused::Invalid(format!(
                        "Unknown aggregation method in SELECT clause of the group by query: '{}'",
                        call.name
                    )));
                }
            },
            ColumnValue::Value(value) => (Projected::Literal(self.parameters.json(value)?), String::new()),
            ColumnValue::TimeSeries(_) => return Err(Refused::missing(Feature::TimeSeries, "timeseries() of groups")),
        };
        Ok(ProjectedColumn { name: column.alias.as_deref().map_or(own_name, str::to_owned), value })
    }

    /// The key of this name, or alias.
    fn key_of(&self, name: &FieldName) -> Option<FieldName> {
        let is_meant = |key: &&Key| key.name.path == name.path || key.alias.as_deref() == Some(&name.path);
        self.keys.iter().find(is_meant).map(|key| key.name.clone())
    }

    /// Notes the aggregates of an expression. It is as deep as the query is.
    fn note(&mut self, expression: &Expression<'_>) -> Result<(), Refused> {
        match expression {
            Expression::Value(_) | Expression::Field(_) => Ok(()),
            Expression::And(operands) | Expression::Or(operands) => {
                operands.iter().try_for_each(|operand| self.note(operand))
            }
            Expression::Not(operand) => self.note(operand),
            Expression::Compare(comparison) => self.note(&comparison.left),
            Expression::Between(between) => self.note(&between.operand),
            Expression::In(choice) => self.note(&choice.operand),
            Expression::Call(call) => {
                self.note_call(call)?;
                call.arguments.iter().try_for_each(|argument| self.note(argument))
            }
        }
    }

    fn note_call(&mut self, call: &Call<'_>) -> Result<Option<FieldName>, Refused> {
        let name = match field_of(call) {
            Some(GroupField::Key) => {
                return Ok(match self.keys.as_slice() {
                    [key] => Some(key.name.clone()),
                    _ => None,
                });
            }
            Some(GroupField::Count) => count(),
            Some(GroupField::Sum) => self.sum(call)?,
            Some(GroupField::Measure(measure)) => self.measured(call, measure)?,
            None => return Ok(None),
        };
        if self.keys.iter().any(|key| key.name.path == name.path) {
            return Err(Refused::Invalid(format!(
                "'{}' is a key of the groups and cannot be added up in them",
                name.path
            )));
        }
        if !self.aggregates.iter().any(|known| known.path == name.path) {
            self.aggregates.push(name.clone());
        }
        Ok(Some(name))
    }

    /// The name under which results have a sum.
    fn sum(&self, call: &Call<'_>) -> Result<FieldName, Refused> {
        match call.arguments.as_slice() {
            [field] => match self.name(field)? {
                name if name.path == COUNT => {
                    Err(Refused::NotSupported(format!("sum() of a field that is called '{COUNT}'")))
                }
                name if MeasuredField::of_name(&name.path).is_some() => {
                    Err(Refused::NotSupported(format!("sum() of a field that is called '{}'", name.path)))
                }
                name => Ok(name),
            },
            _ => Err(Refused::Invalid("sum() needs one field".to_owned())),
        }
    }

    /// The name under which results have the least or greatest number of a field, or the average.
    fn measured(&self, call: &Call<'_>, measure: Measure) -> Result<FieldName, Refused> {
        let [field] = call.arguments.as_slice() else {
            return Err(Refused::Invalid(format!("{}() needs one field", measure.function())));
        };
        let FieldName { path, is_quoted } = self.name(field)?;
        Ok(FieldName { path: MeasuredField { measure, path: &path }.name(), is_quoted })
    }

    fn name(&self, expression: &Expression<'_>) -> Result<FieldName, Refused> {
        match expression {
            Expression::Field(path) => FieldName::without_brackets(path, self.alias)
                .map_err(|step| Refused::NotSupported(format!("'{step}' in the name of a field of a group"))),
            Expression::Value(value) => match self.parameters.scalar(value)? {
                Scalar::Text(path) => Ok(FieldName { path, is_quoted: true }),
                Scalar::Number(path) => Ok(FieldName { path, is_quoted: false }),
                _ => Err(Refused::Invalid("Expected a field, but got a value".to_owned())),
            },
            _ => Err(Refused::Invalid("Expected a field".to_owned())),
        }
    }
}

/// The name under which results have the count.
fn count() -> FieldName {
    FieldName { path: COUNT.to_owned(), is_quoted: false }
}

/// What a call means of a group. `None`: nothing.
fn field_of(call: &Call<'_>) -> Option<GroupField> {
    functions::find(&call.name).and_then(Function::group_field)
}
