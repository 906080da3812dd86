//! How a field keeps vectors: the option `Vector` of a definition, and the words of queries that stand for it.

use crate::limits::{VECTOR_CANDIDATES_MAX, VECTOR_DIMENSIONS_MAX, VECTOR_EDGES_MAX};
use documents::{Feature, MissingFeature};
use json::Value;

/// What the components of a vector are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Embedding {
    /// Numbers of 32 bits; vectors are compared by the cosine of their angle.
    Single = 1,
    /// Whole numbers from -128 to 127; likewise.
    Int8 = 2,
    /// Bits, eight to a byte; vectors are compared by how many are the same.
    Binary = 3,
}

impl Embedding {
    const ALL: [Embedding; 3] = [Embedding::Single, Embedding::Int8, Embedding::Binary];

    /// Its name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Embedding::Single => "Single",
            Embedding::Int8 => "Int8",
            Embedding::Binary => "Binary",
        }
    }

    /// The one that is kept under a number.
    pub(crate) fn of(byte: u8) -> Option<Embedding> {
        Embedding::ALL.into_iter().find(|embedding| *embedding as u8 == byte)
    }
}

/// How a field keeps vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorOptions {
    /// What documents and queries have.
    pub source: Embedding,
    /// What is kept of it.
    pub destination: Embedding,
    /// How many components each has; `None`: as many as the first.
    pub dimensions: Option<usize>,
    /// Neighbours that a vector gets on each level of the graph; `None`: [`Self::EDGES_DEFAULT`].
    pub edges: Option<usize>,
    /// Vectors that are looked at for neighbours; `None`: [`Self::CANDIDATES_DEFAULT`].
    pub candidates: Option<usize>,
}

impl Default for VectorOptions {
    fn default() -> VectorOptions {
        VectorOptions::of(Embedding::Single, Embedding::Single)
    }
}

impl VectorOptions {
    /// Neighbours that a vector gets where nothing is said.
    pub const EDGES_DEFAULT: usize = 16;

    /// Vectors that are looked at for neighbours where nothing is said.
    pub const CANDIDATES_DEFAULT: usize = 96;

    /// One kind of component from another, all else as it is where nothing is said.
    pub const fn of(source: Embedding, destination: Embedding) -> VectorOptions {
        VectorOptions { source, destination, dimensions: None, edges: None, candidates: None }
    }

    /// Neighbours that a vector gets.
    pub fn edge_count(&self) -> usize {
        self.edges.unwrap_or(VectorOptions::EDGES_DEFAULT)
    }

    /// Vectors that are looked at for neighbours.
    pub fn candidate_count(&self) -> usize {
        self.candidates.unwrap_or(VectorOptions::CANDIDATES_DEFAULT)
    }

    /// By the name of the function of a query that stands for it, without `embedding.`. `None`: it is none, or needs a model.
    pub fn of_function(name: &str) -> Option<VectorOptions> {
        use Embedding::{Binary, Int8, Single};
        let functions = [
            ("f32", Single, Single),
            ("f32_i8", Single, Int8),
            ("f32_i1", Single, Binary),
            ("i8", Int8, Int8),
            ("i1", Binary, Binary),
        ];
        let (_, source, destination) = functions.into_iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
        Some(VectorOptions::of(source, destination))
    }

    /// The function that stands for it; `None` where the field alone does.
    pub fn function(&self) -> Option<&'static str> {
        match (self.source, self.destination) {
            (Embedding::Int8, _) => Some("i8"),
            (Embedding::Binary, _) => Some("i1"),
            (Embedding::Single, Embedding::Single) => None,
            (Embedding::Single, Embedding::Int8) => Some("f32_i8"),
            (Embedding::Single, Embedding::Binary) => Some("f32_i1"),
        }
    }

    /// Reads the option of a field.
    ///
    /// # Errors
    ///
    /// `Err(Ok(..))`: what needs a missing feature; `Err(Err(..))`: what is wrong.
    pub fn from_json(given: &Value) -> Result<VectorOptions, Result<MissingFeature, String>> {
        for (key, value) in given.members() {
            if !MEMBERS.contains(&&**key) && *value != Value::Null {
                return Err(Err(format!("there is no option '{key}'")));
            }
        }
        if !matches!(given, Value::Object(_)) {
            return Err(Err("it must be an object".to_owned()));
        }
        let given_as = |key: &str| given.get(key).filter(|value| **value != Value::Null);
        let embedding = |key: &str| match given_as(key).map(|value| value.as_str().unwrap_or_default()) {
            None => Ok(Embedding::Single),
            Some("Text") => {
                let subject = format!("the option 'Vector' of a field with '{key}' being 'Text', which needs a model");
                Err(Ok(Feature::TextEmbeddings.missing_for(subject)))
            }
            Some(name) => Embedding::ALL
                .into_iter()
                .find(|embedding| embedding.name() == name)
                .ok_or_else(|| Err(format!("'{key}' must be Single, Int8 or Binary, and not '{name}'"))),
        };
        let count = |key: &str, max: usize| match given_as(key) {
            None => Ok(None),
            Some(Value::Number(text) | Value::String(text)) => match text.parse() {
                Ok(count) if (1..=max).contains(&count) => Ok(Some(count)),
                _ => Err(Err(format!("'{key}' must be from 1 to {max}, and not {text}"))),
            },
            Some(_) => Err(Err(format!("'{key}' must be a number"))),
        };
        let options = VectorOptions {
            source: embedding("SourceEmbeddingType")?,
            destination: embedding("DestinationEmbeddingType")?,
            dimensions: count("Dimensions", VECTOR_DIMENSIONS_MAX)?,
            edges: count("NumberOfEdges", VECTOR_EDGES_MAX)?,
            candidates: count("NumberOfCandidatesForIndexing", VECTOR_CANDIDATES_MAX)?,
        };
        if options.source != Embedding::Single && options.source != options.destination {
            let (source, destination) = (options.source.name(), options.destination.name());
            return Err(Err(format!("vectors of {source} cannot be kept as {destination}, but only as they are")));
        }
        Ok(options)
    }

    /// Writes the members of the option, as definitions show it.
    pub fn write_members(&self, json: &mut json::Writer<'_>) {
        fn count(json: &mut json::Writer<'_>, count: Option<usize>) {
            match count {
                Some(count) => _ = json.unsigned(count as u64),
                None => _ = json.null(),
            }
        }
        count(json.name("Dimensions"), self.dimensions);
        json.name("SourceEmbeddingType").string(self.source.name());
        json.name("DestinationEmbeddingType").string(self.destination.name());
        count(json.name("NumberOfEdges"), self.edges);
        count(json.name("NumberOfCandidatesForIndexing"), self.candidates);
    }
}

/// What the option may have.
const MEMBERS: [&str; 5] =
    ["Dimensions", "SourceEmbeddingType", "DestinationEmbeddingType", "NumberOfEdges", "NumberOfCandidatesForIndexing"];
