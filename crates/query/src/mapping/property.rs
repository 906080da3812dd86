//! Members that values have which are no objects: the length of a text, the year of a date.

/// Such a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Length,
    Count,
    HasValue,
    Value,
    Key,
    Date,
    TimeOfDay,
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    DayOfWeek,
    DayOfYear,
    Kind,
    Ticks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
    TotalDays,
    TotalHours,
    TotalMinutes,
    TotalSeconds,
    TotalMilliseconds,
    Offset,
    DateTime,
    UtcDateTime,
    LocalDateTime,
}

/// All of them, with their names.
const NAMES: &[(&str, Property)] = &[
    ("Length", Property::Length),
    ("Count", Property::Count),
    ("HasValue", Property::HasValue),
    ("Value", Property::Value),
    ("Key", Property::Key),
    ("Date", Property::Date),
    ("TimeOfDay", Property::TimeOfDay),
    ("Year", Property::Year),
    ("Month", Property::Month),
    ("Day", Property::Day),
    ("Hour", Property::Hour),
    ("Minute", Property::Minute),
    ("Second", Property::Second),
    ("Millisecond", Property::Millisecond),
    ("DayOfWeek", Property::DayOfWeek),
    ("DayOfYear", Property::DayOfYear),
    ("Kind", Property::Kind),
    ("Ticks", Property::Ticks),
    ("Days", Property::Days),
    ("Hours", Property::Hours),
    ("Minutes", Property::Minutes),
    ("Seconds", Property::Seconds),
    ("Milliseconds", Property::Milliseconds),
    ("TotalDays", Property::TotalDays),
    ("TotalHours", Property::TotalHours),
    ("TotalMinutes", Property::TotalMinutes),
    ("TotalSeconds", Property::TotalSeconds),
    ("TotalMilliseconds", Property::TotalMilliseconds),
    ("Offset", Property::Offset),
    ("DateTime", Property::DateTime),
    ("UtcDateTime", Property::UtcDateTime),
    ("LocalDateTime", Property::LocalDateTime),
];

impl Property {
    /// The member with this name.
    pub fn of(name: &str) -> Option<Property> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, property)| *property)
    }
}
