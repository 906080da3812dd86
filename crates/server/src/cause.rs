//! Whose fault a failed answer is, whatever its status: the client's request, or the server.
//!
//! Statuses do not say it: a missing feature is 501, a disabled database 503, a query that runs for too long 500, and none of them is
//! a fault to wake an operator for. `/metrics` counts both apart, and the studio's "Server errors" counts those of the server alone.

use hyper::StatusCode;

use database::queries::QueryError;
use database::{Error as DatabaseError, script};
use query::execute::ScriptFailure;

use crate::error::Error;
use crate::reply::Reply;

/// The cause of a failed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The request: it is wrong, asks for what is missing, for more than a limit allows, or was ended by its client or an operator.
    Request,
    /// The server: it is damaged, overloaded, out of room, too slow, or has a bug.
    Server,
}

impl Cause {
    /// What metrics and log call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cause::Request => "request",
            Cause::Server => "server",
        }
    }

    /// The cause that a status has unless something more is known.
    fn of_status(status: StatusCode) -> Cause {
        if status.is_server_error() { Cause::Server } else { Cause::Request }
    }

    /// The cause of an answer that failed: the one that its error noted, or that of its status.
    pub(crate) fn of(reply: &Reply) -> Cause {
        reply.extensions().get::<Cause>().copied().unwrap_or_else(|| Cause::of_status(reply.status()))
    }

    /// The cause of an error.
    pub(crate) fn of_error(error: &Error) -> Cause {
        use database::documents::Error as D;
        use query::index::Error as I;
        match error {
            Error::BulkInsert { cause, .. } => Cause::of_error(cause),
            Error::MissingFeature(_) | Error::NotSupported { .. } => Cause::Request,
            // Indexes are behind.
            Error::NotIndexed { .. } => Cause::Server,
            Error::Database(
                DatabaseError::Disabled { .. }
                | DatabaseError::InsideOfAnother { .. }
                | DatabaseError::NotSupported(_)
                | DatabaseError::Canceled
                | DatabaseError::Script { error: script::Error::Stopped | script::Error::NotSupported { .. }, .. }
                | DatabaseError::Documents(D::NotSupported(_))
                | DatabaseError::Index(I::Interrupted),
            ) => Cause::Request,
            Error::Database(DatabaseError::Query(error)) if is_of_query(error) => Cause::Request,
            _ => Cause::of_status(error.status()),
        }
    }
}

/// True if a query failed for what it asks for.
fn is_of_query(error: &QueryError) -> bool {
    matches!(
        error,
        QueryError::NotSupported { .. }
            | QueryError::Timeout { .. }
            | QueryError::Script(ScriptFailure::Script(script::Error::Stopped | script::Error::NotSupported { .. }))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl Into<Error>, status: u16, expected: Cause) {
        let error = error.into();
        assert_eq!((error.status().as_u16(), Cause::of_error(&error)), (status, expected), "{error}");
        assert_eq!(Cause::of(&error.reply("/x")), expected);
    }

    #[test]
    fn a_mistake_of_the_client_is_its_own_whatever_the_status() {
        check(Error::not_supported("x"), 501, Cause::Request);
        check(DatabaseError::Disabled { name: "x".to_owned() }, 503, Cause::Request);
        check(DatabaseError::Canceled, 500, Cause::Request);
        check(Error::Argument("x".to_owned()), 400, Cause::Request);
        check(DatabaseError::Missing { name: "x".to_owned() }, 400, Cause::Request);
    }

    #[test]
    fn faults_and_overload_are_those_of_the_server() {
        check(Error::Panicked("x".to_owned()), 500, Cause::Server);
        check(Error::NotOpened, 503, Cause::Server);
        check(storage::Error::Closed, 503, Cause::Server);
        check(query::index::Error::Bug, 500, Cause::Server);
        check(DatabaseError::Corrupt { rule: "x" }, 500, Cause::Server);
    }

    #[test]
    fn an_answer_without_an_error_has_the_cause_of_its_status() {
        assert_eq!(Cause::of(&crate::reply::empty(StatusCode::NOT_FOUND)), Cause::Request);
        assert_eq!(Cause::of(&crate::reply::empty(StatusCode::SERVICE_UNAVAILABLE)), Cause::Server);
    }
}
