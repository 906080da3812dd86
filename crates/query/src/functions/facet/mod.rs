//! `select facet(field[, sum(field) as name, ..][, options])`, `facet(field < value, ..)`, `facet(sum(field))`, `facet(id('document'))`:
//! results counted by the terms of a field or by ranges of it, and what numbers of theirs come to.
//!
//! ```text
//! facet := "facet" "(" (id | by) ")"
//! id    := "id" "(" text ")"                         a document that has facets: FacetSetup
//! by    := [field | range {"," range}] {"," (aggregation | options)}
//! range := field (comparison {"and" comparison} | "between" value "and" value)
//! ```

mod range;
mod setup;

pub use setup::FacetSetup;

use super::id::ID;
use super::{Argument, Clause, Function, GroupField, Kind, Use, find};
use crate::definition::{Analysis, FieldName, Measure};
use crate::plan::{Condition, FieldUse, Options, Parameters, Planner, Refused, Scalar};
use crate::rql::{self, Call, Column, ColumnValue, Expression, Output, Query, Select, Value, ValueKind};
use range::RangeOf;

pub(super) static FACET: Function = Function {
    name: "facet",
    aliases: &[],
    arguments: &[
        Argument::required("field or ranges", Kind::FacetBy),
        Argument::optional("aggregations", Kind::Aggregations),
        Argument::optional("options", Kind::Options),
    ],
    about: "Answers, in place of results, with how many of them each term of the field has, or each range. Aggregations, such as `sum(Total) as Worth`, compute numbers of the same results. The index must be named.",
    example: "from index 'Cameras' select facet(Cost < 200, Cost >= 200), facet(Maker, avg(Cost), $options)",
    uses: &[Use::Known(Clause::Select)],
    missing: &[],
};

const FIELD: &[Argument] = &[Argument::required("field", Kind::Field)];

pub(super) static MIN: Function = Function {
    name: "min",
    aliases: &[],
    arguments: FIELD,
    about: "The least number that the field has in the group or the facet. In groups beyond RavenDB.",
    example: "from index 'Cameras' select facet(Maker, min(Cost))",
    uses: &[Use::Group(GroupField::Measure(Measure::Least)), Use::Measure(Measures { min: true, ..Measures::NONE })],
    missing: &[Clause::Where],
};

pub(super) static MAX: Function = Function {
    name: "max",
    aliases: &[],
    arguments: FIELD,
    about: "The greatest number that the field has in the group or the facet. In groups beyond RavenDB.",
    example: "from index 'Cameras' select facet(Maker, max(Cost) as Dearest)",
    uses: &[Use::Group(GroupField::Measure(Measure::Greatest)), Use::Measure(Measures { max: true, ..Measures::NONE })],
    missing: &[Clause::Where],
};

/// `average` is what facet setups call it.
pub(super) static AVG: Function = Function {
    name: "avg",
    aliases: &["average"],
    arguments: FIELD,
    about: "The average of the numbers that the field has in the group (beyond RavenDB). In a facet, their sum divided by the count of results.",
    example: "from index 'Cameras' select facet(Maker, avg(Cost))",
    uses: &[
        Use::Group(GroupField::Measure(Measure::Average)),
        Use::Measure(Measures { average: true, ..Measures::NONE }),
    ],
    missing: &[Clause::Where],
};

/// The name of a facet of all results.
pub const ALL_RESULTS: &str = "@AllResults";

/// One item of the `select` of a facet query.
#[derive(Clone, Debug)]
pub enum FacetClause {
    /// A facet.
    Facet(Facet),
    /// Those that a document has.
    Setup(FacetSetup),
}

/// Results counted by something.
#[derive(Clone, Debug)]
pub struct Facet {
    /// The name in the results.
    pub name: String,
    /// By what.
    pub by: FacetBy,
    /// What is made of numbers of the entries that are counted together.
    pub aggregations: Vec<Aggregation>,
}

/// By what results are counted.
#[derive(Clone, Debug)]
pub enum FacetBy {
    /// By nothing: all together.
    All,
    /// By each term of a field.
    Terms(FieldUse, FacetOptions),
    /// By ranges of a field.
    Ranges(FieldUse, Vec<FacetRange>),
}

/// A range of a field.
#[derive(Clone, Debug)]
pub struct FacetRange {
    /// How it is written, with the values of its parameters.
    pub text: String,
    /// What is in it.
    pub condition: Condition,
}

/// What is made of the numbers of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// The name in the results.
    pub name: String,
    /// The field.
    pub field: FieldUse,
    /// What is wanted.
    pub measures: Measures,
}

/// What is wanted of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Measures {
    /// Their sum.
    pub sum: bool,
    /// The least.
    pub min: bool,
    /// The greatest.
    pub max: bool,
    /// Their sum by the count of entries.
    pub average: bool,
}

/// Which terms are given, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FacetOptions {
    /// The order.
    pub sort: TermSort,
    /// Terms that are left out before the first.
    pub start: usize,
    /// How many follow.
    pub page_size: usize,
    /// Terms that come after these are named.
    pub names_remaining: bool,
}

/// The order of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermSort {
    /// By their text.
    ValueAscending,
    /// By their text, the last first.
    ValueDescending,
    /// By the count of entries, the least first.
    CountAscending,
    /// By the count of entries, the greatest first.
    CountDescending,
}

const DEFAULT: FacetOptions =
    FacetOptions { sort: TermSort::ValueAscending, start: 0, page_size: usize::MAX, names_remaining: false };

/// Whether a query counts results in place of giving them.
pub(crate) fn is_wanted(query: &Query<'_>) -> bool {
    match &query.output {
        Output::Select(Select { projection: rql::Projection::Columns(columns), .. }) => {
            columns.iter().any(|column| facet(column).is_some())
        }
        _ => false,
    }
}

/// The facets of a query; nothing if it has none.
pub(crate) fn plan(query: &Query<'_>, planner: &Planner<'_>) -> Result<Vec<FacetClause>, Refused> {
    let Output::Select(Select { is_distinct, projection: rql::Projection::Columns(columns) }) = &query.output else {
        return Ok(Vec::new());
    };
    if !is_wanted(query) {
        return Ok(Vec::new());
    }
    if !planner.is_named {
        return Err(Refused::Invalid("Facet query must be executed against static index.".to_owned()));
    }
    if *is_distinct {
        return Err(Refused::Invalid("Cannot use SELECT DISTINCT in a facet query".to_owned()));
    }
    let context = Context { alias: planner.alias, parameters: planner.parameters };
    columns.iter().map(|column| clause(column, context)).collect()
}

fn facet<'c, 'q>(column: &'c Column<'q>) -> Option<&'c Call<'q>> {
    match &column.value {
        ColumnValue::Call(call) if FACET.is(&call.name) => Some(call),
        _ => None,
    }
}

/// What names and values of a facet mean.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    /// That of the query.
    pub alias: Option<&'c str>,
    pub parameters: Parameters<'c>,
}

fn clause(column: &Column<'_>, context: Context<'_>) -> Result<FacetClause, Refused> {
    let Some(call) = facet(column) else {
        return Err(Refused::Invalid("Unsupported expression specified beside facet()".to_owned()));
    };
    let mut ids = call.arguments.iter().filter_map(|argument| match argument {
        Expression::Call(id) if ID.is(&id.name) => Some(id),
        _ => None,
    });
    let Some(id) = ids.next() else {
        return context.facet(call, column.alias.as_deref()).map(FacetClause::Facet);
    };
    if call.arguments.len() > 1 {
        let message =
            "facet() specifying a facet setup document using id() call must not have any additional arguments";
        return Err(Refused::Invalid(message.to_owned()));
    }
    let id = match id.arguments.as_slice() {
        [Expression::Value(value)] if id.alias.is_none() && id.member.is_none() => context.parameters.scalar(value)?,
        _ => Scalar::Null,
    };
    match id {
        Scalar::Text(id) => Ok(FacetClause::Setup(FacetSetup::new(id, context.parameters))),
        _ => {
            let message = "id() in facet query must have one argument which is identifier of a facet setup document";
            Err(Refused::Invalid(message.to_owned()))
        }
    }
}

impl Context<'_> {
    fn facet(&self, call: &Call<'_>, alias: Option<&str>) -> Result<Facet, Refused> {
        let mut by = FacetBy::All;
        let mut options = None;
        let mut aggregations = Vec::new();
        for (at, argument) in call.arguments.iter().enumerate() {
            match argument {
                Expression::Field(_) if at == 0 => by = FacetBy::Terms(self.field(argument)?, DEFAULT),
                // A text there is a quoted name.
                Expression::Value(Value { kind: ValueKind::Text(path), .. }) if at == 0 => {
                    by = FacetBy::Terms(named(path), DEFAULT);
                }
                Expression::Value(value) if options.is_none() => {
                    options = Some(FacetOptions::of(&Options::of(FACET.name, Some(value), self.parameters)?)?);
                }
                Expression::Call(call) => self.aggregation(call, &mut aggregations)?,
                Expression::Compare(_) | Expression::Between(_) | Expression::And(_) | Expression::Or(_) => {
                    let RangeOf { field, range } = range::of(argument, *self)?;
                    push_range(&mut by, field, range)?;
                }
                _ => {
                    let message = format!("Unsupported expression specified as an argument of facet(): {argument}");
                    return Err(Refused::Invalid(message));
                }
            }
        }
        match (&mut by, options) {
            (_, None) => {}
            (FacetBy::Terms(_, own), Some(options)) => *own = options,
            (FacetBy::Ranges(..), Some(_)) => {
                return Err(Refused::Invalid("Options are not supported in range facets.".to_owned()));
            }
            (FacetBy::All, Some(_)) => {
                return Err(Refused::Invalid("Options of facet() need a field".to_owned()));
            }
        }
        Ok(Facet { name: by.name(alias), by, aggregations })
    }

    /// `sum(field)` and its like; those of one field and name are one.
    fn aggregation(&self, call: &Call<'_>, aggregations: &mut Vec<Aggregation>) -> Result<(), Refused> {
        let Some(measures) = Measures::of(&call.name).filter(|_| call.member.is_none()) else {
            return Err(Refused::Invalid(format!("Method '{}' is not supported in a facet query", call.name)));
        };
        let [field] = call.arguments.as_slice() else {
            let (name, count) = (&call.name, call.arguments.len());
            let message =
                format!("Invalid number of arguments of {name} method in a facet query. Expected 1, got {count}");
            return Err(Refused::Invalid(message));
        };
        Aggregation::add(aggregations, self.field(field)?, call.alias.as_deref(), measures);
        Ok(())
    }

    pub fn field(&self, expression: &Expression<'_>) -> Result<FieldUse, Refused> {
        match expression {
            Expression::Field(path) => {
                let name = FieldName::without_brackets(path, self.alias)
                    .map_err(|step| Refused::NotSupported(format!("'{step}' in the name of a field of an index")))?;
                Ok(FieldUse { name, analysis: Analysis::LowerCase })
            }
            Expression::Value(Value { kind: ValueKind::Text(path), .. }) => Ok(named(path)),
            other => Err(Refused::Invalid(format!("facet() needs a field, but got {other}"))),
        }
    }
}

/// A field by its path.
pub(super) fn named(path: &str) -> FieldUse {
    FieldUse { name: FieldName { path: path.to_owned(), is_quoted: false }, analysis: Analysis::LowerCase }
}

/// Adds a range to those that are there, which must be of the same field.
pub(super) fn push_range(by: &mut FacetBy, field: FieldUse, range: FacetRange) -> Result<(), Refused> {
    match by {
        FacetBy::All => *by = FacetBy::Ranges(field, vec![range]),
        FacetBy::Ranges(other, ranges) if *other == field => ranges.push(range),
        FacetBy::Ranges(other, _) => return Err(range::of_several(other, &field)),
        FacetBy::Terms(..) => {
            return Err(Refused::Invalid("facet() counts by a field or by ranges, not by both".to_owned()));
        }
    }
    Ok(())
}

impl FacetBy {
    /// How a facet is called.
    pub(super) fn name(&self, alias: Option<&str>) -> String {
        match (alias, self) {
            (Some(alias), _) => alias.to_owned(),
            (None, FacetBy::All) => ALL_RESULTS.to_owned(),
            (None, FacetBy::Terms(field, _) | FacetBy::Ranges(field, _)) => field.name.path.clone(),
        }
    }
}

impl Aggregation {
    /// Adds what is wanted of a field to what else is wanted of it under the same name.
    pub(super) fn add(aggregations: &mut Vec<Aggregation>, field: FieldUse, alias: Option<&str>, measures: Measures) {
        let name = alias.unwrap_or(&field.name.path);
        match aggregations.iter_mut().find(|known| known.name == name && known.field == field) {
            Some(known) => known.measures = known.measures.and(measures),
            None => aggregations.push(Aggregation { name: name.to_owned(), field, measures }),
        }
    }
}

impl Measures {
    /// Nothing.
    pub(super) const NONE: Measures = Measures { sum: false, min: false, max: false, average: false };

    /// What a function computes. `None`: it is none of facets.
    fn of(function: &str) -> Option<Measures> {
        find(function).and_then(Function::measures)
    }

    fn and(self, other: Measures) -> Measures {
        Measures {
            sum: self.sum | other.sum,
            min: self.min | other.min,
            max: self.max | other.max,
            average: self.average | other.average,
        }
    }
}

impl FacetOptions {
    /// * `options`: `TermSortMode`, `Start`, `PageSize`, `IncludeRemainingTerms`.
    pub(super) fn of(options: &Options) -> Result<FacetOptions, Refused> {
        let number = |name, default: usize| {
            let number = options.number(name, default as u64)?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        };
        let sort = match options.text("TermSortMode") {
            None if options.get("TermSortMode").is_some() => {
                return Err(options.wrong("TermSortMode", "must be a text"));
            }
            None => DEFAULT.sort,
            Some(text) => {
                let modes = [
                    ("ValueAsc", TermSort::ValueAscending),
                    ("ValueDesc", TermSort::ValueDescending),
                    ("CountAsc", TermSort::CountAscending),
                    ("CountDesc", TermSort::CountDescending),
                ];
                let found = modes.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
                found.ok_or_else(|| options.wrong("TermSortMode", &format!("cannot be '{text}'")))?.1
            }
        };
        Ok(FacetOptions {
            sort,
            start: number("Start", DEFAULT.start)?,
            page_size: number("PageSize", DEFAULT.page_size)?,
            names_remaining: options.flag("IncludeRemainingTerms")?,
        })
    }
}
