//! Which documents get revisions, and how many of them stay.

use crate::HILO_COLLECTION;
use crate::ids::id;

/// The configuration of the revisions of a database. Each write has it in its stamp, so that applying a write again gives the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevisionsConfiguration {
    /// Of collections that are not named; `None`: their documents get no revisions.
    pub default: Option<CollectionRevisions>,
    /// Names of collections, in any case, each once.
    pub collections: Vec<(String, CollectionRevisions)>,
}

/// The configuration of the revisions of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionRevisions {
    /// True if changes make no revisions.
    pub is_disabled: bool,
    /// Revisions of a document that stay, the newest ones; `None`: all, unless there is an age.
    pub count_min: Option<u64>,
    /// The age, in ticks of 100 ns, before which a revision stays, whatever the count is.
    pub age_min: Option<u64>,
    /// True if the deletion of a document deletes its revisions.
    pub purges_on_delete: bool,
    /// The maximum number of revisions that one change of a document removes.
    pub delete_count_max: Option<u64>,
}

impl RevisionsConfiguration {
    /// The configuration of a collection, whether it is enabled or not.
    pub fn of(&self, collection: &str) -> Option<&CollectionRevisions> {
        if collection == HILO_COLLECTION {
            return None;
        }
        let named = self.collections.iter().find(|(name, _)| id::is_same(name, collection));
        named.map(|(_, configured)| configured).or(self.default.as_ref())
    }

    /// The configuration of a collection, if changes make revisions.
    pub fn enabled(&self, collection: &str) -> Option<&CollectionRevisions> {
        self.of(collection).filter(|configured| !configured.is_disabled)
    }

    /// True if no collection is configured.
    pub fn is_empty(&self) -> bool {
        self.default.is_none() && self.collections.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_has_its_own_configuration_over_the_default() {
        let disabled = CollectionRevisions { is_disabled: true, ..CollectionRevisions::default() };
        let configuration = RevisionsConfiguration {
            default: Some(CollectionRevisions::default()),
            collections: vec![("uSErs".to_owned(), disabled)],
        };
        assert_eq!(configuration.of("Users"), Some(&disabled));
        assert_eq!(configuration.enabled("USERS"), None);
        assert_eq!(configuration.enabled("Dogs"), Some(&CollectionRevisions::default()));
        assert_eq!(configuration.of("@hilo"), None);
    }
}
