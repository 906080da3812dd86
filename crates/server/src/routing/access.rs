//! Authorization: the rights of a connection, the rights that a route requires, and the one place that compares them.
//!
//! The listener makes the [`Identity`] of a connection before its first request. [`check`] runs once for each request, when its route and
//! the name of its database are known, and before the database is opened and the handler runs; also for each request inside of a
//! `multi_get`. Handlers decide nothing about access, except that lists of databases leave out what the caller may not see
//! ([`Identity::sees`]).
//!
//! Until certificates are supported, every connection has the identity [`Identity::unsecured`], which may do everything. That is why a
//! server listens on loopback only, unless told otherwise by name ([`crate::Options::unsecured_access`]).

use crate::error::{Error, Result};

/// Access levels, required by a route and held by an identity. Each includes the lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Anyone who reaches the port.
    Anyone,
    /// Any registered certificate.
    ValidUser,
    /// Reading the database of the path.
    Read,
    /// Writing to the database of the path.
    ReadWrite,
    /// Administering the database of the path.
    Admin,
    /// Operating the server, with all its databases.
    Operator,
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
        }
    }
}

/// The principal of a connection and its rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// For the server and all databases.
    everywhere: Access,
    /// For single databases, beyond that: by their names, in any ASCII case. Few, so that no index is needed.
    databases: Vec<(String, Access)>,
}

impl Identity {
    /// The server has no certificate: whoever reaches the port may do everything.
    pub(crate) fn unsecured() -> Identity {
        Identity { everywhere: Access::Operator, databases: Vec::new() }
    }

    /// A user of some databases and of no others.
    #[cfg(test)]
    pub(crate) fn user(databases: &[(&str, Access)]) -> Identity {
        let databases = databases.iter().map(|(name, access)| ((*name).to_owned(), *access)).collect();
        Identity { everywhere: Access::ValidUser, databases }
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
/// [`Error::Forbidden`]
pub(crate) fn check(identity: &Identity, needed: Access, database: Option<&str>) -> Result<()> {
    let granted = database.map_or(identity.everywhere, |database| identity.access_to(database));
    if granted >= needed {
        return Ok(());
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
    use Access::{Admin, Anyone, Operator, Read, ReadWrite, ValidUser};

    const ALL: [Access; 6] = [Anyone, ValidUser, Read, ReadWrite, Admin, Operator];

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
        check_highest(&identity, None, Operator);
        check_highest(&identity, Some("x"), Operator);
        assert!(identity.sees("x") && identity.administers("x"));
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
    fn a_refusal_says_what_is_needed() {
        let identity = Identity::user(&[("shop", Read)]);
        let message = |needed, database| check(&identity, needed, database).unwrap_err().message();
        let expected = "This needs the access 'read and write' to the database 'Shop'; the connection has 'read'";
        assert_eq!(message(ReadWrite, Some("Shop")), expected);
        assert_eq!(message(Operator, None), "This needs the access 'operator'; the connection has 'any user'");
    }
}
