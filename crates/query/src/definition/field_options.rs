//! Options of fields in definitions that users give: what is stored, and how shapes and vectors are kept.

use super::DefinitionError;
use crate::spatial::SpatialOptions;
use crate::vector::VectorOptions;
use json::Value;
use std::collections::BTreeMap;

/// Whether values of fields are kept that say so.
pub(super) fn storages(fields: Option<&Value>) -> Result<BTreeMap<String, bool>, DefinitionError> {
    let mut storages = BTreeMap::new();
    for (name, options) in fields.map(Value::members).unwrap_or_default() {
        match options.get("Storage").filter(|value| **value != Value::Null) {
            None => {}
            Some(value) => match value.as_str() {
                Some("Yes") => _ = storages.insert(name.clone(), true),
                Some("No") => _ = storages.insert(name.clone(), false),
                _ => {
                    return Err(DefinitionError::Invalid(format!("'Storage' of the field '{name}' must be Yes or No")));
                }
            },
        }
    }
    Ok(storages)
}

/// How fields keep shapes that say so.
pub(super) fn spatials(fields: Option<&Value>) -> Result<BTreeMap<String, SpatialOptions>, DefinitionError> {
    let mut spatials = BTreeMap::new();
    for (name, options) in fields.map(Value::members).unwrap_or_default() {
        if let Some(given) = options.get("Spatial").filter(|value| **value != Value::Null) {
            let options = SpatialOptions::from_json(given).map_err(|wrong| {
                DefinitionError::Invalid(format!("The option 'Spatial' of the field '{name}': {wrong}"))
            })?;
            spatials.insert(name.clone(), options);
        }
    }
    Ok(spatials)
}

/// How fields keep vectors that say so.
pub(super) fn vectors(fields: Option<&Value>) -> Result<BTreeMap<String, VectorOptions>, DefinitionError> {
    let mut vectors = BTreeMap::new();
    for (name, options) in fields.map(Value::members).unwrap_or_default() {
        let Some(given) = options.get("Vector").filter(|value| **value != Value::Null) else { continue };
        let given = VectorOptions::from_json(given).map_err(|refused| match refused {
            Ok(missing) => DefinitionError::MissingFeature(missing),
            Err(wrong) => DefinitionError::Invalid(format!("The option 'Vector' of the field '{name}': {wrong}")),
        })?;
        if options.get("Indexing").and_then(Value::as_str) == Some("No") {
            let message = format!("The field '{name}' has the option 'Vector', and its 'Indexing' is 'No'");
            return Err(DefinitionError::Invalid(message));
        }
        vectors.insert(name.clone(), given);
    }
    Ok(vectors)
}
