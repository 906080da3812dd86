//! Names of classes, and their members that are no calls: `DateTime.MinValue`, `string.Empty`, `FieldStorage.Yes`.

use super::super::date::{DateKind, DateTime, TimeSpan};
use super::super::expression::{Constant, Expression};
use super::Compiler;
use super::syntax::{Result, Syntax};
use rust_decimal::Decimal;

/// Enumerations whose members are texts here.
const ENUMERATIONS: &[&str] =
    &["FieldStorage", "FieldIndexing", "FieldTermVector", "StringComparison", "DayOfWeek", "DateTimeKind"];

/// Classes with functions or members.
const CLASSES: &[&str] = &[
    "string",
    "String",
    "Math",
    "Regex",
    "DateTime",
    "DateTimeOffset",
    "TimeSpan",
    "Convert",
    "Enumerable",
    "DynamicEnumerable",
    "NoTracking",
    "char",
    "Char",
    "bool",
    "Boolean",
    "byte",
    "Byte",
    "short",
    "Int16",
    "int",
    "Int32",
    "long",
    "Int64",
    "float",
    "Single",
    "double",
    "Double",
    "decimal",
    "Decimal",
    "StringSplitOptions",
    "Guid",
    "Enum",
    "Environment",
];

impl Compiler {
    /// The class that this names, without the namespaces before it.
    pub(super) fn class(&self, syntax: Syntax<'_>) -> Option<String> {
        let syntax = syntax.bare();
        let source: String = match syntax.kind() {
            "predefined_type" | "identifier" => syntax.source().to_owned(),
            "member_access_expression" | "qualified_name" => {
                syntax.source().chars().filter(|c| !c.is_whitespace()).collect()
            }
            _ => return None,
        };
        let name = match source.rsplit_once('.') {
            Some((namespace, name))
                if namespace == "System" || namespace.starts_with("System.") || namespace == "this" =>
            {
                name
            }
            Some(_) => return None,
            None => &source,
        };
        let is_known = CLASSES.contains(&name) || ENUMERATIONS.contains(&name);
        (is_known && self.bound(name).is_none()).then(|| name.to_owned())
    }

    /// `Class.Member`
    pub(super) fn static_member(&self, class: &str, name: Syntax<'_>) -> Result<Expression> {
        let unspecified = |ticks| Constant::Date(DateTime { ticks, kind: DateKind::Unspecified });
        let constant = match (class, name.name()) {
            ("DateTime" | "DateTimeOffset", member @ ("Now" | "UtcNow" | "Today")) => {
                return Err(name.error(format!(
                    "Cannot use {class}.{member} during a map or reduce phase.\nThe map or reduce functions must be \
                     referentially transparent, that is, for the same set of values, they always return the same results.\n\
                     Using {class}.{member} invalidate that premise, and is not allowed"
                )));
            }
            ("DateTime" | "DateTimeOffset", "MinValue") => unspecified(0),
            ("DateTime" | "DateTimeOffset", "MaxValue") => unspecified(3_155_378_975_999_999_999),
            ("TimeSpan", "Zero") => Constant::Span(TimeSpan(0)),
            ("TimeSpan", "MinValue") => Constant::Span(TimeSpan(i64::MIN)),
            ("TimeSpan", "MaxValue") => Constant::Span(TimeSpan(i64::MAX)),
            ("string" | "String", "Empty") => Constant::Text("".into()),
            ("Math", "PI") => Constant::Double(std::f64::consts::PI),
            ("Math", "E") => Constant::Double(std::f64::consts::E),
            ("short" | "Int16", "MaxValue") => Constant::Long(i16::MAX.into()),
            ("short" | "Int16", "MinValue") => Constant::Long(i16::MIN.into()),
            ("int" | "Int32", "MaxValue") => Constant::Long(i32::MAX.into()),
            ("int" | "Int32", "MinValue") => Constant::Long(i32::MIN.into()),
            ("long" | "Int64", "MaxValue") => Constant::Long(i64::MAX),
            ("long" | "Int64", "MinValue") => Constant::Long(i64::MIN),
            ("double" | "Double", "MaxValue") => Constant::Double(f64::MAX),
            ("double" | "Double", "MinValue") => Constant::Double(f64::MIN),
            ("double" | "Double", "NaN") => Constant::Double(f64::NAN),
            ("double" | "Double", "PositiveInfinity") => Constant::Double(f64::INFINITY),
            ("double" | "Double", "NegativeInfinity") => Constant::Double(f64::NEG_INFINITY),
            ("decimal" | "Decimal", "MaxValue") => Constant::Decimal(Decimal::MAX),
            ("decimal" | "Decimal", "MinValue") => Constant::Decimal(Decimal::MIN),
            ("decimal" | "Decimal", "Zero") => Constant::Decimal(Decimal::ZERO),
            ("decimal" | "Decimal", "One") => Constant::Decimal(Decimal::ONE),
            // Beside separators of texts it has to be told from them.
            ("StringSplitOptions", member @ ("None" | "RemoveEmptyEntries")) => {
                Constant::Text(format!("StringSplitOptions.{member}").into())
            }
            (class, member) if ENUMERATIONS.contains(&class) => Constant::Text(member.into()),
            (class, member) => return Err(name.error(format!("'{class}.{member}' is not supported"))),
        };
        Ok(Expression::Constant(constant))
    }

    /// `typeof(T).Name`
    pub(super) fn member_of_type(&self, of: Syntax<'_>, name: Syntax<'_>) -> Result<Expression> {
        let of = of.part("type")?;
        let full: String = of.source().chars().filter(|c| !c.is_whitespace()).collect();
        let text = match (name.name(), of.kind()) {
            ("Name", "identifier" | "qualified_name") => full.rsplit('.').next().unwrap_or_default().to_owned(),
            ("Name", "predefined_type") => predefined(&full).to_owned(),
            ("FullName", "qualified_name") => full,
            ("FullName", "predefined_type") => format!("System.{}", predefined(&full)),
            _ => return Err(name.error(format!("'typeof({full}).{}' is not supported", name.name()))),
        };
        Ok(Expression::Constant(Constant::Text(text.into())))
    }
}

fn predefined(keyword: &str) -> &str {
    match keyword {
        "bool" => "Boolean",
        "byte" => "Byte",
        "char" => "Char",
        "decimal" => "Decimal",
        "double" => "Double",
        "float" => "Single",
        "int" => "Int32",
        "long" => "Int64",
        "object" => "Object",
        "sbyte" => "SByte",
        "short" => "Int16",
        "string" => "String",
        "uint" => "UInt32",
        "ulong" => "UInt64",
        "ushort" => "UInt16",
        other => other,
    }
}
