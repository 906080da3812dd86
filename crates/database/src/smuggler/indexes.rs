//! Definitions of indexes in a dump.
//!
//! Defined indexes stand there as their clients gave them. Automatic ones have a form of their own, with numbers for enumerations.

use json::{Kind, Raw, Value, Writer};
use query::analysis::CustomAnalyzers;
use query::definition::{
    ALL_DOCUMENTS, AutomaticIndex, COUNT, DefinitionError, Field, FieldName, FieldNeeds, GroupedBy, IndexDefinition,
    IndexSettings, LockMode, MapIndex, Priority, SettingsOf, check_index_name,
};

use super::SmugglerOptions;
use crate::indexes::wire::{automatic_indexing, write_places, write_vectors};
use crate::limits::{DUMPED_FIELD_NAME_SIZE_MAX, DUMPED_FIELDS_MAX};
use crate::{Database, Error, Index};

/// The version of automatic indexes that RavenDB 7.1 writes. It builds those of other versions anew.
const AUTOMATIC_VERSION: u64 = 62_006;

/// Why an index of a dump is not taken over.
#[derive(Debug)]
pub(crate) enum DefinitionRefused {
    /// It is not acceptable, or needs what is not there.
    Definition(String),
    /// The database failed.
    Failed(Error),
}

impl From<Error> for DefinitionRefused {
    fn from(error: Error) -> DefinitionRefused {
        match error {
            Error::IndexLocked { .. } | Error::IndexOutput { .. } | Error::TooManyIndexes { .. } => {
                DefinitionRefused::Definition(error.to_string())
            }
            error => DefinitionRefused::Failed(error),
        }
    }
}

impl From<DefinitionError> for DefinitionRefused {
    fn from(error: DefinitionError) -> DefinitionRefused {
        DefinitionRefused::Definition(match error {
            DefinitionError::NotSupported(form) => format!("{form} is not supported"),
            error => error.to_string(),
        })
    }
}

/// Appends all definitions, in an order that is always the same.
pub(super) fn write_all(out: &mut Vec<u8>, database: &Database) {
    let all = database.indexes().all();
    let mut indexes: Vec<_> = all.iter().collect();
    indexes.sort_by_key(|index| index.definition().name());
    indexes.iter().for_each(|index| write(&mut Writer::new(out), index, &SmugglerOptions::default()));
}

/// Whether a dump has an index. One with measures is made again by the query that needs it, and RavenDB would take them for sums.
pub(crate) fn is_exported(definition: &IndexDefinition) -> bool {
    definition.as_automatic().is_none_or(|definition| !definition.has_measures())
}

/// Writes an index as an element of `Indexes`.
pub(crate) fn write(json: &mut Writer<'_>, index: &Index, options: &SmugglerOptions) {
    json.object(|json| {
        json.name("Type").string(index.wire_type());
        json.name("IndexDefinition").object(|json| match index.definition() {
            IndexDefinition::Map(map) => write_defined(json, index, map, options),
            IndexDefinition::Automatic(automatic) => write_automatic(json, index, automatic),
        });
    });
}

fn write_defined(json: &mut Writer<'_>, index: &Index, map: &MapIndex, options: &SmugglerOptions) {
    let settings = index.settings();
    json.name("Name").string(map.name()).name("SourceType").string(index.definition().source_type());
    json.name("Type").string(index.wire_type()).name("LockMode").string(settings.lock_mode.name());
    json.name("Priority").string(settings.priority.name());
    json.name("State").string(if settings.is_disabled { "Disabled" } else { "Normal" });
    let own = ["Name", "SourceType", "Type", "LockMode", "Priority", "State", "ReduceOutputIndex", "Etag"];
    for (name, value) in map.given().members().iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        json.name(name);
        match name.as_str() {
            "Fields" if options.removes_analyzers => without_analyzers(value).write(json),
            _ => value.write(json),
        }
    }
}

/// The options of fields without their analyzers.
fn without_analyzers(fields: &Value) -> Value {
    let mut fields = fields.clone();
    if let Value::Object(members) = &mut fields {
        members.iter_mut().for_each(|(_, options)| _ = options.remove("Analyzer"));
    }
    fields
}

fn write_automatic(json: &mut Writer<'_>, index: &Index, definition: &AutomaticIndex) {
    let is_grouped = !definition.group_by().is_empty();
    let settings = index.settings();
    let lock_mode = match settings.lock_mode {
        LockMode::Unlock => 0,
        LockMode::LockedIgnore => 1,
        LockMode::LockedError => 2,
    };
    let priority = match settings.priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        Priority::High => 2,
    };
    json.name("Name").string(&index.definition().name()).name("Version").unsigned(AUTOMATIC_VERSION);
    json.name("Collections").array(|json| _ = json.string(definition.source()));
    json.name("LockMode").unsigned(lock_mode).name("Priority").unsigned(priority);
    json.name("State").unsigned(settings.is_disabled.into());
    json.name("ArchivedDataProcessingBehavior").null();
    let key_of = |field: &Field| definition.group_by().iter().find(|key| key.path == field.name.path);
    json.name("MapFields").array(|json| {
        for field in definition.fields().iter().filter(|field| key_of(field).is_none()) {
            let aggregation = match (is_grouped, field.name.path == COUNT) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            };
            json.object(|json| {
                json.name("Name").string(&field.name.path).name("Indexing").string(&automatic_indexing(field));
                json.name("Aggregation").unsigned(aggregation);
                write_places(json.name("Spatial"), field);
                write_vectors(json.name("Vector"), field);
                json.name("HasSuggestions").bool(field.needs.is_suggested);
                json.name("HasQuotedName").bool(field.name.is_quoted);
            });
        }
    });
    if !is_grouped {
        return;
    }
    json.name("GroupByFields").array(|json| {
        for field in definition.fields() {
            let Some(key) = key_of(field) else { continue };
            let of_elements = if key.path.contains("[]") { "ByIndividualValues" } else { "NotApplicable" };
            json.object(|json| {
                json.name("Name").string(&key.path).name("Indexing").string(&automatic_indexing(field));
                json.name("GroupByArrayBehavior").string(if key.is_array { "ByContent" } else { of_elements });
                json.name("HasQuotedName").bool(field.name.is_quoted);
            });
        }
    });
    json.name("GroupByFieldNames").array(|json| {
        definition.group_by().iter().for_each(|key| _ = json.string(&key.path));
    });
}

/// Takes over an element of `Indexes`; gives the name of the index, as far as it has one, and what became of it.
pub(crate) fn put(
    database: &Database,
    element: Raw<'_>,
    options: &SmugglerOptions,
    analyzers: &CustomAnalyzers,
) -> (String, Result<(), DefinitionRefused>) {
    let definition = element.get("IndexDefinition").filter(|definition| definition.kind() == Kind::Object);
    let Some(definition) = definition else {
        return (String::new(), Err(DefinitionRefused::Definition("there is no object 'IndexDefinition'".to_owned())));
    };
    let name = definition.get("Name").and_then(Raw::as_str).unwrap_or_default().chars().take(200).collect();
    let is_automatic = is_automatic(element);
    let put = match Value::parse(definition.bytes()) {
        Err(error) => Err(DefinitionRefused::Definition(error.to_string())),
        Ok(definition) if is_automatic => put_automatic(database, &definition),
        Ok(definition) => put_defined(database, definition, options, analyzers),
    };
    (name, put)
}

/// The definition of an element of `Indexes` that is an automatic index.
pub(super) fn automatic_in(element: Raw<'_>) -> Option<Value> {
    let definition = element.get("IndexDefinition").filter(|_| is_automatic(element))?;
    Value::parse(definition.bytes()).ok()
}

/// Makes an automatic index that [`put`] took over, if another one that answered for it is gone.
///
/// # Errors
///
/// Storage fails.
pub(super) fn ensure_again(database: &Database, definition: &Value) -> crate::Result<()> {
    match put_automatic(database, definition) {
        // It was refused before, and that is reported.
        Ok(()) | Err(DefinitionRefused::Definition(_)) => Ok(()),
        Err(DefinitionRefused::Failed(error)) => Err(error),
    }
}

fn is_automatic(element: Raw<'_>) -> bool {
    element.get("Type").and_then(Raw::as_str).is_some_and(|kind| kind.starts_with("Auto"))
}

fn put_defined(
    database: &Database,
    mut given: Value,
    options: &SmugglerOptions,
    analyzers: &CustomAnalyzers,
) -> Result<(), DefinitionRefused> {
    if options.removes_analyzers
        && let Some(fields) = given.get("Fields").map(without_analyzers)
    {
        given.set("Fields", fields);
    }
    // What an index came to elsewhere it need not come to here.
    if given.get("State").and_then(Value::as_str).is_some_and(|state| state != "Disabled") {
        given.remove("State");
    }
    let definition = MapIndex::with_analyzers(&given, &analyzers.over(&database.analyzers()))?;
    check_index_name(definition.name())?;
    if let Some(Value::Object(settings)) = given.get("Configuration") {
        for (name, value) in settings {
            SettingsOf::Index.check(name, value).map_err(|refused| {
                DefinitionRefused::Definition(format!("the setting '{name}' is not accepted: {refused:?}"))
            })?;
        }
    }
    Ok(database.indexes().put(definition, IndexSettings::from_json(&given)?)?)
}

fn put_automatic(database: &Database, given: &Value) -> Result<(), DefinitionRefused> {
    let definition = automatic_of(given).map_err(|rule| DefinitionRefused::Definition(rule.to_owned()))?;
    // Its documents may still be on their way, or be in another dump.
    database.indexes().ensure_automatic(&definition, database.query_settings().automatic_indexes())?;
    Ok(())
}

/// Reads the definition of an automatic index.
fn automatic_of(given: &Value) -> Result<AutomaticIndex, &'static str> {
    let Some(Value::Array(collections)) = given.get("Collections") else { return Err("'Collections' is no array") };
    let [Value::String(collection)] = &collections[..] else { return Err("'Collections' has not one name") };
    let collection = Some(collection.clone()).filter(|name| !name.eq_ignore_ascii_case(ALL_DOCUMENTS));
    let (mut fields, mut group_by) = (Vec::new(), Vec::new());
    for field in elements(given, "MapFields")? {
        fields.push(field_of(field)?);
    }
    for key in elements(given, "GroupByFields")? {
        let field = field_of(key)?;
        let is_array = key.get("GroupByArrayBehavior").and_then(Value::as_str) == Some("ByContent");
        group_by.push(GroupedBy { path: field.name.path.clone(), is_array });
        fields.push(field);
    }
    if fields.len() > DUMPED_FIELDS_MAX {
        return Err("it has more fields than the limit DUMPED_FIELDS_MAX");
    }
    Ok(AutomaticIndex::grouped(collection, group_by, fields))
}

fn elements<'v>(given: &'v Value, name: &str) -> Result<&'v [Value], &'static str> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(elements)) => Ok(elements),
        Some(_) => Err("its fields are no array"),
    }
}

fn field_of(given: &Value) -> Result<Field, &'static str> {
    let path =
        given.get("Name").and_then(Value::as_str).filter(|path| !path.is_empty()).ok_or("a field has no 'Name'")?;
    if path.len() > DUMPED_FIELD_NAME_SIZE_MAX {
        return Err("the name of a field is longer than the limit DUMPED_FIELD_NAME_SIZE_MAX");
    }
    let flag = |name| given.get(name).and_then(Value::as_bool) == Some(true);
    let has = |name| given.get(name).is_some_and(|value| *value != Value::Null);
    let indexing = given.get("Indexing").and_then(Value::as_str).unwrap_or_default();
    let is_indexed = |name| indexing.split(',').any(|kind| kind.trim() == name);
    let is_highlighted = is_indexed("Highlighting");
    let needs = FieldNeeds {
        is_exact: is_indexed("Exact"),
        is_searched: is_indexed("Search") || is_highlighted,
        is_suggested: flag("HasSuggestions"),
        is_highlighted,
        is_spatial: has("Spatial"),
        is_vector: has("Vector"),
    };
    Ok(Field { name: FieldName { path: path.to_owned(), is_quoted: flag("HasQuotedName") }, needs })
}
