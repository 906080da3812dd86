//! Whose fault a failed answer is, whatever its status: the client's request, or the server.
//!
//! Statuses do not say it: a missing feature is 501, a disabled database 503, a query that runs for too long 500, and none of them is
//! a fault to wake an operator for. `/metrics` counts both apart, and the studio's "Server errors" counts those of the server alone.

use hyper::StatusCode;

use crate::messages::reply::Reply;

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
    pub(crate) fn of_status(status: StatusCode) -> Cause {
        if status.is_server_error() { Cause::Server } else { Cause::Request }
    }

    /// The cause of an answer that failed: the one that its error noted, or that of its status.
    pub(crate) fn of(reply: &Reply) -> Cause {
        reply.extensions().get::<Cause>().copied().unwrap_or_else(|| Cause::of_status(reply.status()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_an_error_has_the_cause_of_its_status() {
        assert_eq!(Cause::of(&crate::messages::reply::empty(StatusCode::NOT_FOUND)), Cause::Request);
        assert_eq!(Cause::of(&crate::messages::reply::empty(StatusCode::SERVICE_UNAVAILABLE)), Cause::Server);
    }
}
