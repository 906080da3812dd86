//! Functions of RavenDB that are refused by name, with 501.

use documents::Feature;

use super::{Argument, Clause, Function, Kind};
use crate::plan::Refused;

const fn refused(
    name: &'static str,
    arguments: &'static [Argument],
    about: &'static str,
    missing: &'static [Clause],
) -> Function {
    Function { name, aliases: &[], arguments, about, example: "", uses: &[], missing }
}

const NAME: &[Argument] = &[Argument::required("name", Kind::Any)];
const FIELD: &[Argument] = &[Argument::required("field", Kind::Field)];

pub(super) static TIME_SERIES: Function =
    refused("timeseries", NAME, "A time series.", &[Clause::Select, Clause::Include]);
pub(super) static OUTPUT: Function =
    refused("output", &[Argument::required("value", Kind::Any)], "A value of a script.", &[Clause::Select]);
pub(super) static TEXT: Function =
    refused("embedding.text", FIELD, "Embeddings of texts, which need a model.", &[Clause::Vector]);
pub(super) static TEXT_I8: Function =
    refused("embedding.text_i8", FIELD, "Embeddings of texts as bytes.", &[Clause::Vector]);
pub(super) static TEXT_I1: Function =
    refused("embedding.text_i1", FIELD, "Embeddings of texts as bits.", &[Clause::Vector]);
pub(super) static AI_TASK: Function = refused("ai.task", NAME, "Embeddings that a task makes.", &[Clause::Vector]);

impl Refused {
    /// A function is called where this version does not answer it.
    ///
    /// * `place`: where, as in `in 'select'` or `as a value`.
    pub(crate) fn call(name: &str, place: &str) -> Refused {
        let form = format!("{name}() {place}");
        match missing_feature(name) {
            Some(feature) => Refused::MissingFeature(feature.missing_for(form)),
            None => Refused::NotSupported(form),
        }
    }
}

/// The feature that a function of RQL needs, where that is missing as a whole. `name` is in any case.
fn missing_feature(name: &str) -> Option<Feature> {
    let rows: [(&Function, Feature); 5] = [
        (&TIME_SERIES, Feature::TimeSeries),
        (&TEXT, Feature::TextEmbeddings),
        (&TEXT_I8, Feature::TextEmbeddings),
        (&TEXT_I1, Feature::TextEmbeddings),
        (&AI_TASK, Feature::TextEmbeddings),
    ];
    rows.into_iter().find(|(function, _)| function.is(name)).map(|(_, feature)| feature)
}
