//! Automatic indexes: the fields of one collection that queries have used, of its documents or of groups of them.

use super::{
    Analysis, AnalysisKind, Field, FieldName, FieldNeeds, FieldUse, Fields, MarkedText, MeasuredField, Places,
    VectorField,
};
use crate::analysis::Analyzer;
use crate::vector::VectorOptions;
use json::Value;

/// An index that a query made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomaticIndex {
    /// The collection, as the first query spelled it; `None`: all documents.
    pub collection: Option<String>,
    /// Its fields, sorted by label, each name once. Of groups: keys, sums, [`COUNT`] and [`MeasuredField`]s.
    fields: Vec<Field>,
    /// What documents are grouped by, in the order of the fields; empty: they are not.
    group_by: Vec<GroupedBy>,
    /// Which it is of those whose names would differ in case only, from 1 on.
    number: u32,
}

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedBy {
    /// The path of its field.
    pub path: String,
    /// Whether an array is one key; else, where the path says `[]`, each element is a key of its own.
    pub is_array: bool,
}

/// The field of groups that says how many documents or elements they have.
pub const COUNT: &str = "Count";

/// How the words of a field are made that a query searches in.
const SEARCHED: Analysis = Analysis::Words(Analyzer::Standard);

/// The source that stands for all collections.
pub const ALL_DOCUMENTS: &str = "@all_docs";

/// The name of a source: a collection's own; `None` is all documents.
pub fn name_of(source: Option<&str>) -> &str {
    source.unwrap_or(ALL_DOCUMENTS)
}

impl AutomaticIndex {
    /// An index with these fields; several of one name become one.
    pub fn new(collection: Option<String>, fields: impl IntoIterator<Item = Field>) -> AutomaticIndex {
        Self::grouped(collection, Vec::new(), fields)
    }

    /// An index of groups with these fields, the keys among them.
    pub fn grouped(
        collection: Option<String>,
        mut group_by: Vec<GroupedBy>,
        fields: impl IntoIterator<Item = Field>,
    ) -> AutomaticIndex {
        let mut sorted: Vec<Field> = Vec::new();
        for field in fields {
            match sorted.iter_mut().find(|other| other.name.path == field.name.path) {
                Some(other) => {
                    other.needs = other.needs.and(field.needs);
                    other.name.is_quoted |= field.name.is_quoted;
                }
                None => sorted.push(field),
            }
        }
        group_by.sort_by(|one, other| one.path.cmp(&other.path));
        sorted.sort_by_cached_key(|field| label(field, is_array(&group_by, field)));
        AutomaticIndex { collection, fields: sorted, group_by, number: 1 }
    }

    /// The same with a number in its name, unless that is 1. Fields are told apart by case, indexes are not.
    #[must_use]
    pub fn numbered(self, number: u32) -> AutomaticIndex {
        AutomaticIndex { number, ..self }
    }

    /// What documents are grouped by; empty: they are not.
    pub fn group_by(&self) -> &[GroupedBy] {
        &self.group_by
    }

    /// The fields of its groups that are no keys: what is counted or added up.
    pub fn aggregates(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !self.group_by.is_empty() && !self.is_key(field))
    }

    /// The fields that are keys of its groups.
    pub fn keys(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| self.is_key(field))
    }

    /// Whether its groups have fields that the reference does not know.
    pub fn has_measures(&self) -> bool {
        self.aggregates().any(|field| MeasuredField::of_name(&field.name.path).is_some())
    }

    fn is_key(&self, field: &Field) -> bool {
        self.group_by.iter().any(|key| key.path == field.name.path)
    }

    /// Its fields, in the order of its name.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The name: `Auto/Users/ByAgeAndName`, `Auto/Users/ByCountReducedByCity`. Labels stand in the order of their bytes; without
    /// fields it is `ById()`. Behind it stands its number, as in `Auto/Users/ByCountReducedBycity-2`: a label that ends so is in quotes.
    pub fn name(&self) -> String {
        let mut name = self.plain_name();
        if self.number > 1 {
            name.push_str(&format!("-{}", self.number));
        }
        name
    }

    fn plain_name(&self) -> String {
        let labels = |fields: &mut dyn Iterator<Item = &Field>| {
            let labels: Vec<String> = fields.map(|field| self.label(field)).collect();
            labels.join("And")
        };
        let collection = match self.collection.as_deref() {
            None => "AllDocs",
            // Two indexes of one name would be taken for each other.
            Some(name) if name.eq_ignore_ascii_case("AllDocs") => &format!("'{name}'"),
            Some(name) => name,
        };
        if !self.group_by.is_empty() {
            let aggregates = labels(&mut self.aggregates());
            let by = if aggregates.is_empty() { String::new() } else { format!("/By{aggregates}") };
            return format!("Auto/{collection}{by}ReducedBy{}", labels(&mut self.keys()));
        }
        let fields = if self.fields.is_empty() { "Id()".to_owned() } else { labels(&mut self.fields.iter()) };
        format!("Auto/{collection}/By{fields}")
    }

    fn label(&self, field: &Field) -> String {
        label(field, is_array(&self.group_by, field))
    }

    /// What it reads: a collection, or [`ALL_DOCUMENTS`].
    pub fn source(&self) -> &str {
        self.collection.as_deref().unwrap_or(ALL_DOCUMENTS)
    }

    /// Whether both read the same documents, and group them alike.
    pub fn has_source_of(&self, other: &AutomaticIndex) -> bool {
        self.group_by == other.group_by && self.is_over(other.collection.as_deref())
    }

    /// Whether it reads the documents of a collection; `None`: all.
    pub fn is_over(&self, collection: Option<&str>) -> bool {
        match (self.collection.as_deref(), collection) {
            (Some(own), Some(other)) => documents::id::is_same(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    /// Whether it answers all that `needed` would: the same source, and all its fields.
    pub fn covers(&self, needed: &AutomaticIndex) -> bool {
        self.has_source_of(needed) && needed.fields.iter().all(|field| self.has(field))
    }

    fn has(&self, needed: &Field) -> bool {
        let found = self.fields.iter().find(|field| field.name.path == needed.name.path);
        found.is_some_and(|field| field.needs.cover(needed.needs))
    }

    /// A name that is stored for the index and longer than `size_max` bytes.
    pub fn name_over(&self, size_max: usize) -> Option<String> {
        // They are little longer than paths, so that mostly none has to be made.
        if self.fields.iter().all(|field| field.name.path.len() <= size_max / 2) {
            return None;
        }
        let terms = self.stored_fields().into_iter().map(|(_, _, name)| name);
        let others = self.places().map(|(name, _)| name).chain(self.vectors().map(|(name, _)| name));
        terms.chain(others.map(str::to_owned)).find(|name| name.len() > size_max)
    }

    /// The label of a field that it lacks.
    pub fn missing(&self, needed: &Field) -> Option<String> {
        (!self.has(needed)).then(|| self.label(needed))
    }

    /// The index that has the fields of both, from the source of this one.
    pub fn widened_by(&self, other: &AutomaticIndex) -> AutomaticIndex {
        let fields = self.fields.iter().chain(&other.fields).cloned();
        Self::grouped(self.collection.clone(), self.group_by.clone(), fields)
    }

    /// The names under which its terms are kept, in the order of its fields: with each the field's number and analysis.
    pub fn stored_fields(&self) -> Vec<(usize, Analysis, String)> {
        let mut stored = Vec::new();
        for (number, field) in self.fields.iter().enumerate() {
            if field.needs.is_spatial || field.needs.is_vector {
                continue;
            }
            stored.push((number, Analysis::LowerCase, field.name.stored(AnalysisKind::LowerCase)));
            let besides = [(field.needs.is_exact, Analysis::Exact), (field.needs.is_searched, SEARCHED)];
            for (_, analysis) in besides.into_iter().filter(|(is_needed, _)| *is_needed) {
                let name = field.name.stored(analysis.kind());
                stored.push((number, analysis, name));
            }
        }
        stored
    }

    /// Its fields that keep places or shapes, with the name of each in the index.
    pub fn places(&self) -> impl Iterator<Item = (&str, Places<'_>)> {
        self.fields.iter().filter_map(|field| Some((field.name.path.as_str(), Places::of(field)?)))
    }

    /// Its fields that keep vectors, with the name of each in the index.
    pub fn vectors(&self) -> impl Iterator<Item = (&str, VectorField<'_>)> {
        self.fields.iter().filter_map(|field| Some((field.name.path.as_str(), VectorField::of(field)?)))
    }

    /// The definition as it is kept:
    /// `{"Collection":..,"Fields":[{"Name":..,"IsNameQuoted":..,"IsExact":..,"IsSearched":..,"IsSuggested":..,"IsHighlighted":..,
    /// "IsSpatial":..,"IsVector":..}]}`,
    /// of groups also `"GroupBy":[{"Name":..,"IsArray":..}]`; `"Number":2` if it has one.
    pub fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Collection", self.collection.clone().map_or(Value::Null, Value::String));
        let field = |field: &Field| {
            let mut value = Value::object();
            value.set("Name", Value::String(field.name.path.clone()));
            value.set("IsNameQuoted", Value::Bool(field.name.is_quoted));
            value.set("IsExact", Value::Bool(field.needs.is_exact));
            value.set("IsSearched", Value::Bool(field.needs.is_searched));
            value.set("IsSuggested", Value::Bool(field.needs.is_suggested));
            value.set("IsHighlighted", Value::Bool(field.needs.is_highlighted));
            value.set("IsSpatial", Value::Bool(field.needs.is_spatial));
            value.set("IsVector", Value::Bool(field.needs.is_vector));
            value
        };
        value.set("Fields", Value::Array(self.fields.iter().map(field).collect()));
        let key = |key: &GroupedBy| {
            let mut value = Value::object();
            value.set("Name", Value::String(key.path.clone()));
            value.set("IsArray", Value::Bool(key.is_array));
            value
        };
        if !self.group_by.is_empty() {
            value.set("GroupBy", Value::Array(self.group_by.iter().map(key).collect()));
        }
        if self.number > 1 {
            value.set("Number", Value::Number(self.number.to_string()));
        }
        value
    }

    /// Reads what [`Self::to_json`] wrote. `None`: it is something else.
    pub fn from_json(value: &Value) -> Option<AutomaticIndex> {
        let collection = match value.get("Collection")? {
            Value::Null => None,
            name => Some(name.as_str()?.to_owned()),
        };
        let Value::Array(fields) = value.get("Fields")? else { return None };
        let field = |value: &Value| {
            let flag = |name| value.get(name).and_then(Value::as_bool);
            let path = value.get("Name")?.as_str()?.to_owned();
            let name = FieldName { path, is_quoted: flag("IsNameQuoted")? };
            // What is younger than the first definitions is absent in those.
            let younger = |name| flag(name).unwrap_or(false);
            let needs = FieldNeeds {
                is_exact: flag("IsExact")?,
                is_searched: younger("IsSearched"),
                is_suggested: younger("IsSuggested"),
                is_highlighted: younger("IsHighlighted"),
                is_spatial: younger("IsSpatial"),
                is_vector: younger("IsVector"),
            };
            Some(Field { name, needs })
        };
        let fields: Option<Vec<Field>> = fields.iter().map(field).collect();
        let key = |value: &Value| {
            let path = value.get("Name")?.as_str()?.to_owned();
            Some(GroupedBy { path, is_array: value.get("IsArray")?.as_bool()? })
        };
        let group_by: Option<Vec<GroupedBy>> = match value.get("GroupBy") {
            None => Some(Vec::new()),
            Some(Value::Array(keys)) => keys.iter().map(key).collect(),
            Some(_) => None,
        };
        let number = match value.get("Number") {
            None => 1,
            Some(Value::Number(number)) => number.parse().ok()?,
            Some(_) => return None,
        };
        Some(AutomaticIndex::grouped(collection, group_by?, fields?).numbered(number))
    }
}

impl Fields for AutomaticIndex {
    fn resolve(&self, field: &FieldUse) -> (String, Analysis) {
        let analysis = if matches!(field.analysis, Analysis::Words(_)) { SEARCHED } else { field.analysis.clone() };
        (field.name.stored(analysis.kind()), analysis)
    }

    fn marked_text(&self, name: &FieldName) -> Option<MarkedText> {
        let found = self.fields.iter().find(|field| field.name.path == name.path);
        found.filter(|field| field.needs.is_highlighted).map(|_| MarkedText::Document)
    }

    fn vector(&self, field: &FieldUse) -> VectorOptions {
        VectorField::of_name(&field.name.path).map(|field| field.options).unwrap_or_default()
    }
}

/// Whether a field is a key whose arrays are compared whole.
fn is_array(group_by: &[GroupedBy], field: &Field) -> bool {
    group_by.iter().any(|key| key.is_array && key.path == field.name.path)
}

/// What stands for a field in the name of an index.
fn label(field: &Field, is_array: bool) -> String {
    if let Some(places) = Places::of(field) {
        return places.label();
    }
    if field.needs.is_vector {
        return VectorField::label(&field.name.path);
    }
    let label = field.name.label();
    let label = if is_array { format!("Array({label})") } else { label };
    let FieldNeeds { is_exact, is_searched, is_suggested, is_highlighted, is_spatial: _, is_vector: _ } = field.needs;
    // In the order of the reference.
    let besides =
        [(is_searched, "Search"), (is_highlighted, "Highlight"), (is_exact, "Exact"), (is_suggested, "Suggest")];
    let labels: Vec<String> =
        besides.iter().filter(|(is_needed, _)| *is_needed).map(|(_, kind)| format!("{kind}({label})")).collect();
    if labels.is_empty() { label } else { labels.join("And") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(path: &str, is_exact: bool) -> Field {
        let needs = FieldNeeds { is_exact, ..FieldNeeds::default() };
        Field { name: FieldName { path: path.to_owned(), is_quoted: path.starts_with('@') }, needs }
    }

    fn index(collection: &str, paths: &[&str]) -> AutomaticIndex {
        AutomaticIndex::new(Some(collection.to_owned()), paths.iter().map(|path| field(path, false)))
    }

    /// As the reference names them.
    #[test]
    fn names_follow_from_fields() {
        assert_eq!(
            index("Orders", &["company", "Freight", "Company"]).name(),
            "Auto/Orders/ByCompanyAndFreightAndcompany"
        );
        assert_eq!(index("users", &["age"]).name(), "Auto/users/Byage");
        assert_eq!(index("Xs", &[]).name(), "Auto/Xs/ById()");
        let quoted = index("Xs", &["v", "V", "Q.0", "@metadata.@last-modified", "@metadata.@collection"]);
        let quoted = AutomaticIndex::new(quoted.collection.clone(), [field("W", true)]).widened_by(&quoted);
        let name = "Auto/Xs/By'@metadata.@collection'And'@metadata.@last-modified'AndExact(W)AndQ.0AndVAndv";
        assert_eq!(quoted.name(), name);
        assert_eq!(AutomaticIndex::new(None, [field("Lines[].P", false)]).name(), "Auto/AllDocs/ByLines[].P");
        assert_eq!(index("alldocs", &["A"]).name(), "Auto/'alldocs'/ByA");
    }

    #[test]
    fn groups_have_their_keys_in_the_name() {
        let grouped = |paths: &[&str], keys: &[(&str, bool)]| {
            let key = |(path, is_array): &(&str, bool)| GroupedBy { path: (*path).to_owned(), is_array: *is_array };
            let fields = paths.iter().map(|path| field(path, false));
            AutomaticIndex::grouped(Some("Orders".to_owned()), keys.iter().map(key).collect(), fields)
        };
        let one = grouped(&["Count", "Company"], &[("Company", false)]);
        assert_eq!(one.name(), "Auto/Orders/ByCountReducedByCompany");
        let two = grouped(&["Tags[]", "Company", "Freight"], &[("Tags[]", true), ("Company", false)]);
        assert_eq!(two.name(), "Auto/Orders/ByFreightReducedByArray(Tags[])AndCompany");
        assert_eq!(grouped(&["A"], &[("A", false)]).name(), "Auto/OrdersReducedByA");
        assert!(
            !one.covers(&two)
                && !index("Orders", &["Company"]).covers(&one)
                && !one.covers(&index("Orders", &["Company"]))
        );
        let wide = one.widened_by(&grouped(&["Company", "Freight"], &[("Company", false)]));
        assert_eq!(wide.name(), "Auto/Orders/ByCountAndFreightReducedByCompany");
        assert!(wide.covers(&one) && AutomaticIndex::from_json(&wide.to_json()) == Some(wide));
    }

    #[test]
    fn measures_of_groups_are_in_the_name() {
        let key = GroupedBy { path: "Company".to_owned(), is_array: false };
        let of = |paths: &[&str]| {
            AutomaticIndex::grouped(
                Some("Orders".to_owned()),
                vec![key.clone()],
                paths.iter().map(|path| field(path, false)),
            )
        };
        let index = of(&["Company", "min(Freight)", "Count", "avg(Freight)", "Freight"]);
        assert_eq!(index.name(), "Auto/Orders/ByCountAndFreightAndavg(Freight)Andmin(Freight)ReducedByCompany");
        assert!(index.has_measures() && AutomaticIndex::from_json(&index.to_json()) == Some(index.clone()));
        let sums = of(&["Company", "Freight"]);
        assert!(!sums.has_measures() && index.covers(&sums) && !sums.covers(&index));
        assert!(!AutomaticIndex::new(None, [field("min(Freight)", false)]).has_measures());
    }

    #[test]
    fn an_index_covers_what_has_fewer_fields() {
        let (wide, narrow) = (index("Users", &["Age", "Name"]), index("USERS", &["Name"]));
        assert!(wide.covers(&narrow) && !narrow.covers(&wide) && !index("Dogs", &["Name"]).covers(&narrow));
        let exact = AutomaticIndex::new(Some("Users".to_owned()), [field("Name", true)]);
        assert!(exact.covers(&narrow) && !wide.covers(&exact) && wide.widened_by(&exact).covers(&exact));
        assert_eq!(wide.missing(&exact.fields()[0]).as_deref(), Some("Exact(Name)"));
        assert!(!AutomaticIndex::new(None, [field("Name", false)]).covers(&narrow));
    }

    /// As the reference names them.
    #[test]
    fn places_have_names_of_their_own() {
        let place = |path: &str| Field {
            name: FieldName { path: path.to_owned(), is_quoted: false },
            needs: FieldNeeds { is_spatial: true, ..FieldNeeds::default() },
        };
        let fields = [place("spatial.wkt(W)"), place("spatial.point(Loc.Lat, Loc.Lng)"), field("Name", false)];
        let index = AutomaticIndex::new(Some("Cs".to_owned()), fields);
        assert_eq!(index.name(), "Auto/Cs/ByNameAndSpatial.point(Loc.Lat|Loc.Lng)AndSpatial.wkt(W)");
        let names: Vec<&str> = index.places().map(|(name, _)| name).collect();
        assert_eq!(names, ["spatial.point(Loc.Lat, Loc.Lng)", "spatial.wkt(W)"]);
        assert_eq!(index.stored_fields().len(), 1);
        assert_eq!(AutomaticIndex::from_json(&index.to_json()), Some(index));
    }

    /// As the reference names them.
    #[test]
    fn vectors_have_names_of_their_own() {
        let options = |name| VectorOptions::of_function(name).unwrap();
        let vector = |path, name| VectorField { path, options: options(name) }.field().unwrap();
        let fields = [vector("V", "f32_i8"), vector("A.B", "f32"), vector("V", "i1"), field("Name", false)];
        let index = AutomaticIndex::new(Some("Ds".to_owned()), fields);
        let name =
            "Auto/Ds/ByNameAndVector.search(A.B)AndVector.search(embedding.f32_i8(V))AndVector.search(embedding.i1(V))";
        assert_eq!(index.name(), name);
        let vectors: Vec<VectorField<'_>> = index.vectors().map(|(_, vector)| vector).collect();
        assert_eq!(vectors[1], VectorField { path: "V", options: options("f32_i8") });
        assert_eq!(index.stored_fields().len(), 1);
        assert_eq!(AutomaticIndex::from_json(&index.to_json()), Some(index));
        assert_eq!(VectorField { path: "a(b", options: options("f32") }.field(), None);
    }

    #[test]
    fn definitions_come_back() {
        let numbered = index("Us", &["a"]).numbered(2);
        assert_eq!(numbered.name(), "Auto/Us/Bya-2");
        for index in [index("Ä", &["a.b", "@id"]), AutomaticIndex::new(None, [field("x\"", true)]), numbered] {
            assert_eq!(AutomaticIndex::from_json(&index.to_json()), Some(index));
        }
        assert_eq!(AutomaticIndex::from_json(&Value::object()), None);
    }
}
