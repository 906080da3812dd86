//! A syntax tree as RQL: one line for each clause, keywords in lower case, no more quotes and parentheses than needed.
//! Scripts come out as they went in, comments are gone.
//!
//! What is printed is parsed to an equal tree, unless escapes and blanks made it longer than a query may be.

use super::ast::{
    Column, ColumnValue, From, Function, GroupKey, Language, Limit, Load, Nulls, OrderKey, Ordering, Output,
    Projection, Query, Select, Source,
};
use super::expression::{Between, Call, Comparison, Expression, In, Name, Path, Segment, Value, ValueKind};
use super::text::write_quoted;
use super::words::{is_plain_function, is_plain_name, is_word};
use std::fmt::{Display, Formatter, Result};

impl Display for Query<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.is_explained { "explain\n" } else { "" })?;
        for function in &self.functions {
            writeln!(f, "{function}")?;
        }
        write!(f, "{}", self.from)?;
        write_clause(f, "group by", &self.group_by)?;
        write_clause(f, "where", self.condition.as_slice())?;
        write_clause(f, "order by", &self.order_by)?;
        write_clause(f, "load", &self.load)?;
        write_clause(f, "filter", self.filter.as_slice())?;
        match &self.output {
            Output::Documents => {}
            Output::Select(select) => write!(f, "\nselect {select}")?,
            Output::Update(script) => write!(f, "\nupdate {}", script.text)?,
        }
        write_clause(f, "include", &self.include)?;
        write!(f, "{}", self.limit)?;
        write_clause(f, "filter_limit", self.filter_limit.as_slice())
    }
}

/// Items apart by commas on a line of their own; nothing if there are none.
fn write_clause(f: &mut Formatter<'_>, keyword: &str, items: &[impl Display]) -> Result {
    if items.is_empty() {
        return Ok(());
    }
    write!(f, "\n{keyword} ")?;
    write_list(f, items)
}

fn write_list(f: &mut Formatter<'_>, items: &[impl Display]) -> Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// A name that stands alone: a collection, an index, an alias.
fn write_name(f: &mut Formatter<'_>, name: &str) -> Result {
    if is_plain_name(name) { f.write_str(name) } else { write_quoted(f, name) }
}

fn write_alias(f: &mut Formatter<'_>, alias: Option<&str>) -> Result {
    let Some(alias) = alias else { return Ok(()) };
    f.write_str(" as ")?;
    write_name(f, alias)
}

impl Display for Function<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let language = match self.language {
            Language::JavaScript => "function",
            Language::TimeSeries => "timeseries",
        };
        write!(f, "declare {language} {}({}) {}", self.name, self.parameters.join(", "), self.body.text)
    }
}

impl Display for From<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("from ")?;
        match &self.source {
            Source::AllDocuments => f.write_str("@all_docs")?,
            Source::Collection(name) => write_name(f, name)?,
            Source::Index(name) => {
                f.write_str("index ")?;
                write_quoted(f, name)?;
            }
        }
        if self.is_of_revisions {
            f.write_str(" (Revisions = true)")?;
        }
        write_alias(f, self.alias.as_deref())
    }
}

impl Display for GroupKey<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.key)?;
        write_alias(f, self.alias.as_deref())
    }
}

impl Display for OrderKey<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.key)?;
        if let Some((name, _)) = Ordering::NAMES.iter().find(|(_, ordering)| Some(*ordering) == self.ordering) {
            write!(f, " as {name}")?;
        }
        if self.is_descending {
            f.write_str(" desc")?;
        }
        match self.nulls {
            None => Ok(()),
            Some(Nulls::First) => f.write_str(" nulls first"),
            Some(Nulls::Last) => f.write_str(" nulls last"),
        }
    }
}

impl Display for Load<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.ids)?;
        write_alias(f, Some(&self.alias))?;
        f.write_str(if self.is_array { "[]" } else { "" })
    }
}

impl Display for Select<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.is_distinct {
            f.write_str("distinct ")?;
        }
        match &self.projection {
            Projection::All => f.write_str("*"),
            Projection::Columns(columns) => write_list(f, columns),
            Projection::Object(script) => f.write_str(script.text),
        }
    }
}

impl Display for Column<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.value {
            ColumnValue::Field(path) => write!(f, "{path}")?,
            ColumnValue::Value(value) => write!(f, "{value}")?,
            ColumnValue::Call(call) => write!(f, "{call}")?,
            ColumnValue::TimeSeries(script) => write!(f, "timeseries{}", script.text)?,
        }
        write_alias(f, self.alias.as_deref())
    }
}

impl Display for Limit<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match (&self.skip, &self.take) {
            (None, None) => Ok(()),
            (None, Some(take)) => write!(f, "\nlimit {take}"),
            (Some(skip), None) => write!(f, "\noffset {skip}"),
            (Some(skip), Some(take)) => write!(f, "\nlimit {take} offset {skip}"),
        }
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Expression::Field(path) => write!(f, "{path}"),
            Expression::Value(value) => write!(f, "{value}"),
            Expression::Call(call) => write!(f, "{call}"),
            Expression::Compare(comparison) => write!(f, "{comparison}"),
            Expression::Between(between) => write!(f, "{between}"),
            Expression::In(choice) => write!(f, "{choice}"),
            Expression::Not(operand) => {
                f.write_str("not ")?;
                write_operand(f, operand, false)
            }
            // `and` comes before `or`. A group of the same kind is kept one, as it was written.
            Expression::And(operands) => write_operands(f, " and ", operands, false),
            Expression::Or(operands) => write_operands(f, " or ", operands, true),
        }
    }
}

fn write_operands(f: &mut Formatter<'_>, between: &str, operands: &[Expression<'_>], is_and_plain: bool) -> Result {
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        write_operand(f, operand, is_and_plain)?;
    }
    Ok(())
}

/// An operand of `and`, `or` and `not`, in parentheses where it must be: no deeper than it was written.
fn write_operand(f: &mut Formatter<'_>, operand: &Expression<'_>, is_and_plain: bool) -> Result {
    let is_grouped = match operand {
        Expression::And(_) => !is_and_plain,
        Expression::Or(_) => true,
        _ => false,
    };
    if is_grouped { write!(f, "({operand})") } else { write!(f, "{operand}") }
}

impl Display for Comparison<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {}", self.left, self.operator.sign(), self.right)
    }
}

impl Display for Between<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} between {} and {}", self.operand, self.low, self.high)
    }
}

impl Display for In<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}in (", self.operand, if self.is_all { "all " } else { "" })?;
        write_list(f, &self.values)?;
        f.write_str(")")
    }
}

impl Display for Call<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut parts = self.name.split('.');
        if parts.next().is_some_and(is_plain_function) && parts.all(is_word) {
            f.write_str(&self.name)?;
        } else {
            write_quoted(f, &self.name)?;
        }
        f.write_str("(")?;
        write_list(f, &self.arguments)?;
        f.write_str(")")?;
        if let Some(member) = &self.member {
            write!(f, ".{member}")?;
        }
        write_alias(f, self.alias.as_deref())
    }
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.first)?;
        for segment in &self.rest {
            match segment {
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Elements => f.write_str("[]")?,
                Segment::Element(number) => write!(f, "[{number}]")?,
                Segment::Keys => f.write_str(".$Keys")?,
                Segment::Values => f.write_str(".$Values")?,
            }
        }
        Ok(())
    }
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.is_quoted { write_quoted(f, &self.text) } else { f.write_str(&self.text) }
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ValueKind::Text(text) => write_quoted(f, text),
            ValueKind::Number(number) => f.write_str(number),
            ValueKind::Boolean(value) => write!(f, "{value}"),
            ValueKind::Null => f.write_str("null"),
            ValueKind::Parameter(name) => write!(f, "${name}"),
        }
    }
}
