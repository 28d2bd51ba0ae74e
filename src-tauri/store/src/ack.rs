//! The promise that a write was made.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
};

use tokio::sync::oneshot;

use crate::StoreError;

/// Resolves once the write is committed, or it is known that it cannot be now. Dropping it does not cancel
/// the write.
#[must_use = "the write is made either way, but only the ack tells whether it was"]
pub struct Ack<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> Ack<T> {
    pub(crate) fn new() -> (oneshot::Sender<Result<T, StoreError>>, Ack<T>) {
        let (sender, receiver) = oneshot::channel();
        (sender, Ack(receiver))
    }

    /// Waits on this thread, which may be of any kind; inside an async task, await the ack instead.
    pub fn blocking_wait(self) -> Result<T, StoreError> {
        // Not `Receiver::blocking_recv`: that one panics on a thread of a runtime.
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut ack = pin!(self);
        loop {
            match ack.as_mut().poll(&mut context) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

impl<T> Future for Ack<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The sender is dropped unanswered only when the writer has gone.
        Pin::new(&mut self.0).poll(context).map(|outcome| outcome.unwrap_or(Err(StoreError::Closed)))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
