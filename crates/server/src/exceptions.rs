//! Names of RavenDB's exceptions: a client makes the exception of it that an error names.

pub(crate) const ARGUMENT: &str = "System.ArgumentException";
pub(crate) const BAD_REQUEST: &str = "Raven.Client.Exceptions.BadRequestException";
pub(crate) const INVALID_OPERATION: &str = "System.InvalidOperationException";
pub(crate) const INVALID_DATA: &str = "System.IO.InvalidDataException";
pub(crate) const END_OF_STREAM: &str = "System.IO.EndOfStreamException";
pub(crate) const RAVEN_TIMEOUT: &str = "Raven.Client.Exceptions.RavenTimeoutException";
pub(crate) const NOT_SUPPORTED: &str = "Raven.Client.Exceptions.RavenException";
pub(crate) const COLLECTION_MISMATCH: &str = "Raven.Client.Exceptions.Documents.DocumentCollectionMismatchException";
pub(crate) const COUNTER_OVERFLOW: &str = "Raven.Client.Exceptions.Documents.Counters.CounterOverflowException";
pub(crate) const NO_SUBSCRIPTION: &str =
    "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionDoesNotExistException";
pub(crate) const NO_REVISIONS: &str =
    "Raven.Client.Exceptions.Documents.Subscriptions.SubscriptionInvalidStateException";
pub(crate) const CONCURRENCY: &str = "Raven.Client.Exceptions.ConcurrencyException";
pub(crate) const TRANSACTION_CONCURRENCY: &str = "Raven.Client.Exceptions.ClusterTransactionConcurrencyException";
