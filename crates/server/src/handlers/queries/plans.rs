//! The operators of an explained query as JSON.

use std::time::Duration;

use query::execute::Operator;

/// Writes `{"Operator","Field","Argument","Estimate","Rows","Microseconds","Children"}`, and `Omitted` if any are. The depth of the
/// recursion is that of the query's text, which is bounded.
pub(super) fn write(operator: &Operator, json: &mut json::Writer<'_>) {
    let count = |json: &mut json::Writer<'_>, name: &str, count: Option<u64>| match count {
        Some(count) => _ = json.name(name).unsigned(count),
        None => _ = json.name(name).null(),
    };
    json.object(|json| {
        json.name("Operator").string(operator.name);
        if let Some(field) = &operator.field {
            json.name("Field").string(field);
        }
        if let Some(argument) = &operator.argument {
            json.name("Argument").string(argument);
        }
        count(json, "Estimate", operator.estimate);
        count(json, "Rows", operator.rows);
        json.name("Microseconds").unsigned(microseconds(operator.time));
        json.name("Children").array(|json| operator.children.iter().for_each(|child| write(child, json)));
        if operator.omitted_count > 0 {
            json.name("Omitted").unsigned(operator.omitted_count as u64);
        }
    });
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
