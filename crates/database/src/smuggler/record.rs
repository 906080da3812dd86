//! The record of a database in a dump.

use json::{Value, Writer};

use super::SmugglerOptions;

/// Writes the record of a database, as far as it can be taken over by another one.
pub(crate) fn write(json: &mut Writer<'_>, name: &str, record: &Value, options: &SmugglerOptions) {
    json.object(|json| {
        json.name("DatabaseName").string(name).name("Encrypted").bool(false);
        for (part, default) in PARTS {
            json.name(part);
            match record.get(part).filter(|_| options.has_record_type(part)) {
                Some(value) => value.write(json),
                None => _ = json.raw(default.as_bytes()),
            }
        }
        // RavenDB reads an array here, and no object.
        json.name("Settings").array(|_| {});
    });
}

/// The parts that can be taken over: the name in options and in the record, and the value where there is none.
const PARTS: [(&str, &str); 5] = [
    ("LockMode", "\"Unlock\""),
    ("Client", "null"),
    ("Expiration", "null"),
    ("Refresh", "null"),
    ("DataArchival", "null"),
];
