//! Authorization: the rights of a connection, the rights that a route requires, and the one place that compares them.
//!
//! The listener makes the [`Identity`] of a connection before its first request. [`check`] runs once for each request, when its route and
//! the name of its database are known, and before the database is opened and the handler runs; also for each request inside of a
//! `multi_get`. Handlers decide nothing about access, except that lists of databases leave out what the caller may not see
//! ([`Identity::sees`]).
//!
//! Without a certificate of the server, every connection has the identity [`Identity::unsecured`], which may do everything. That is why
//! such a server listens on loopback only, unless a setting allows more ([`crate::Options::unsecured_access`]). With one, a connection is
//! what its client's certificate says ([`crate::network::tls`]): a cluster admin, registered with some rights, or without any. A request
//! with an API key has the rights of that key in their place ([`crate::routing::keys`]).

use database::{Clearance, Permission, Rights};

use crate::error::{Error, Result};

/// Access levels, required by a route and held by an identity. Each includes the lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Anyone who reaches the port.
    Anyone,
    /// Any registered certificate or API key.
    ValidUser,
    /// Reading the database of the path.
    Read,
    /// Writing to the database of the path.
    ReadWrite,
    /// Administering the database of the path.
    Admin,
    /// Operating the server, with all its databases.
    Operator,
    /// Everything, also what decides who may do so.
    ClusterAdmin,
}

impl Access {
    /// Its name in messages and in docs/http.md.
    fn name(self) -> &'static str {
        match self {
            Access::Anyone => "anyone",
            Access::ValidUser => "any user",
            Access::Read => "read",
            Access::ReadWrite => "read and write",
            Access::Admin => "admin of the database",
            Access::Operator => "operator",
            Access::ClusterAdmin => "cluster admin",
        }
    }
}

/// The principal of a connection or of a request, and its rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// For the server and all databases.
    everywhere: Access,
    /// For single databases, beyond that: by their names, in any ASCII case. Few, so that no index is needed.
    databases: Vec<(String, Access)>,
    /// Why the client has no rights; `None` for clients with rights.
    refusal: Option<Refusal>,
}

/// What is wrong with what the client identifies itself by, as a sentence. The client reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    /// It has sent nothing.
    Nothing(String),
    Certificate(String),
    Key(String),
}

impl Identity {
    /// The server has no certificate: whoever reaches the port may do everything.
    pub(crate) fn unsecured() -> Identity {
        Identity::cluster_admin()
    }

    /// The client has the certificate of the server itself, or one that the settings name.
    pub(crate) fn cluster_admin() -> Identity {
        Identity { everywhere: Access::ClusterAdmin, databases: Vec::new(), refusal: None }
    }

    /// The client is registered.
    pub(crate) fn registered(rights: &Rights) -> Identity {
        let everywhere = match rights.clearance {
            Clearance::ValidUser => Access::ValidUser,
            Clearance::Operator => Access::Operator,
            Clearance::ClusterAdmin => Access::ClusterAdmin,
        };
        let of_database = |(name, permission): &(String, Permission)| {
            let access = match permission {
                Permission::Read => Access::Read,
                Permission::ReadWrite => Access::ReadWrite,
                Permission::Admin => Access::Admin,
            };
            (name.clone(), access)
        };
        Identity { everywhere, databases: rights.permissions.iter().map(of_database).collect(), refusal: None }
    }

    /// A client that sent neither a certificate nor a key. It has what anyone has.
    ///
    /// * `reason`: what it lacks, here and below as a sentence. The client reads it.
    pub(crate) fn nobody(reason: &str) -> Identity {
        Identity::refused(Refusal::Nothing(reason.to_owned()))
    }

    /// A client with a certificate that the server does not trust. It has what anyone has.
    pub(crate) fn bad_certificate(reason: String) -> Identity {
        Identity::refused(Refusal::Certificate(reason))
    }

    /// A client with a key that the server does not accept. It has what anyone has.
    pub(crate) fn bad_key(reason: String) -> Identity {
        Identity::refused(Refusal::Key(reason))
    }

    fn refused(refusal: Refusal) -> Identity {
        Identity { everywhere: Access::Anyone, databases: Vec::new(), refusal: Some(refusal) }
    }

    /// True if the server does not know the client, whatever it sent.
    pub(crate) fn is_unknown(&self) -> bool {
        self.refusal.is_some()
    }

    /// True if the client sent a certificate or a key that the server did not accept.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.refusal, Some(Refusal::Certificate(_) | Refusal::Key(_)))
    }

    /// A user of some databases and of no others.
    #[cfg(test)]
    pub(crate) fn user(databases: &[(&str, Access)]) -> Identity {
        let databases = databases.iter().map(|(name, access)| ((*name).to_owned(), *access)).collect();
        Identity { everywhere: Access::ValidUser, databases, refusal: None }
    }

    /// What it may do with a database, whether there is one of that name or not.
    fn access_to(&self, database: &str) -> Access {
        let own = self.databases.iter().filter(|(name, _)| name.eq_ignore_ascii_case(database));
        own.map(|(_, access)| *access).fold(self.everywhere, Access::max)
    }

    /// True if it may know of a database.
    pub(crate) fn sees(&self, database: &str) -> bool {
        self.access_to(database) >= Access::Read
    }

    /// True if it may operate the server.
    pub(crate) fn is_operator(&self) -> bool {
        self.everywhere >= Access::Operator
    }

    /// True if it may do everything.
    pub(crate) fn is_cluster_admin(&self) -> bool {
        self.everywhere == Access::ClusterAdmin
    }

    /// True if it may administer a database.
    pub(crate) fn administers(&self, database: &str) -> bool {
        self.access_to(database) >= Access::Admin
    }
}

/// Lets a request pass, or says what it lacks.
///
/// * `database`: the name in the path of a route below `/databases/{name}/`. An identity without access is refused in the same words
///   whether there is such a database or not.
///
/// # Errors
///
/// [`Error::Forbidden`]; [`Error::NoIdentity`] or [`Error::BadKey`] for a client that is not known
pub(crate) fn check(identity: &Identity, needed: Access, database: Option<&str>) -> Result<()> {
    let granted = database.map_or(identity.everywhere, |database| identity.access_to(database));
    if granted >= needed {
        return Ok(());
    }
    match &identity.refusal {
        Some(Refusal::Nothing(reason) | Refusal::Certificate(reason)) => return Err(Error::NoIdentity(reason.clone())),
        Some(Refusal::Key(reason)) => return Err(Error::BadKey(reason.clone())),
        None => {}
    }
    let (needed, granted) = (needed.name(), granted.name());
    Err(Error::Forbidden(match database {
        Some(database) => {
            let shown: String = database.chars().take(NAME_LENGTH_SHOWN).collect();
            format!("This needs the access '{needed}' to the database '{shown}'; the connection has '{granted}'")
        }
        None => format!("This needs the access '{needed}'; the connection has '{granted}'"),
    }))
}

/// Characters of a database's name that a refusal repeats.
const NAME_LENGTH_SHOWN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use Access::{Admin, Anyone, ClusterAdmin, Operator, Read, ReadWrite, ValidUser};

    const ALL: [Access; 7] = [Anyone, ValidUser, Read, ReadWrite, Admin, Operator, ClusterAdmin];

    /// Asserts the highest access that `identity` has, with `database` in the path.
    #[track_caller]
    fn check_highest(identity: &Identity, database: Option<&str>, highest: Access) {
        for needed in ALL {
            let outcome = check(identity, needed, database);
            assert_eq!(outcome.is_ok(), needed <= highest, "{needed:?} for {database:?}: {outcome:?}");
        }
    }

    #[test]
    fn without_a_certificate_everything_is_allowed() {
        let identity = Identity::unsecured();
        check_highest(&identity, None, ClusterAdmin);
        check_highest(&identity, Some("x"), ClusterAdmin);
        assert!(identity.sees("x") && identity.administers("x"));
    }

    #[test]
    fn nobody_has_what_anyone_has_and_learns_why() {
        let identity = Identity::nobody("No certificate");
        check_highest(&identity, None, Anyone);
        check_highest(&identity, Some("x"), Anyone);
        assert!(!identity.sees("x") && !identity.administers("x"));
        assert_eq!(check(&identity, ValidUser, None).unwrap_err().message(), "No certificate");
    }

    #[test]
    fn a_user_has_its_own_access_to_each_database_and_none_to_others() {
        let identity = Identity::user(&[("Ours", Admin), ("shop", Read), ("Shop", ReadWrite)]);
        check_highest(&identity, None, ValidUser);
        check_highest(&identity, Some("OURS"), Admin);
        check_highest(&identity, Some("shop"), ReadWrite);
        check_highest(&identity, Some("theirs"), ValidUser);
        assert!(identity.sees("ours") && identity.administers("ours"));
        assert!(identity.sees("SHOP") && !identity.administers("shop"));
        assert!(!identity.sees("theirs"));
    }

    #[test]
    fn a_registered_client_has_its_clearance_and_its_permissions() {
        let permissions = vec![
            ("a".to_owned(), Permission::Read),
            ("b".to_owned(), Permission::ReadWrite),
            ("c".to_owned(), Permission::Admin),
        ];
        let identity = |clearance| Identity::registered(&Rights { clearance, permissions: permissions.clone() });
        let user = identity(Clearance::ValidUser);
        check_highest(&user, None, ValidUser);
        for (database, highest) in [("A", Read), ("B", ReadWrite), ("C", Admin), ("d", ValidUser)] {
            check_highest(&user, Some(database), highest);
        }
        // What a clearance includes is not taken away by a permission.
        check_highest(&identity(Clearance::Operator), Some("a"), Operator);
        check_highest(&identity(Clearance::ClusterAdmin), None, ClusterAdmin);
        assert!(
            identity(Clearance::ClusterAdmin).is_cluster_admin() && !identity(Clearance::Operator).is_cluster_admin()
        );
    }

    #[test]
    fn a_refusal_says_what_is_needed() {
        let identity = Identity::user(&[("shop", Read)]);
        let message = |needed, database| check(&identity, needed, database).unwrap_err().message();
        let expected = "This needs the access 'read and write' to the database 'Shop'; the connection has 'read'";
        assert_eq!(message(ReadWrite, Some("Shop")), expected);
        assert_eq!(message(Operator, None), "This needs the access 'operator'; the connection has 'any user'");
    }
}
