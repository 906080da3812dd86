//! Groups of a definition with a reduce: what its maps give goes into the groups that the reduce names.

use super::grouped::{Give, Groups};
use super::map_runner::{Loading, MapRunner};
use super::reduce_tree::Reduces;
use crate::definition::MapIndex;
use crate::index::GroupKey;
use crate::mapping::{MapError, Reduce};
use documents::Document;
use json::{Raw, Writer};
use std::sync::Arc;

pub(super) struct MappedGroups {
    runner: MapRunner,
    reduce: Arc<Reduce>,
    is_partial: bool,
    json: Vec<u8>,
}

impl MappedGroups {
    pub fn new(definition: &Arc<MapIndex>, reduce: Arc<Reduce>) -> MappedGroups {
        let is_partial = reduce.is_partial();
        MappedGroups { runner: MapRunner::new(definition), reduce, is_partial, json: Vec::new() }
    }
}

impl Groups for MappedGroups {
    fn map(&mut self, document: &Document<'_>, loading: Loading<'_>, give: Give<'_>) -> Result<(), MapError> {
        let MappedGroups { runner, reduce, json, .. } = self;
        runner.run(document, loading, &mut |_, output| {
            json.clear();
            output.write_mapped(&mut Writer::new(json));
            reduce.key(Raw::new(json), &mut |key| give(GroupKey::of(&key.identity), json))
        })
    }
}

impl Reduces for MappedGroups {
    fn is_partial(&self) -> bool {
        self.is_partial
    }

    fn reduce(&self, group: &GroupKey, values: &[Raw<'_>], give: &mut dyn FnMut(&[u8])) -> Result<(), MapError> {
        let is_wanted = |identity: &[u8]| GroupKey::of(identity) == *group;
        let mut json = Vec::new();
        self.reduce.run(values, &is_wanted, &mut |output| {
            json.clear();
            output.write_json(&mut Writer::new(&mut json));
            give(&json);
            Ok(())
        })
    }
}
