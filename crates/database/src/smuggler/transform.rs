//! The transform script: changes each document, or throws `'skip'` to leave it out.

use std::rc::Rc;

use documents::Date;
use script::{Body, Document, Host, Input, Key, Program, Run, Stored};

use super::SmugglerOptions;
use crate::{Database, Error, Result};

/// A script that is ready to run.
#[derive(Debug)]
pub(crate) struct Transform {
    program: Program,
}

/// What a script does to a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Transformed {
    /// The document after it: checked JSON, an object.
    Document(Vec<u8>),
    LeftOut,
}

/// What a script throws to leave a document out.
const SKIP: &str = "skip";

impl Transform {
    /// The script of the options, if they have one.
    ///
    /// # Errors
    ///
    /// [`Error::Script`]: it is no JavaScript.
    pub fn of(database: &Database, options: &SmugglerOptions) -> Result<Option<Transform>> {
        let Some(text) = &options.transform_script else { return Ok(None) };
        let limits = script::Limits {
            steps: options.transform_steps_max,
            steps_setting: Some("MaxStepsForTransformScript"),
            ..database.limits().script
        };
        let program = Program::new("", &["args"], Body::Statements(text), limits);
        let program = program.and_then(|program| program.check().map(|()| program));
        Ok(Some(Transform { program: program.map_err(|error| Error::Script { id: String::new(), error })? }))
    }

    /// Runs the script on a document.
    ///
    /// * `json`: checked JSON, an object with `@metadata`.
    /// * `stored`: its change vector and date.
    ///
    /// # Errors
    ///
    /// [`Error::Script`], or [`Error::Canceled`] if the caller was stopped.
    pub fn run(
        &self,
        database: &Database,
        id: &str,
        json: &[u8],
        (change_vector, last_modified): (&str, Date),
    ) -> Result<Transformed> {
        let stored = Stored {
            change_vector: change_vector.to_owned(),
            last_modified: last_modified.to_string(),
            ticks: last_modified.ticks(),
        };
        let this = Document { id: id.to_owned(), json: json.into(), stored: Some(stored) };
        let run = Run {
            this: Some(Input::Document(&this)),
            arguments: &[Input::Json(b"{}")],
            omits_undefined: true,
            ..Run::default()
        };
        match self.program.run(&run, &mut TransformHost { database }) {
            Ok(outcome) => Ok(Transformed::Document(outcome.json)),
            Err(script::Error::Thrown { message, .. }) if message == SKIP => Ok(Transformed::LeftOut),
            Err(script::Error::Stopped) => Err(Error::Canceled),
            Err(error) => Err(Error::Script { id: id.to_owned(), error }),
        }
    }
}

/// Loads documents of the database.
struct TransformHost<'h> {
    database: &'h Database,
}

impl Host for TransformHost<'_> {
    fn key(&self) -> Key {
        documents::id::lower
    }

    fn load(&mut self, id: &str) -> Result<Option<Document>, String> {
        let snapshot = self.database.read();
        let document = snapshot.get(id).map_err(|error| error.to_string())?;
        Ok(document.map(|document| Document {
            id: document.id().to_owned(),
            json: document.json_of_scripts().into(),
            stored: Some(Stored {
                change_vector: document.change_vector(),
                last_modified: document.last_modified().to_string(),
                ticks: document.last_modified().ticks(),
            }),
        }))
    }

    fn value(&mut self, key: &str) -> Result<Option<Rc<[u8]>>, String> {
        let snapshot = self.database.read();
        let value = snapshot.compare_exchange_value(key).map_err(|error| error.to_string())?;
        Ok(value.and_then(|value| value.object()).map(|object| object.bytes().into()))
    }

    fn new_id(&mut self, _given: &str) -> Result<String, String> {
        Err("a transform script cannot put documents".to_owned())
    }
}
