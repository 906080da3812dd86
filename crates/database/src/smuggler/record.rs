//! The record of a database in a dump.

use json::{Value, Writer};

use super::SmugglerOptions;

/// Writes the record of a database, as far as it can be taken over by another one.
pub(crate) fn write(json: &mut Writer<'_>, name: &str, record: &Value, options: &SmugglerOptions) {
    json.object(|json| {
        json.name("DatabaseName").string(name).name("Encrypted").bool(false);
        for (part, property, default) in PARTS {
            json.name(property);
            match record.get(property).filter(|_| options.has_record_type(part)) {
                Some(value) => value.write(json),
                None => _ = json.raw(default.as_bytes()),
            }
        }
        // RavenDB reads an array here, and no object.
        json.name("Settings").array(|_| {});
    });
}

/// The parts that can be taken over: the name in options, the property of a record, and its value where there is none.
pub(crate) const PARTS: [(&str, &str, &str); 5] = [
    ("LockMode", "LockMode", "\"Unlock\""),
    ("Client", "Client", "null"),
    ("Expiration", "Expiration", "null"),
    ("Refresh", "Refresh", "null"),
    ("DataArchival", "DataArchival", "null"),
];
