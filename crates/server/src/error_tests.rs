//! Statuses and causes of errors, and what a client learns of a write that failed.

use super::*;

#[track_caller]
fn check(error: impl Into<Error>, status: u16, expected: Cause) {
    let error = error.into();
    assert_eq!((error.status().as_u16(), error.cause()), (status, expected), "{error}");
    assert_eq!(Cause::of(&error.reply("/x")), expected);
}

#[test]
fn a_mistake_of_the_client_is_its_own_whatever_the_status() {
    check(Error::not_supported("x"), 501, Cause::Request);
    check(database::Error::Disabled { name: "x".to_owned() }, 503, Cause::Request);
    check(database::Error::Canceled, 500, Cause::Request);
    check(Error::QueryEnded, 500, Cause::Request);
    check(Error::Argument("x".to_owned()), 400, Cause::Request);
    check(database::Error::Missing { name: "x".to_owned() }, 400, Cause::Request);
}

#[test]
fn faults_and_overload_are_those_of_the_server() {
    check(Error::Panicked("x".to_owned()), 500, Cause::Server);
    check(Error::NotOpened, 503, Cause::Server);
    check(storage::Error::Closed, 503, Cause::Server);
    check(query::index::Error::Bug, 500, Cause::Server);
    check(database::Error::Corrupt { rule: "x" }, 500, Cause::Server);
}

#[test]
fn a_write_that_waited_for_a_compaction_is_known_not_to_be_applied_and_may_be_tried_again() {
    let (name, wait) = ("shop".to_owned(), std::time::Duration::from_secs(30));
    let error = Error::from(database::Error::Compacting { name, wait });
    let reply = error.reply_to("/x", Some(Write::OneTransaction));
    assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(reply.headers().contains_key(RETRY_AFTER) && error.is_known_not_applied(Write::OneTransaction));
    assert!(error.message().contains("waited for 30 seconds, which is the limit compaction_write_wait"));
    let room = database::Error::NoRoom { what: "the documents".to_owned(), needed: 2, free: 1, folder: "/x".into() };
    check(room, 507, Cause::Server);
}
