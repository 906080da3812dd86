//! Types as they are written, as far as they change values.

use super::super::expression::{Conversion, Type};
use super::syntax::Syntax;

/// The last part of a type's name, without type arguments, `?` and what it is part of.
pub(super) fn short_name(of: Syntax<'_>) -> &str {
    let of = match of.kind() {
        "nullable_type" | "array_type" => of.field("type").unwrap_or(of),
        _ => of,
    };
    match of.kind() {
        "qualified_name" => of.field("name").map_or("", Syntax::name),
        _ => of.name(),
    }
}

/// The type with this name, if values are changed into it.
pub(super) fn named(name: &str) -> Option<Type> {
    Some(match name {
        "bool" | "Boolean" => Type::Bool,
        "sbyte" | "SByte" => Type::Whole(i8::MIN as i64, i8::MAX as i64),
        "byte" | "Byte" => Type::Whole(0, u8::MAX as i64),
        "short" | "Int16" => Type::Whole(i16::MIN as i64, i16::MAX as i64),
        "ushort" | "UInt16" => Type::Whole(0, u16::MAX as i64),
        "int" | "Int32" => Type::INT,
        "uint" | "UInt32" => Type::Whole(0, u32::MAX as i64),
        // Above 2^63 there are no whole numbers here.
        "ulong" | "UInt64" => Type::Whole(0, i64::MAX),
        "long" | "Int64" => Type::LONG,
        "float" | "Single" => Type::Float,
        "double" | "Double" => Type::Double,
        "decimal" | "Decimal" => Type::Decimal,
        "string" | "String" => Type::Text,
        "DateTime" | "DateTimeOffset" => Type::Date,
        "TimeSpan" => Type::Span,
        _ => return None,
    })
}

/// What a cast to this type does, if it does anything.
pub(super) fn conversion(of: Syntax<'_>) -> Option<Conversion> {
    if of.kind() == "array_type" {
        return None;
    }
    let is_nullable = of.kind() == "nullable_type";
    named(short_name(of)).map(|to| Conversion { to, is_nullable, parses: false })
}

/// Whether every value is of this type: `object`, `dynamic`, and those of sequences, which say nothing that is not seen.
pub(super) fn is_any(of: Syntax<'_>) -> bool {
    let name = short_name(of);
    of.kind() == "array_type"
        || matches!(
            name,
            "object" | "Object" | "dynamic" | "IEnumerable" | "IList" | "ICollection" | "List" | "DynamicArray"
        )
}
