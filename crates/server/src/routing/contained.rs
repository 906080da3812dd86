//! Panics of handlers: they end a request, not the connection.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Result, panicked};

/// A future whose panics end the request, not the connection.
pub(crate) struct Contained<T>(pub(crate) Pin<Box<dyn Future<Output = Result<T>> + Send>>);

impl<T> Future for Contained<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = &mut self.get_mut().0;
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)))
            .unwrap_or_else(|panic| Poll::Ready(Err(panicked(&*panic))))
    }
}
