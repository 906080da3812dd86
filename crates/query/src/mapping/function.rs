//! The functions that expressions call, by an enum: a definition that calls another one is refused.

use documents::Feature;

/// A function. The receiver of a method is its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    // Of texts.
    Substring,
    IndexOf,
    LastIndexOf,
    Split,
    ToLower,
    ToUpper,
    Trim,
    TrimStart,
    TrimEnd,
    Replace,
    StartsWith,
    EndsWith,
    Contains,
    PadLeft,
    PadRight,
    Remove,
    Insert,
    ToCharArray,
    Join,
    Format,
    ConcatTexts,
    IsNullOrEmpty,
    IsNullOrWhiteSpace,
    IsDigit,
    IsLetter,
    IsLetterOrDigit,
    IsWhiteSpace,
    IsUpper,
    IsLower,
    // Of all values.
    ToString,
    Equals,
    CompareTo,
    ParseInt,
    ParseLong,
    ParseDouble,
    ParseDecimal,
    // Of numbers.
    Abs,
    Ceiling,
    Floor,
    Round,
    Truncate,
    Sign,
    Sqrt,
    Pow,
    Exp,
    Log,
    Log10,
    Min,
    Max,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    // Of dates and durations.
    NewDate,
    NewSpan,
    AddTicks,
    AddMilliseconds,
    AddSeconds,
    AddMinutes,
    AddHours,
    AddDays,
    AddMonths,
    AddYears,
    Add,
    Subtract,
    ToUniversalTime,
    DaysInMonth,
    SpanFromTicks,
    SpanFromMilliseconds,
    SpanFromSeconds,
    SpanFromMinutes,
    SpanFromHours,
    SpanFromDays,
    Duration,
    AsDateOnly,
    AsTimeOnly,
    // Of regular expressions.
    IsMatch,
    Match,
    Matches,
    ReplaceMatches,
    SplitMatches,
    // Of dictionaries.
    ContainsKey,
    // Of documents and the database.
    Id,
    MetadataFor,
    AsJson,
    LoadDocument,
    LoadDocumentUnfollowed,
    LoadCompareExchangeValue,
    AttachmentsFor,
    CounterNamesFor,
    TimeSeriesNamesFor,
    LoadAttachment,
    LoadAttachments,
    GetContentAsString,
    IfEntityIs,
    // Of what is indexed.
    CreateField,
    CreateSpatialField,
    CreateVector,
    Boost,
}

/// Whose member a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Of a value: `x.F(…)`.
    Value,
    /// Of the definition: `F(…)` or `this.F(…)`.
    Definition,
    /// Of a class.
    Class(&'static str),
}

use Owner::{Class, Definition, Value};
const TEXT: Owner = Class("string");
const MATH: Owner = Class("Math");
const REGEX: Owner = Class("Regex");
const SPAN: Owner = Class("TimeSpan");
const CHARACTER: Owner = Class("char");

/// All of them: whose, the name, how many arguments (the receiver included) at least and at most.
const FUNCTIONS: &[(Owner, &str, Function, usize, usize)] = &[
    (Value, "Substring", Function::Substring, 2, 3),
    (Value, "IndexOf", Function::IndexOf, 2, 3),
    (Value, "LastIndexOf", Function::LastIndexOf, 2, 2),
    (Value, "Split", Function::Split, 1, MANY),
    (Value, "ToLower", Function::ToLower, 1, 1),
    (Value, "ToLowerInvariant", Function::ToLower, 1, 1),
    (Value, "ToUpper", Function::ToUpper, 1, 1),
    (Value, "ToUpperInvariant", Function::ToUpper, 1, 1),
    (Value, "Trim", Function::Trim, 1, MANY),
    (Value, "TrimStart", Function::TrimStart, 1, MANY),
    (Value, "TrimEnd", Function::TrimEnd, 1, MANY),
    (Value, "Replace", Function::Replace, 3, 3),
    (Value, "StartsWith", Function::StartsWith, 2, 3),
    (Value, "EndsWith", Function::EndsWith, 2, 3),
    (Value, "Contains", Function::Contains, 2, 2),
    (Value, "PadLeft", Function::PadLeft, 2, 3),
    (Value, "PadRight", Function::PadRight, 2, 3),
    (Value, "Remove", Function::Remove, 2, 3),
    (Value, "Insert", Function::Insert, 3, 3),
    (Value, "ToCharArray", Function::ToCharArray, 1, 1),
    (Value, "ToString", Function::ToString, 1, 2),
    (Value, "Equals", Function::Equals, 2, 2),
    (Value, "CompareTo", Function::CompareTo, 2, 2),
    (Value, "ParseInt", Function::ParseInt, 1, 2),
    (Value, "ParseLong", Function::ParseLong, 1, 2),
    (Value, "ParseDouble", Function::ParseDouble, 1, 2),
    (Value, "ParseDecimal", Function::ParseDecimal, 1, 2),
    (Value, "AddTicks", Function::AddTicks, 2, 2),
    (Value, "AddMilliseconds", Function::AddMilliseconds, 2, 2),
    (Value, "AddSeconds", Function::AddSeconds, 2, 2),
    (Value, "AddMinutes", Function::AddMinutes, 2, 2),
    (Value, "AddHours", Function::AddHours, 2, 2),
    (Value, "AddDays", Function::AddDays, 2, 2),
    (Value, "AddMonths", Function::AddMonths, 2, 2),
    (Value, "AddYears", Function::AddYears, 2, 2),
    (Value, "Add", Function::Add, 2, 2),
    (Value, "Subtract", Function::Subtract, 2, 2),
    (Value, "ToUniversalTime", Function::ToUniversalTime, 1, 1),
    (Value, "Duration", Function::Duration, 1, 1),
    (Value, "ContainsKey", Function::ContainsKey, 2, 2),
    (Value, "GetContentAsString", Function::GetContentAsString, 1, 2),
    (Value, "IfEntityIs", Function::IfEntityIs, 2, MANY),
    (Value, "Boost", Function::Boost, 2, 2),
    (Definition, "Id", Function::Id, 1, 1),
    (Definition, "MetadataFor", Function::MetadataFor, 1, 1),
    (Definition, "AsJson", Function::AsJson, 1, 1),
    (Definition, "AsDocument", Function::AsJson, 1, 1),
    (Definition, "LoadDocument", Function::LoadDocument, 2, 2),
    (Class("NoTracking"), "LoadDocument", Function::LoadDocumentUnfollowed, 2, 2),
    (Definition, "LoadCompareExchangeValue", Function::LoadCompareExchangeValue, 1, 1),
    (Definition, "AttachmentsFor", Function::AttachmentsFor, 1, 1),
    (Definition, "CounterNamesFor", Function::CounterNamesFor, 1, 1),
    (Definition, "TimeSeriesNamesFor", Function::TimeSeriesNamesFor, 1, 1),
    (Definition, "LoadAttachment", Function::LoadAttachment, 2, 2),
    (Definition, "LoadAttachments", Function::LoadAttachments, 1, 1),
    (Definition, "AsDateOnly", Function::AsDateOnly, 1, 1),
    (Definition, "AsTimeOnly", Function::AsTimeOnly, 1, 1),
    (Definition, "CreateField", Function::CreateField, 2, 4),
    (Definition, "CreateSpatialField", Function::CreateSpatialField, 1, 2),
    (Definition, "CreateVector", Function::CreateVector, 1, 1),
    (TEXT, "Join", Function::Join, 2, MANY),
    (TEXT, "Format", Function::Format, 1, MANY),
    (TEXT, "Concat", Function::ConcatTexts, 1, MANY),
    (TEXT, "IsNullOrEmpty", Function::IsNullOrEmpty, 1, 1),
    (TEXT, "IsNullOrWhiteSpace", Function::IsNullOrWhiteSpace, 1, 1),
    (TEXT, "Equals", Function::Equals, 2, 2),
    (TEXT, "Compare", Function::CompareTo, 2, 2),
    (CHARACTER, "IsDigit", Function::IsDigit, 1, 1),
    (CHARACTER, "IsLetter", Function::IsLetter, 1, 1),
    (CHARACTER, "IsLetterOrDigit", Function::IsLetterOrDigit, 1, 1),
    (CHARACTER, "IsWhiteSpace", Function::IsWhiteSpace, 1, 1),
    (CHARACTER, "IsUpper", Function::IsUpper, 1, 1),
    (CHARACTER, "IsLower", Function::IsLower, 1, 1),
    (CHARACTER, "ToLower", Function::ToLower, 1, 1),
    (CHARACTER, "ToUpper", Function::ToUpper, 1, 1),
    (MATH, "Abs", Function::Abs, 1, 1),
    (MATH, "Ceiling", Function::Ceiling, 1, 1),
    (MATH, "Floor", Function::Floor, 1, 1),
    (MATH, "Round", Function::Round, 1, 2),
    (MATH, "Truncate", Function::Truncate, 1, 1),
    (MATH, "Sign", Function::Sign, 1, 1),
    (MATH, "Sqrt", Function::Sqrt, 1, 1),
    (MATH, "Pow", Function::Pow, 2, 2),
    (MATH, "Exp", Function::Exp, 1, 1),
    (MATH, "Log", Function::Log, 1, 2),
    (MATH, "Log10", Function::Log10, 1, 1),
    (MATH, "Min", Function::Min, 2, 2),
    (MATH, "Max", Function::Max, 2, 2),
    (MATH, "Sin", Function::Sin, 1, 1),
    (MATH, "Cos", Function::Cos, 1, 1),
    (MATH, "Tan", Function::Tan, 1, 1),
    (MATH, "Asin", Function::Asin, 1, 1),
    (MATH, "Acos", Function::Acos, 1, 1),
    (MATH, "Atan", Function::Atan, 1, 1),
    (MATH, "Atan2", Function::Atan2, 2, 2),
    (Class("decimal"), "Round", Function::Round, 1, 2),
    (Class("DateTime"), "DaysInMonth", Function::DaysInMonth, 2, 2),
    (Class("DateTime"), "Compare", Function::CompareTo, 2, 2),
    (SPAN, "FromTicks", Function::SpanFromTicks, 1, 1),
    (SPAN, "FromMilliseconds", Function::SpanFromMilliseconds, 1, 1),
    (SPAN, "FromSeconds", Function::SpanFromSeconds, 1, 1),
    (SPAN, "FromMinutes", Function::SpanFromMinutes, 1, 1),
    (SPAN, "FromHours", Function::SpanFromHours, 1, 1),
    (SPAN, "FromDays", Function::SpanFromDays, 1, 1),
    (REGEX, "IsMatch", Function::IsMatch, 2, 2),
    (REGEX, "Match", Function::Match, 2, 2),
    (REGEX, "Matches", Function::Matches, 2, 2),
    (REGEX, "Replace", Function::ReplaceMatches, 3, 3),
    (REGEX, "Split", Function::SplitMatches, 2, 2),
    (Class("DateTime"), "new", Function::NewDate, 1, 8),
    (Class("DateTimeOffset"), "new", Function::NewDate, 1, 8),
    (SPAN, "new", Function::NewSpan, 1, 5),
];

/// Any number of arguments.
pub(crate) const MANY: usize = usize::MAX;

/// A function that was found by its name: with how many arguments it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub function: Function,
    pub count_min: usize,
    pub count_max: usize,
}

impl Function {
    /// The function of this owner with this name.
    pub fn find(owner: Owner, name: &str) -> Option<Signature> {
        let found = FUNCTIONS.iter().find(|(whose, known, ..)| *whose == owner && *known == name)?;
        let (_, _, function, count_min, count_max) = *found;
        Some(Signature { function, count_min, count_max })
    }

    /// The class with this name, if it has functions.
    pub fn class(name: &str) -> Option<Owner> {
        let name = match name {
            "String" => "string",
            "Decimal" => "decimal",
            "Char" => "char",
            name => name,
        };
        let mut owners = FUNCTIONS.iter().map(|(owner, ..)| *owner);
        owners.find(|owner| matches!(owner, Class(class) if *class == name))
    }

    /// The missing feature that it reads from.
    pub fn missing_feature(self) -> Option<Feature> {
        match self {
            Function::TimeSeriesNamesFor => Some(Feature::TimeSeries),
            _ => None,
        }
    }

    /// Its name, as errors call it.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, _, function, ..)| *function == self).map_or("", |(_, name, ..)| name)
    }
}
