//! What is made of each document that is found: some of its values, instead of itself.

use super::grouping::Grouping;
use crate::functions::{self, Clause};
use crate::plan::{Parameters, Refused};
use crate::rql::{self, Call, Column, ColumnValue, Output, Path, Query, Segment, Select, ValueKind};
use documents::Feature;

/// Values of a document, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// In the order of the results.
    pub columns: Vec<ProjectedColumn>,
    /// Results that are equal come once.
    pub is_distinct: bool,
    /// What is missing is left out, instead of being null: so it is where the query gives documents a name.
    pub omits_missing: bool,
    /// Where values come from. Queries of requests say it, not their texts.
    pub behavior: ProjectionBehavior,
}

/// Where projected values come from, if an index stores some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProjectionBehavior {
    /// From the index what it stores, from the document what it does not.
    #[default]
    Default,
    /// From the index alone; what it does not store is left out.
    FromIndex,
    /// From the index alone; what it does not store is an error.
    FromIndexOrThrow,
    /// From the document alone.
    FromDocument,
    /// From the document alone; what it does not have is an error.
    FromDocumentOrThrow,
}

impl ProjectionBehavior {
    /// By the name that clients give it. `None`: there is none of it.
    pub fn of(name: &str) -> Option<ProjectionBehavior> {
        Some(match name {
            "Default" => ProjectionBehavior::Default,
            "FromIndex" => ProjectionBehavior::FromIndex,
            "FromIndexOrThrow" => ProjectionBehavior::FromIndexOrThrow,
            "FromDocument" => ProjectionBehavior::FromDocument,
            "FromDocumentOrThrow" => ProjectionBehavior::FromDocumentOrThrow,
            _ => return None,
        })
    }

    /// Whether documents may be asked.
    pub fn asks_documents(self) -> bool {
        !matches!(self, ProjectionBehavior::FromIndex | ProjectionBehavior::FromIndexOrThrow)
    }

    /// Whether the index may be asked.
    pub fn asks_index(self) -> bool {
        !matches!(self, ProjectionBehavior::FromDocument | ProjectionBehavior::FromDocumentOrThrow)
    }

    /// Whether a value that is nowhere is an error.
    pub fn throws(self) -> bool {
        matches!(self, ProjectionBehavior::FromIndexOrThrow | ProjectionBehavior::FromDocumentOrThrow)
    }
}

/// One value and its name in the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectedColumn {
    /// The name; no two are equal.
    pub name: String,
    /// The value.
    pub value: Projected,
}

/// A projected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projected {
    /// What an index stores under a name, or stands at a path of the document.
    Path {
        /// The path as a field of an index is named.
        field: String,
        /// The path.
        steps: Vec<PathStep>,
    },
    /// What stands at a path of the stored metadata.
    Metadata(Vec<PathStep>),
    /// An object of several values that an index stores, by their names.
    Key(Vec<String>),
    /// The document's id.
    Id,
    /// The same JSON in each result.
    Literal(Vec<u8>),
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// Into a property; of each element, if it is an array.
    Name(String),
    /// To each element of an array, with null for those that lack what follows.
    Elements,
    /// To one element of an array or character of a text, by its number from 0; of null it is null.
    Element(usize),
}

/// The name of the metadata in a path.
const METADATA: &str = "@metadata";

impl Projection {
    /// What `select` says; `None`: documents are wanted as they are.
    pub(in crate::plan) fn plan(
        query: &Query<'_>,
        grouping: Option<&Grouping<'_>>,
        parameters: Parameters<'_>,
    ) -> Result<Option<Projection>, Refused> {
        let Output::Select(Select { is_distinct, projection }) = &query.output else { return Ok(None) };
        let alias = query.from.alias.as_deref();
        let columns = match projection {
            rql::Projection::All => return Ok(None),
            // They are scripts.
            rql::Projection::Object(_) => return Ok(None),
            rql::Projection::Columns(columns) => columns,
        };
        if let [Column { value: ColumnValue::Field(path), .. }] = columns.as_slice()
            && path.rest.is_empty()
            && Some(&*path.first.text) == alias
        {
            return Ok(None);
        }
        let mut projected: Vec<ProjectedColumn> = Vec::with_capacity(columns.len());
        for column in columns {
            let column = match grouping {
                Some(grouping) => grouping.column(column)?,
                None => self::column(column, alias, parameters)?,
            };
            // `key()` beside the key itself.
            if grouping.is_some() && projected.contains(&column) {
                continue;
            }
            if projected.iter().any(|other| other.name == column.name) {
                return Err(duplicate(&column.name));
            }
            projected.push(column);
        }
        Ok(Some(Projection {
            columns: projected,
            is_distinct: *is_distinct,
            omits_missing: alias.is_some() && grouping.is_none(),
            behavior: ProjectionBehavior::Default,
        }))
    }
}

/// Two columns of one name.
pub(in crate::plan) fn duplicate(name: &str) -> Refused {
    Refused::Invalid(format!(
        "Duplicate alias '{name}' detected. Note: if an alias is not specified, the implicit alias is equal to field name"
    ))
}

fn column(column: &Column<'_>, alias: Option<&str>, parameters: Parameters<'_>) -> Result<ProjectedColumn, Refused> {
    let (value, own_name) = match &column.value {
        // In quotes it is a text, unless something follows it.
        ColumnValue::Field(path) if path.first.is_quoted && path.rest.is_empty() => {
            let text = path.first.text.to_string();
            (Projected::Literal(json::Value::String(text.clone()).to_vec()), text)
        }
        ColumnValue::Field(path) => path_of(path, alias, Brackets::Property)?,
        ColumnValue::Value(value) => {
            let name = match &value.kind {
                ValueKind::Text(text) | ValueKind::Number(text) => text.to_string(),
                ValueKind::Boolean(is_true) => is_true.to_string(),
                ValueKind::Null => "null".to_owned(),
                ValueKind::Parameter(name) => name.to_string(),
            };
            (Projected::Literal(parameters.json(value)?), name)
        }
        ColumnValue::Call(call) => (self::call(call, alias)?, "id()".to_owned()),
        ColumnValue::TimeSeries(_) => return Err(Refused::missing(Feature::TimeSeries, "timeseries() in 'select'")),
    };
    Ok(ProjectedColumn { name: column.alias.as_deref().map_or(own_name, str::to_owned), value })
}

/// What `[0]` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Brackets {
    /// A property of that name, `0`, as in the names of fields: so `select` has it in the reference.
    Property,
    /// An element of an array.
    Element,
}

/// The path, and the name that it has without another: all of it, without the query's alias.
pub(in crate::plan) fn path_of(
    path: &Path<'_>,
    alias: Option<&str>,
    brackets: Brackets,
) -> Result<(Projected, String), Refused> {
    let is_aliased = alias == Some(&*path.first.text);
    let mut steps = steps_of(path, is_aliased, brackets)?;
    let name = field_of(&steps);
    Ok(match steps.first() {
        Some(PathStep::Name(first)) if first == METADATA => (Projected::Metadata(steps.split_off(1)), name),
        _ => (Projected::Path { field: field_of(&steps), steps }, name),
    })
}

/// The steps of a path.
///
/// * `is_aliased`: whether it begins with the name of a document, which is no step.
pub(in crate::plan) fn steps_of(
    path: &Path<'_>,
    is_aliased: bool,
    brackets: Brackets,
) -> Result<Vec<PathStep>, Refused> {
    let mut steps = Vec::new();
    if !is_aliased {
        push_names(&path.first.text, &mut steps);
    }
    for segment in &path.rest {
        match segment {
            Segment::Name(name) => push_names(&name.text, &mut steps),
            Segment::Elements => steps.push(PathStep::Elements),
            Segment::Element(number) => steps.push(match brackets {
                Brackets::Property => PathStep::Name((*number).to_owned()),
                // No array has as many.
                Brackets::Element => PathStep::Element(number.parse().unwrap_or(usize::MAX)),
            }),
            Segment::Keys | Segment::Values => {
                return Err(Refused::NotSupported(format!("'{}' in 'select'", path.text())));
            }
        }
    }
    Ok(steps)
}

impl Projected {
    /// What stands at a path that is written as a text.
    pub(in crate::plan) fn of_path(path: &str) -> Projected {
        let mut steps = Vec::new();
        push_names(path, &mut steps);
        match steps.first() {
            Some(PathStep::Name(first)) if first == METADATA => Projected::Metadata(steps.split_off(1)),
            _ => Projected::Path { field: field_of(&steps), steps },
        }
    }
}

/// The name that a field of an index has which stands at a path.
fn field_of(steps: &[PathStep]) -> String {
    let mut field = String::new();
    for step in steps {
        match step {
            PathStep::Name(_) if field.is_empty() => {}
            PathStep::Name(_) => field.push('.'),
            PathStep::Elements => field.push_str("[]"),
            PathStep::Element(number) => field.push_str(&format!("[{number}]")),
        }
        if let PathStep::Name(name) = step {
            field.push_str(name);
        }
    }
    field
}

/// A quoted name may be a whole path.
fn push_names(text: &str, steps: &mut Vec<PathStep>) {
    for part in text.split('.') {
        let name = part.trim_end_matches("[]");
        steps.push(PathStep::Name(name.to_owned()));
        if name.len() < part.len() {
            steps.push(PathStep::Elements);
        }
    }
}

fn call(call: &Call<'_>, alias: Option<&str>) -> Result<Projected, Refused> {
    let name = &*call.name;
    if crate::plan::is_id_call(call, alias) {
        return Ok(Projected::Id);
    }
    match functions::find(name) {
        Some(function) if function.is_missing(Clause::Select) => Err(Refused::call(function.name, "in 'select'")),
        Some(function) if function.group_field().is_some() => {
            Err(Refused::Invalid(format!("{name} may only be used in group by queries")))
        }
        _ => Err(Refused::Invalid(format!("Unknown method call in SELECT clause: '{name}' method"))),
    }
}
