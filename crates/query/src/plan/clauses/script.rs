//! What a query says in JavaScript: `update`, `select { .. }`, `select f(x)`, with `declare function` and `load`.

use documents::Feature;
use std::collections::HashSet;
use std::sync::Arc;

use crate::functions::{CMPXCHG, COUNTER, COUNTER_RAW, GET_METADATA, ID};
use crate::plan::{Parameters, ProjectionBehavior, Refused};
use crate::rql::{self, Call, Column, ColumnValue, Expression, Language, Output, Path, Query, Segment, ValueKind};

/// A script of a query, with what it may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptClause {
    /// The declared functions, as JavaScript.
    pub declarations: String,
    /// The name of the document that is found.
    pub alias: Option<String>,
    /// Documents that are loaded for it.
    pub loads: Vec<Load>,
    /// What is done.
    pub form: ScriptForm,
    /// The query's parameters: a JSON object.
    pub values: Arc<Vec<u8>>,
    /// Results that are equal come once.
    pub is_distinct: bool,
    /// Whether what an index stores is read in place of the document's own. Queries of requests say it, not their texts.
    pub behavior: ProjectionBehavior,
}

/// What a script does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptForm {
    /// Statements that change the document.
    Update(String),
    /// An expression that gives an object.
    Object(String),
    /// The same, made of columns: what is missing is left out.
    Columns {
        /// The expression.
        text: String,
        /// The columns that are fields of the document: their names, and those of the fields.
        fields: Vec<(String, String)>,
    },
    /// A call of a declared function, which gives an object or an array of them.
    Call(String),
    /// A call that gives the metadata of a document, which is the whole result, and no projection.
    Metadata(String),
}

/// Documents that are loaded for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The name that they have.
    pub alias: String,
    /// Where their ids are.
    pub ids: LoadIds,
    /// Whether there are several, in an array.
    pub is_array: bool,
}

/// Where ids of documents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadIds {
    /// At a path of the document.
    Path(String),
    /// At a path of documents that a load before this one found.
    Loaded {
        /// The name that those have.
        alias: String,
        /// The path.
        path: String,
    },
    /// In the query.
    Given(Vec<String>),
}

impl Load {
    /// The clause `load` of a query.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub(in crate::plan) fn plan(query: &Query<'_>, parameters: Parameters<'_>) -> Result<Vec<Load>, Refused> {
        let alias = query.from.alias.as_deref();
        let before = |at: usize| query.load.get(..at).unwrap_or_default();
        query.load.iter().enumerate().map(|(at, load)| self::load(load, before(at), alias, parameters)).collect()
    }
}

impl ScriptClause {
    /// The clause `update`, or a projection that has to be run; `None`: there is neither.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub(in crate::plan) fn plan(
        query: &Query<'_>,
        parameters: Parameters<'_>,
    ) -> Result<Option<ScriptClause>, Refused> {
        // A counter is of the document, which the script must be able to name.
        let alias = query.from.alias.as_deref().or(has_counters(query).then_some(RESULT));
        let names = Names { alias, query };
        let (form, is_distinct) = match &query.output {
            Output::Update(script) => (ScriptForm::Update(inside(script.text).to_owned()), false),
            Output::Documents => return no_output(query),
            Output::Select(select) => match &select.projection {
                rql::Projection::All => return no_output(query),
                rql::Projection::Object(script) => {
                    if alias.is_none() {
                        return Err(Refused::Invalid(
                            "Use of select function body requires that aliases will be defined, but none had"
                                .to_owned(),
                        ));
                    }
                    (ScriptForm::Object(script.text.to_owned()), select.is_distinct)
                }
                rql::Projection::Columns(columns) => match names.columns(columns)? {
                    Some(form) => (form, select.is_distinct),
                    None => return no_output(query),
                },
            },
        };
        let declarations = declarations(query)?;
        let loads = Load::plan(query, parameters)?;
        check_names(alias, &loads)?;
        Ok(Some(ScriptClause {
            declarations,
            alias: alias.map(str::to_owned),
            loads,
            form,
            values: Arc::new(parameters.all()),
            is_distinct,
            behavior: ProjectionBehavior::Default,
        }))
    }

    /// A call of a declared function in `filter`, whose result is the condition.
    ///
    /// * `values`: the query's parameters.
    /// * `loads`: the documents that the query loads.
    ///
    /// # Errors
    ///
    /// [`Refused`]
    pub(in crate::plan) fn call(
        query: &Query<'_>,
        call: &Call<'_>,
        values: Arc<Vec<u8>>,
        loads: &[Load],
    ) -> Result<ScriptClause, Refused> {
        let alias = query.from.alias.as_deref().unwrap_or(RESULT);
        let names = Names { alias: Some(alias), query };
        let loads = if names.are_loaded_in(call) { loads } else { &[] };
        check_names(Some(alias), loads)?;
        Ok(ScriptClause {
            declarations: declarations(query)?,
            alias: Some(alias.to_owned()),
            loads: loads.to_vec(),
            form: ScriptForm::Call(names.call(call)?),
            values,
            is_distinct: false,
            behavior: ProjectionBehavior::Default,
        })
    }

    /// The script itself.
    pub fn text(&self) -> &str {
        let (ScriptForm::Update(text)
        | ScriptForm::Object(text)
        | ScriptForm::Columns { text, .. }
        | ScriptForm::Call(text)
        | ScriptForm::Metadata(text)) = &self.form;
        text
    }
}

/// Whether columns are counters.
fn has_counters(query: &Query<'_>) -> bool {
    let Output::Select(select) = &query.output else { return false };
    let rql::Projection::Columns(columns) = &select.projection else { return false };
    let mut columns = columns.iter();
    columns
        .any(|column| matches!(&column.value, ColumnValue::Call(call) if is_of_counter(call) && !query.declares(call)))
}

fn is_of_counter(call: &Call<'_>) -> bool {
    COUNTER.is(&call.name) || COUNTER_RAW.is(&call.name)
}

/// The name of a result in calls of `filter`, and beside counters, where the query gives it none.
const RESULT: &str = "__result";

/// The declared functions, as JavaScript.
fn declarations(query: &Query<'_>) -> Result<String, Refused> {
    let mut declarations = String::new();
    for function in &query.functions {
        if function.language != Language::JavaScript {
            return Err(Refused::missing(Feature::TimeSeries, "'declare timeseries'"));
        }
        let [name, body] = [function.name, function.body.text];
        declarations.push_str(&format!("function {name}({}) {body}\n", function.parameters.join(",")));
    }
    Ok(declarations)
}

/// Where nothing is run, what is declared and loaded has nobody to use it; the reference allows that.
fn no_output(query: &Query<'_>) -> Result<Option<ScriptClause>, Refused> {
    match query.functions.iter().find(|function| function.language != Language::JavaScript) {
        Some(_) => Err(Refused::missing(Feature::TimeSeries, "'declare timeseries'")),
        None => Ok(None),
    }
}

/// A script without its braces.
fn inside(text: &str) -> &str {
    text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text)
}

/// Refuses names of documents that are none in JavaScript.
fn check_names(alias: Option<&str>, loads: &[Load]) -> Result<(), Refused> {
    for name in alias.into_iter().chain(loads.iter().map(|load| load.alias.as_str())) {
        if !script::is_name(name) {
            return Err(Refused::Invalid(format!("'{name}' is no name for a document in a script")));
        }
    }
    Ok(())
}

/// * `before`: the loads that stand before it.
fn load(
    load: &rql::Load<'_>,
    before: &[rql::Load<'_>],
    alias: Option<&str>,
    parameters: Parameters<'_>,
) -> Result<Load, Refused> {
    let ids = match &load.ids {
        Expression::Field(path) if path.first.is_quoted && path.rest.is_empty() => {
            LoadIds::Given(vec![path.first.text.to_string()])
        }
        Expression::Field(path) if !path.first.is_quoted && before.iter().any(|load| load.alias == path.first.text) => {
            let path_in_it = crate::plan::without_alias(path, Some(&path.first.text));
            LoadIds::Loaded { alias: path.first.text.to_string(), path: path_in_it }
        }
        Expression::Field(path) => LoadIds::Path(crate::plan::without_alias(path, alias)),
        Expression::Value(value) => LoadIds::Given(parameters.texts(value)?),
        _ => return Err(Refused::Invalid("'load' needs a path to ids of documents".to_owned())),
    };
    Ok(Load { alias: load.alias.to_string(), ids, is_array: load.is_array })
}

struct Names<'n, 'q> {
    alias: Option<&'n str>,
    query: &'n Query<'q>,
}

impl Names<'_, '_> {
    /// Columns as JavaScript; `None`: none of them has to be run.
    fn columns(&self, columns: &[Column<'_>]) -> Result<Option<ScriptForm>, Refused> {
        let is_run = columns.iter().any(|column| match &column.value {
            ColumnValue::Call(call) => {
                self.query.declares(call) || self.is_of_metadata(call) || is_of_counter(call) || self.is_of_value(call)
            }
            ColumnValue::Field(path) => self.is_loaded(path),
            ColumnValue::Value(_) | ColumnValue::TimeSeries(_) => false,
        });
        if !is_run {
            return Ok(None);
        }
        match columns {
            [Column { value: ColumnValue::Call(call), alias: None }]
                if self.query.declares(call) || !(is_of_counter(call) || self.is_of_value(call)) =>
            {
                let text = self.call(call)?;
                let is_metadata = self.is_of_metadata(call) && call.member.is_none();
                return Ok(Some(if is_metadata { ScriptForm::Metadata(text) } else { ScriptForm::Call(text) }));
            }
            // The loaded document is the result.
            [Column { value: ColumnValue::Field(path), alias: None }] if path.rest.is_empty() => {
                return Ok(Some(ScriptForm::Call(self.path(path)?)));
            }
            _ => {}
        }
        let (mut text, mut fields) = ("{".to_owned(), Vec::new());
        let mut names = HashSet::new();
        for column in columns {
            let (value, own_name) = match &column.value {
                ColumnValue::Call(call) if is_of_counter(call) && !self.query.declares(call) => self.counter(call)?,
                ColumnValue::Call(call) => (self.call(call)?, call.name.to_string()),
                ColumnValue::Field(path) => (self.path(path)?, last_name(path)),
                ColumnValue::Value(value) => (self.expression(&Expression::Value(value.clone()))?, String::new()),
                ColumnValue::TimeSeries(_) => {
                    return Err(Refused::missing(Feature::TimeSeries, "timeseries() in 'select'"));
                }
            };
            let name = column.alias.as_deref().unwrap_or(&own_name);
            if !names.insert(name.to_owned()) {
                return Err(super::projection::duplicate(name));
            }
            if let ColumnValue::Field(path) = &column.value
                && let Some(field) = self.field(path)
            {
                fields.push((name.to_owned(), field.to_owned()));
            }
            text.push_str(&format!("{}:{value},", quoted(name)));
        }
        text.push('}');
        Ok(Some(ScriptForm::Columns { text, fields }))
    }

    /// Whether a call is `getMetadata()`, unless a function of that name is declared.
    fn is_of_metadata(&self, call: &Call<'_>) -> bool {
        call.name == GET_METADATA.name && !self.query.declares(call)
    }

    /// Whether a call is `cmpxchg()`, unless a function of that name is declared.
    fn is_of_value(&self, call: &Call<'_>) -> bool {
        CMPXCHG.is(&call.name) && !self.query.declares(call)
    }

    fn is_loaded(&self, path: &Path<'_>) -> bool {
        !path.first.is_quoted && self.query.load.iter().any(|load| load.alias == path.first.text)
    }

    /// Whether a call names loaded documents. The depth of the recursion is that of the call, which the parser bounds.
    fn are_loaded_in(&self, call: &Call<'_>) -> bool {
        call.arguments.iter().any(|argument| match argument {
            Expression::Field(path) => self.is_loaded(path),
            Expression::Call(call) => self.are_loaded_in(call),
            _ => false,
        })
    }

    /// `counter([alias,] name)` as JavaScript, and the name of the counter. A document that is not there has none.
    fn counter(&self, call: &Call<'_>) -> Result<(String, String), Refused> {
        let wrong =
            || Refused::Invalid(format!("{}() needs the name of a counter, and perhaps an alias before it", call.name));
        let (document, name) = match call.arguments.as_slice() {
            [name] => (self.alias.map(str::to_owned), name),
            [Expression::Field(path), name] => (Some(self.path(path)?), name),
            _ => return Err(wrong()),
        };
        let document = document.ok_or_else(wrong)?;
        let (name, own_name) = match name {
            Expression::Field(path) => {
                let name = last_name(path);
                (quoted(&name), name)
            }
            Expression::Value(value) => match &value.kind {
                ValueKind::Text(text) => (quoted(text), text.to_string()),
                ValueKind::Parameter(name) => (format!("${name}"), name.to_string()),
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        let (function, nothing) =
            if COUNTER.is(&call.name) { (COUNTER.name, "null") } else { (COUNTER_RAW.name, "{}") };
        Ok((format!("({document}==null?{nothing}:{function}({document},{name}))"), own_name))
    }

    fn call(&self, call: &Call<'_>) -> Result<String, Refused> {
        let is_metadata = self.is_of_metadata(call);
        if is_metadata && call.arguments.len() != 1 {
            return Err(Refused::Invalid("getMetadata(doc) must be called with a single entity argument".to_owned()));
        }
        let is_value = self.is_of_value(call);
        if !self.query.declares(call) && !is_metadata && !is_value && !ID.is(&call.name) {
            return Err(Refused::call(&call.name, "beside functions that are declared"));
        }
        let arguments =
            call.arguments.iter().map(|argument| self.expression(argument)).collect::<Result<Vec<_>, _>>()?;
        let arguments = match (arguments.is_empty(), self.alias) {
            (true, Some(alias)) if !self.query.declares(call) && !is_value => alias.to_owned(),
            _ => arguments.join(","),
        };
        let name = match is_metadata {
            true => GET_METADATA.name,
            false if is_value => CMPXCHG.name,
            false if self.query.declares(call) => &*call.name,
            false => ID.name,
        };
        Ok(match &call.member {
            None => format!("{name}({arguments})"),
            Some(member) => format!("{name}({arguments}).{}", self.path(member)?),
        })
    }

    fn expression(&self, expression: &Expression<'_>) -> Result<String, Refused> {
        match expression {
            Expression::Field(path) => self.path(path),
            Expression::Call(call) => self.call(call),
            Expression::Value(value) => Ok(match &value.kind {
                ValueKind::Text(text) => quoted(text),
                ValueKind::Number(text) => text.to_string(),
                ValueKind::Boolean(is_true) => is_true.to_string(),
                ValueKind::Null => "null".to_owned(),
                ValueKind::Parameter(name) => format!("${name}"),
            }),
            _ => Err(Refused::Invalid("A condition is no argument of a function in 'select'".to_owned())),
        }
    }

    /// The field of the document that a path is; `None`: it goes on, or begins elsewhere.
    fn field<'p>(&self, path: &'p Path<'_>) -> Option<&'p str> {
        match path.rest.as_slice() {
            [Segment::Name(name)] if Some(&*path.first.text) == self.alias => Some(&name.text),
            [] if Some(&*path.first.text) != self.alias && !self.is_loaded(path) => Some(&path.first.text),
            _ => None,
        }
    }

    /// A path that begins with no alias begins with the document.
    fn path(&self, path: &Path<'_>) -> Result<String, Refused> {
        let is_named = Some(&*path.first.text) == self.alias || self.is_loaded(path);
        let mut text = match (is_named, self.alias) {
            (true, _) => path.first.text.to_string(),
            (false, Some(alias)) => format!("{alias}?.[{}]", quoted(&path.first.text)),
            (false, None) => return Err(Refused::Invalid(format!("'{}' needs an alias before it", path.text()))),
        };
        for segment in &path.rest {
            match segment {
                Segment::Name(name) => text.push_str(&format!("?.[{}]", quoted(&name.text))),
                Segment::Element(number) => text.push_str(&format!("?.[{number}]")),
                Segment::Elements | Segment::Keys | Segment::Values => {
                    return Err(Refused::NotSupported(format!("'{}' beside functions", path.text())));
                }
            }
        }
        Ok(text)
    }
}

fn last_name(path: &Path<'_>) -> String {
    let last = path.rest.iter().rev().find_map(|segment| match segment {
        Segment::Name(name) => Some(name.text.to_string()),
        _ => None,
    });
    last.unwrap_or_else(|| path.first.text.to_string())
}

/// A text as a literal of JavaScript, which JSON's are.
fn quoted(text: &str) -> String {
    String::from_utf8_lossy(&json::Value::from(text).to_vec()).into_owned()
}
