//! Indexes that users define: maps and a reduce, in C# or JavaScript, and how fields are analysed.

use super::analyses::Analyses;
use super::archived::{self, ArchivedDocuments};
use super::configuration::setting_text;
use super::field_options::{spatials, storages, vectors};
use super::output::{self, Output};
use super::scoring::Bm25;
use super::{ALL_DOCUMENTS, Analysis, DefinitionError, Field, FieldName, FieldUse, Fields, IndexSource, MarkedText};
use crate::analysis::CustomAnalyzers;
use crate::mapping::{CompileError, Map, Reduce, ScriptRefused, Source};
use crate::spatial::SpatialOptions;
use crate::vector::VectorOptions;
use documents::{Feature, ItemKind};
use json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An index that a user defined. What it says that Rookery cannot do yet was refused when it was read.
#[derive(Debug)]
pub struct MapIndex {
    name: String,
    /// As the client gave it.
    given: Value,
    maps: Vec<Map>,
    reduce: Option<Arc<Reduce>>,
    /// How fields are analysed that say so; `None`: their values are not indexed.
    analyses: BTreeMap<String, Option<Analysis>>,
    /// Whether values of fields are kept that say so.
    storages: BTreeMap<String, bool>,
    /// How fields keep shapes that say so.
    spatials: BTreeMap<String, SpatialOptions>,
    /// How fields keep vectors that say so.
    vectors: BTreeMap<String, VectorOptions>,
    /// Whether its results become documents.
    output: Option<Output>,
    archived: ArchivedDocuments,
    /// What is missing is indexed as null.
    missing_is_null: bool,
    /// What has none of the fields is indexed.
    indexes_empty: bool,
    bm25: Option<Bm25>,
    /// The custom analyzers that its fields name, as they were when it was compiled.
    analyzers: CustomAnalyzers,
    /// Why a field has no analyzer, in a definition that is kept all the same.
    lacks_analyzer: Option<DefinitionError>,
}

/// The options of all fields that have none of their own.
const ALL_FIELDS: &str = "__all_fields";

/// Properties that have to be absent, with the feature that they need.
const MISSING: [(&str, Feature); 2] =
    [("AdditionalAssemblies", Feature::CsharpSources), ("CompoundFields", Feature::CompoundFields)];

/// Properties that may have the values that say nothing; others need a feature.
const ONLY: [(&str, &[&str], Feature); 2] = [
    ("DeploymentMode", &["Parallel"], Feature::IndexDeployment),
    ("SourceType", &["Documents", "Counters", "None"], Feature::IndexSources),
];

impl MapIndex {
    /// Reads a definition as clients send it, and compiles its maps. Its fields name no custom analyzers.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`]
    pub fn from_json(given: &Value) -> Result<MapIndex, DefinitionError> {
        MapIndex::with_analyzers(given, &CustomAnalyzers::default())
    }

    /// Reads a definition as clients send it, and compiles its maps.
    ///
    /// * `analyzers`: the custom analyzers that its fields may name.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`]
    pub fn with_analyzers(given: &Value, analyzers: &CustomAnalyzers) -> Result<MapIndex, DefinitionError> {
        let index = MapIndex::without_some_analyzers(given, analyzers)?;
        index.lacks_analyzer.clone().map_or(Ok(index), Err)
    }

    /// The same, except that an analyzer may be missing: [`MapIndex::lacks_analyzer`]. An index of it cannot be filled.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`]
    pub fn without_some_analyzers(given: &Value, analyzers: &CustomAnalyzers) -> Result<MapIndex, DefinitionError> {
        let invalid = |message: &str| DefinitionError::Invalid(message.to_owned());
        let name = given.get("Name").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        if name.is_empty() {
            return Err(invalid("Index name cannot be empty"));
        }
        let lower = name.to_lowercase();
        if ["auto/", "replacementof/"].iter().any(|reserved| lower.starts_with(reserved)) {
            return Err(DefinitionError::Invalid(format!("The index name '{name}' is reserved")));
        }
        refuse_missing(given)?;
        let Some(Value::Array(texts)) = given.get("Maps") else {
            return Err(invalid("Index must have at least one map"));
        };
        let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
        let texts = texts.ok_or_else(|| invalid("'Maps' must be an array of texts"))?;
        if texts.is_empty() {
            return Err(invalid("Index must have at least one map"));
        }
        let is_script = texts.iter().any(|text| !is_csharp(text));
        let sources = sources(given.get("AdditionalSources"), is_script)?;
        let maps = texts.iter().map(|text| compile(&name, text, &sources)).collect::<Result<Vec<Map>, _>>()?;
        if maps.iter().any(|map| map.source().is_of_counters() != maps[0].source().is_of_counters()) {
            return Err(invalid("Index definition cannot contain Maps with different source types."));
        }
        let is_given_as_counters = given.get("SourceType").and_then(Value::as_str) == Some("Counters");
        if is_given_as_counters && !maps[0].source().is_of_counters() {
            return Err(invalid("'SourceType' is Counters, but the maps are over documents"));
        }
        let names = |map: &Map| {
            let mut names = map.output_fields().to_vec();
            names.sort();
            names
        };
        // Those in JavaScript may differ, as in the reference.
        if !is_script && maps.iter().any(|map| names(map) != names(&maps[0])) {
            return Err(DefinitionError::Invalid(format!("Map functions of index '{name}' return different fields")));
        }
        let reduce = match given.get("Reduce").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
            None => None,
            Some(text) if is_script => Some(Arc::new(
                Reduce::compile_script(text, &sources)
                    .map_err(|refused| refused_script(&name, "Reduce", text, refused))?,
            )),
            Some(text) => Some(Arc::new(compile_reduce(&name, text, &maps)?)),
        };
        let setting = |key| given.get("Configuration").and_then(|settings| settings.get(key)).and_then(setting_text);
        let is_on = |key| setting(key).is_some_and(|on| on.eq_ignore_ascii_case("true"));
        let missing_is_null = is_on("Indexing.IndexMissingFieldsAsNull");
        let indexes_empty = missing_is_null || is_on("Indexing.IndexEmptyEntries");
        let bm25 = Bm25::of(given).map_err(DefinitionError::Invalid)?;
        if bm25.is_some() && (reduce.is_some() || maps.iter().any(Map::boosts)) {
            let form = "'Indexing.FullText.Scoring' = Bm25 in an index with a reduce or with Boost()";
            return Err(DefinitionError::NotSupported(form.to_owned()));
        }
        let fields = given.get("Fields");
        let Analyses { by_field: analyses, analyzers, lacks: lacks_analyzer } = Analyses::of(&name, fields, analyzers)?;
        let (storages, spatials) = (storages(fields)?, spatials(fields)?);
        let reduces_spatial =
            |reduce: &Arc<Reduce>| reduce.makes_spatial_fields() || maps.iter().any(Map::makes_spatial_fields);
        if reduce.as_ref().is_some_and(reduces_spatial) {
            return Err(DefinitionError::NotSupported("'CreateSpatialField' in an index with a reduce".to_owned()));
        }
        if reduce.is_some() && maps.iter().any(Map::makes_vectors) {
            return Err(DefinitionError::NotSupported("'CreateVector' in an index with a reduce".to_owned()));
        }
        let vectors = vectors(fields)?;
        let output = Output::of(given, reduce.as_deref())?;
        let archived = ArchivedDocuments::of(given).map_err(DefinitionError::Invalid)?;
        let given = given.clone();
        Ok(MapIndex {
            analyses,
            storages,
            spatials,
            vectors,
            name,
            given,
            maps,
            reduce,
            output,
            archived,
            missing_is_null,
            indexes_empty,
            bm25,
            analyzers,
            lacks_analyzer,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definition as the client gave it.
    pub fn given(&self) -> &Value {
        &self.given
    }

    /// The custom analyzers that its fields name.
    pub fn analyzers(&self) -> &CustomAnalyzers {
        &self.analyzers
    }

    /// Why a field has no analyzer.
    pub fn lacks_analyzer(&self) -> Option<&DefinitionError> {
        self.lacks_analyzer.as_ref()
    }

    /// Its maps.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// Whether its maps are over counters.
    pub fn is_of_counters(&self) -> bool {
        self.maps.iter().any(|map| map.source().is_of_counters())
    }

    /// Its reduce, if what is mapped is grouped.
    pub fn reduce(&self) -> Option<&Arc<Reduce>> {
        self.reduce.as_ref()
    }

    /// Which documents it takes.
    pub fn archived(&self) -> ArchivedDocuments {
        self.archived
    }

    /// Where its results become documents.
    pub fn output(&self) -> Option<&Output> {
        self.output.as_ref()
    }

    /// Whether what is missing is indexed as null.
    pub fn missing_is_null(&self) -> bool {
        self.missing_is_null
    }

    /// Whether what has none of the fields is indexed.
    pub fn indexes_empty(&self) -> bool {
        self.indexes_empty
    }

    /// How a field is analysed; `None`: its values are not indexed.
    pub fn analysis(&self, field: &str) -> Option<Analysis> {
        let own = self.analyses.get(field).or_else(|| self.analyses.get(ALL_FIELDS));
        own.cloned().unwrap_or(Some(Analysis::LowerCase))
    }

    /// Whether the values of a field are kept as they are, for projections.
    pub fn stores(&self, field: &str) -> bool {
        self.storages.get(field).or_else(|| self.storages.get(ALL_FIELDS)).copied().unwrap_or(false)
    }

    /// Whether entries may keep values of a field: it is one of them, or has options, and is stored, or maps name fields as they run.
    pub fn may_store(&self, field: &str) -> bool {
        self.maps.iter().any(Map::makes_fields) || (self.stores(field) && self.has_field(field))
    }

    /// How a field keeps shapes, as its definition says.
    pub fn spatial_options(&self, field: &str) -> Option<SpatialOptions> {
        self.spatials.get(field).or_else(|| self.spatials.get(ALL_FIELDS)).copied()
    }

    /// How a field keeps vectors.
    pub fn vector_options(&self, field: &str) -> VectorOptions {
        self.vectors.get(field).or_else(|| self.vectors.get(ALL_FIELDS)).copied().unwrap_or_default()
    }

    /// Whether its maps make vectors.
    pub fn makes_vectors(&self) -> bool {
        self.maps.iter().any(Map::makes_vectors)
    }

    fn option(&self, field: &str, key: &str) -> Option<&Value> {
        let fields = self.given.get("Fields")?;
        fields.get(field).or_else(|| fields.get(ALL_FIELDS))?.get(key)
    }

    /// Whether words of a field may be suggested.
    pub fn suggests(&self, field: &str) -> bool {
        self.option(field, "Suggestions").and_then(Value::as_bool) == Some(true)
    }

    /// Whether entries may be compared by the words of a field.
    fn has_vector(&self, field: &str) -> bool {
        let vector = self.option(field, "TermVector").and_then(Value::as_str);
        self.stores(field) || vector.is_some_and(|vector| vector != "No")
    }

    /// What it reads: collections, each once, or all documents; then collections that its maps load from, each once; then compare-exchange
    /// values, if its maps load some.
    pub fn sources(&self) -> Vec<IndexSource> {
        let mut mapped: Vec<String> = Vec::new();
        let mut reads_all = false;
        let is_of_counters = self.is_of_counters();
        for map in &self.maps {
            match map.source() {
                Source::AllDocuments => reads_all = true,
                Source::Collections(names) => names.iter().for_each(|name| add_once(&mut mapped, name)),
                Source::Counters { collection: Some(name), .. } => add_once(&mut mapped, name),
                Source::Counters { collection: None, .. } => reads_all = true,
            }
        }
        let mut referenced: Vec<String> = Vec::new();
        for name in self.maps.iter().flat_map(Map::referenced_collections) {
            add_once(&mut referenced, name);
        }
        let mapped = if reads_all { vec![None] } else { mapped.into_iter().map(Some).collect() };
        if referenced.iter().any(|name| documents::id::is_same(name, ALL_DOCUMENTS)) {
            referenced = vec![ALL_DOCUMENTS.to_owned()];
        }
        let of_referenced = |name: String| IndexSource {
            kind: ItemKind::Document,
            collection: (name != ALL_DOCUMENTS).then_some(name),
            is_referenced: true,
        };
        let values = IndexSource { kind: ItemKind::CompareExchange, collection: None, is_referenced: true };
        let values = self.maps.iter().any(|map| map.reads_compare_exchange()).then_some(values);
        let referenced = referenced.into_iter().map(of_referenced);
        let kind = if is_of_counters { ItemKind::Counter } else { ItemKind::Document };
        let mapped = mapped.into_iter().map(|collection| IndexSource { kind, ..IndexSource::of(collection) });
        mapped.chain(referenced).chain(values).collect()
    }

    /// The name of a field that it lacks, as errors say it.
    pub fn missing(&self, needed: &Field) -> Option<String> {
        let path = needed.name.path.as_str();
        if self.has_field(path) { None } else { Some(path.to_owned()) }
    }

    /// True if it decides the names of some fields when it runs.
    pub fn makes_fields(&self) -> bool {
        match &self.reduce {
            Some(reduce) => reduce.makes_fields(),
            None => self.maps.iter().any(|map| map.makes_fields()),
        }
    }

    /// Whether entries may have a field of that name.
    fn has_field(&self, path: &str) -> bool {
        let has = |names: &[Box<str>]| names.iter().any(|name| &**name == path);
        // Fields that are made are known only when it runs.
        let is_there = match &self.reduce {
            Some(reduce) => reduce.makes_fields() || has(reduce.output_fields()),
            None => self.maps.iter().any(|map| map.makes_fields() || has(map.output_fields())),
        };
        // No entry has it, but options say how it would be analysed: a field, as with the reference.
        let has_options =
            || self.given.get("Fields").is_some_and(|fields| path != ALL_FIELDS && fields.get(path).is_some());
        is_there || has_options()
    }

    /// Whether a definition asks for the same: what it does not say counts as what is said by default.
    pub fn is_same(&self, other: &Value) -> bool {
        let said = |value: Option<&Value>| match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(members)) if members.is_empty() => None,
            Some(Value::Array(elements)) if elements.is_empty() => None,
            Some(value) => Some(value.clone()),
        };
        ["Maps", "Reduce", "AdditionalSources", "Fields", "Configuration", archived::PROPERTY]
            .iter()
            .chain(&output::PROPERTIES)
            .all(|key| said(self.given.get(key)) == said(other.get(key)))
    }

    /// Whether any of its maps is JavaScript.
    pub fn is_script(&self) -> bool {
        let maps = self.given.get("Maps");
        matches!(maps, Some(Value::Array(texts)) if texts.iter().filter_map(Value::as_str).any(|text| !is_csharp(text)))
    }
}

impl Fields for MapIndex {
    fn resolve(&self, field: &FieldUse) -> (String, Analysis) {
        let own = self.analysis(&field.name.path).unwrap_or(Analysis::LowerCase);
        let analysis = match (&field.analysis, own) {
            (Analysis::Exact, _) => Analysis::Exact,
            // What is compared with a field in words is one of them, not cut itself.
            (Analysis::LowerCase, Analysis::Words(_)) => Analysis::LowerCase,
            (_, own) => own,
        };
        (field.name.path.clone(), analysis)
    }

    fn marked_text(&self, field: &FieldName) -> Option<MarkedText> {
        let vector = self.option(&field.path, "TermVector").and_then(Value::as_str);
        let is_kept = self.stores(&field.path) && vector == Some("WithPositionsAndOffsets");
        is_kept.then_some(MarkedText::Stored)
    }

    fn boosts(&self) -> bool {
        self.maps.iter().any(Map::boosts)
    }

    fn bm25(&self) -> Option<Bm25> {
        self.bm25
    }

    fn spatial(&self, field: &FieldUse) -> SpatialOptions {
        self.spatial_options(&field.name.path).unwrap_or_default()
    }

    fn vector(&self, field: &FieldUse) -> VectorOptions {
        self.vector_options(&field.name.path)
    }

    fn compared(&self) -> Vec<(String, Analysis)> {
        let names = self.maps.first().map(Map::output_fields).unwrap_or_default();
        // Of a field in words each entry keeps how often it has which; it need not be stored.
        let is_in_words = |name: &str| matches!(self.analysis(name), Some(Analysis::Words(_)));
        let names = names.iter().filter(|name| self.has_vector(name) || is_in_words(name));
        names.filter_map(|name| Some((name.to_string(), self.analysis(name)?))).collect()
    }
}

fn add_once(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| documents::id::is_same(known, name)) {
        names.push(name.to_owned());
    }
}

fn refuse_missing(given: &Value) -> Result<(), DefinitionError> {
    let missing = |key: &str, feature: Feature| Err(feature.missing_for(format!("'{key}' of an index")).into());
    for (key, feature) in MISSING {
        let is_absent = match given.get(key) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(elements)) => elements.is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            Some(_) => false,
        };
        if !is_absent {
            return missing(key, feature);
        }
    }
    for (key, allowed, feature) in ONLY {
        match given.get(key) {
            None | Some(Value::Null) => {}
            Some(value) if value.as_str().is_some_and(|value| allowed.contains(&value)) => {}
            Some(_) => return missing(key, feature),
        }
    }
    Ok(())
}

/// The texts of the added sources, which are JavaScript where the maps are.
fn sources(given: Option<&Value>, is_script: bool) -> Result<String, DefinitionError> {
    let given = given.map(Value::members).unwrap_or_default();
    if !is_script && !given.is_empty() {
        return Err(Feature::CsharpSources.missing_for("'AdditionalSources' in C# of an index").into());
    }
    let mut text = String::new();
    for (name, source) in given {
        let source = source.as_str();
        let source =
            source.ok_or_else(|| DefinitionError::Invalid(format!("The added source '{name}' must be text")))?;
        text.push_str(source);
        text.push('\n');
    }
    Ok(text)
}

fn compile(index: &str, text: &str, sources: &str) -> Result<Map, DefinitionError> {
    let map = if is_csharp(text) {
        Map::compile(text).map_err(|error| wrong(index, "Maps", text, error))?
    } else {
        Map::compile_script(text, sources).map_err(|refused| refused_script(index, "Maps", text, refused))?
    };
    match map.missing() {
        Some(missing) => Err(missing.clone().into()),
        None => Ok(map),
    }
}

fn wrong(index: &str, property: &'static str, text: &str, error: CompileError) -> DefinitionError {
    match error.feature {
        Some(missing) => DefinitionError::MissingFeature(*missing),
        None => DefinitionError::Compile { index: index.to_owned(), property, text: text.to_owned(), error },
    }
}

fn refused_script(index: &str, property: &'static str, text: &str, refused: ScriptRefused) -> DefinitionError {
    match refused {
        ScriptRefused::Wrong(error) => wrong(index, property, text, error),
        ScriptRefused::NotSupported(form) => DefinitionError::NotSupported(form),
        ScriptRefused::MissingFeature(missing) => DefinitionError::MissingFeature(missing),
    }
}

fn compile_reduce(index: &str, text: &str, maps: &[Map]) -> Result<Reduce, DefinitionError> {
    let reduce = Reduce::compile(text).map_err(|error| wrong(index, "Reduce", text, error))?;
    if maps.iter().any(Map::makes_fields) {
        return Err(DefinitionError::NotSupported("'CreateField' in an index with a reduce".to_owned()));
    }
    match maps.iter().find(|map| !reduce.fits(map)) {
        None => Ok(reduce),
        Some(map) => Err(DefinitionError::Mismatch {
            index: index.to_owned(),
            map: map.output_fields().join(", "),
            reduce: reduce.output_fields().join(", "),
        }),
    }
}

/// Maps in C# begin with one of these words, once comments are left out; others are JavaScript.
fn is_csharp(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(line), _) => line.split_once('\n').map_or("", |(_, rest)| rest),
            (_, Some(comment)) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            _ => break,
        };
        rest = after.trim_start();
    }
    let start: String = rest.chars().take(16).flat_map(char::to_lowercase).collect();
    ["from", "docs", "timeseries", "counters"].iter().any(|word| start.starts_with(word))
        && !["timeseries.map", "counters.map"].iter().any(|word| start.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analyzer, CustomAnalyzer};

    fn read(text: &str) -> Result<MapIndex, DefinitionError> {
        MapIndex::from_json(&Value::parse(text.as_bytes()).unwrap())
    }

    const MAP: &str = r#""Maps":["from u in docs.Users select new { u.Name, A = u.Age }"]"#;

    #[test]
    fn a_definition_says_its_sources_and_fields() {
        let index = read(&format!(
            r#"{{"Name":"X",{MAP},"Fields":{{"Name":{{"Indexing":"Exact"}},"A":{{"Indexing":"No","Storage":"No"}}}},"LockMode":null}}"#
        ))
        .unwrap();
        assert_eq!(index.sources(), [IndexSource::of(Some("Users".to_owned()))]);
        assert_eq!((index.analysis("Name"), index.analysis("A")), (Some(Analysis::Exact), None));
        assert_eq!(index.analysis("Other"), Some(Analysis::LowerCase));
        assert!(!index.stores("A") && !index.stores("Name"));
        let all =
            read(r#"{"Name":"X","Maps":["docs.Users.Select(x => new { x.A })","from d in docs select new { d.A }"]}"#);
        assert_eq!(all.unwrap().sources(), [IndexSource::of(None)]);
        let loads = r#"{"Name":"X","Maps":["from u in docs.Us select new { A = LoadDocument(u.B, \"Bs\").C, B = LoadDocument(u.C, \"BS\").D }"]}"#;
        let loaded = IndexSource { kind: ItemKind::Document, collection: Some("Bs".to_owned()), is_referenced: true };
        assert_eq!(read(loads).unwrap().sources(), [IndexSource::of(Some("Us".to_owned())), loaded]);
    }

    #[test]
    fn what_is_said_the_same_is_the_same() {
        let index = read(&format!(r#"{{"Name":"X",{MAP}}}"#)).unwrap();
        let same = |text: &str| index.is_same(&Value::parse(text.as_bytes()).unwrap());
        assert!(same(&format!(r#"{{"Name":"X",{MAP},"Fields":{{}},"Configuration":null,"Type":"Map"}}"#)));
        assert!(!same(&format!(r#"{{"Name":"X",{MAP},"Fields":{{"A":{{"Indexing":"Exact"}}}}}}"#)));
        assert!(!same(r#"{"Name":"X","Maps":["from u in docs.Users select new { u.Name }"]}"#));
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        let check = |text: &str, expected: &str| {
            let error = format!("{:?}", read(text).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        };
        check(r#"{"Maps":[]}"#, "Invalid(\"Index name cannot be empty\")");
        check(r#"{"Name":"X","Maps":[]}"#, "at least one map");
        check(r#"{"Name":"X","Maps":[5]}"#, "an array of texts");
        let indexing = |value: &str| format!(r#"{{"Name":"X",{MAP},"Fields":{{"A":{{"Indexing":"{value}"}}}}}}"#);
        check(&indexing("Foo"), "must be Default, Exact, Search or No, but is 'Foo'");
        check(&indexing("Highlighting"), "NotSupported");
        check(&format!(r#"{{"Name":"X",{MAP},"Fields":{{"A":{{"Storage":"Perhaps"}}}}}}"#), "Invalid(\"'Storage'");
        check(&format!(r#"{{"Name":"Auto/X",{MAP}}}"#), "Invalid");
        check(r#"{"Name":"X","Maps":["from u in docs.Users select new { A = u.Foo( }"]}"#, "Compile");
        check(
            r#"{"Name":"X","Maps":["map('Users', u => ({ a: timeSeriesNamesFor(u) }))"]}"#,
            "MissingFeature(MissingFeature { feature: TimeSeries, subject: Some(\"timeSeriesNamesFor() in an index\") })",
        );
        check(r#"{"Name":"X","Maps":["map('Users', u => ({ a: + }))"]}"#, "Compile");
        for (map, feature, subject) in [
            (
                "from t in timeSeries.Users.Heart from e in t.Entries select new { e.Value }",
                "IndexSources",
                "indexes over timeSeries",
            ),
            ("timeSeries.Users.Select(t => new { t.Name })", "IndexSources", "indexes over timeSeries"),
            (
                "docs.Users.Select(u => new { A = TimeSeriesNamesFor(u) })",
                "TimeSeries",
                "'TimeSeriesNamesFor' in an index",
            ),
            ("map('Users', u => ({ A: timeSeriesNamesFor(u) }))", "TimeSeries", "timeSeriesNamesFor() in an index"),
            ("map('Users', u => ({ A: loadVector('x', u.B) }))", "TextEmbeddings", "loadVector() in an index"),
        ] {
            let expected =
                format!("MissingFeature(MissingFeature {{ feature: {feature}, subject: Some(\"{subject}\") }})");
            check(&format!(r#"{{"Name":"X","Maps":["{map}"]}}"#), &expected);
            // Also beside maps over documents.
            check(&format!(r#"{{"Name":"X",{},"{map}"]}}"#, MAP.strip_suffix(']').unwrap()), &expected);
        }
        check(
            r#"{"Name":"X","Maps":["docs.A.Select(x => new { x.A })","docs.B.Select(x => new { x.B })"]}"#,
            "different fields",
        );
        for (more, feature) in [
            (r#""AdditionalSources":{"x":"y"}"#, "'AdditionalSources' in C# of an index"),
            (r#""AdditionalAssemblies":["x"]"#, "'AdditionalAssemblies' of an index"),
        ] {
            check(&format!(r#"{{"Name":"X",{MAP},{more}}}"#), &format!("subject: Some(\"{feature}\")"));
        }
    }

    #[test]
    fn analyzers_are_known_by_their_names() {
        let analysis = |options: &str| {
            read(&format!(r#"{{"Name":"X",{MAP},"Fields":{{"A":{options}}}}}"#)).map(|index| index.analysis("A"))
        };
        let words = |analyzer| Ok(Some(Analysis::Words(analyzer)));
        assert_eq!(analysis(r#"{"Indexing":"Search"}"#), words(Analyzer::Standard));
        assert_eq!(analysis(r#"{"Indexing":"Search","Analyzer":"KeywordAnalyzer"}"#), Ok(Some(Analysis::Exact)));
        assert_eq!(analysis(r#"{"Analyzer":"Lucene.Net.Analysis.StopAnalyzer"}"#), words(Analyzer::Stop));
        let full = r#"{"Analyzer":"Lucene.Net.Analysis.Standard.StandardAnalyzer, Lucene.Net","TermVector":"Yes"}"#;
        assert_eq!(analysis(full), words(Analyzer::Standard));
        assert_eq!(analysis(r#"{"Indexing":"Exact","Analyzer":"StandardAnalyzer"}"#), Ok(Some(Analysis::Exact)));
        assert_eq!(analysis(r#"{"Indexing":"No","Analyzer":"StandardAnalyzer"}"#), Ok(None));
        let unknown = analysis(r#"{"Analyzer":"My.Own"}"#).unwrap_err().to_string();
        assert_eq!(unknown, "Failed to compile index 'X': Cannot find analyzer type 'My.Own' for field: A");
        assert!(matches!(analysis(r#"{"TermVector":"Perhaps"}"#), Err(DefinitionError::Invalid(_))));
    }

    #[test]
    fn languages_are_told_apart() {
        for text in ["from x in docs", " // hm\n /* x */ docs.A.Select(x => x)", "FROM x", "timeSeries.A.B"] {
            assert!(is_csharp(text), "{text}");
        }
        for text in ["map('A', x => x)", "timeSeries.map('A', x => x)", "counters.map(x)", ""] {
            assert!(!is_csharp(text), "{text}");
        }
    }

    /// With an analyzer for the field `A`.
    fn with_analyzer(analyzer: &str, known: &CustomAnalyzers) -> MapIndex {
        let given = format!(
            r#"{{"Name":"X","Maps":["from u in docs.Users select new {{ u.A, u.B }}"],"Fields":{{"A":{{"Analyzer":"{analyzer}"}}}}}}"#
        );
        MapIndex::without_some_analyzers(&Value::parse(given.as_bytes()).unwrap(), known).unwrap()
    }

    #[test]
    fn a_definition_keeps_the_custom_analyzers_that_it_names() {
        let mut known = CustomAnalyzers::default();
        for name in ["Mine", "Other", "StopAnalyzer"] {
            let code = format!("using Lucene.Net.Analysis; public class {name} : KeywordAnalyzer {{ }}");
            known.add(Arc::new(CustomAnalyzer::compile(name, &code).unwrap()));
        }
        let mine = with_analyzer(" MINE ", &known);
        let chain = known.get("Mine").unwrap().chain().clone();
        assert_eq!(mine.analysis("A"), Some(Analysis::Words(Analyzer::Custom(chain))));
        assert_eq!(mine.analysis("B"), Some(Analysis::LowerCase));
        let kept = mine.analyzers().to_json();
        assert_eq!(kept.members().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Mine"]);
        assert_eq!(CustomAnalyzers::from_json(Some(&kept), |_, reason| panic!("{reason}")), *mine.analyzers());
        // A name of ours stays what it is.
        let stop = with_analyzer("StopAnalyzer", &known);
        assert_eq!(stop.analysis("A"), Some(Analysis::Words(Analyzer::Stop)));
        assert!(stop.analyzers().is_empty() && stop.lacks_analyzer().is_none());
    }

    #[test]
    fn what_an_index_lacks_is_named() {
        let lacking = with_analyzer("Some.Mine", &CustomAnalyzers::default());
        let message = "Failed to compile index 'X': Cannot find analyzer type 'Some.Mine' for field: A";
        assert_eq!(lacking.lacks_analyzer().map(ToString::to_string).as_deref(), Some(message));
        assert_eq!(MapIndex::from_json(lacking.given()).unwrap_err().to_string(), message);
    }
}
