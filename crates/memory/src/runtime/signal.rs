//! A value that tasks wait for.
//!
//! Owns: waking waiters in the order in which they came, so that a repeated run behaves the same; tokio's `watch` wakes
//! them in random order. Never: the meaning of a value.

use std::pin::pin;

use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Signal<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T: Clone> Signal<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            changed: Notify::new(),
        }
    }

    pub(crate) fn get(&self) -> T {
        self.value.lock().clone()
    }

    pub(crate) fn set(&self, value: T) {
        *self.value.lock() = value;
        self.changed.notify_waiters();
    }

    /// Changes the value if `change` returns true; returns whether it did.
    pub(crate) fn set_if(&self, change: impl FnOnce(&mut T) -> bool) -> bool {
        let is_changed = change(&mut self.value.lock());
        if is_changed {
            self.changed.notify_waiters();
        }
        is_changed
    }

    /// Waits until `is_it` accepts the value.
    pub(crate) async fn wait_for(&self, is_it: impl Fn(&T) -> bool) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            let value = self.get();
            if is_it(&value) {
                return value;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn waiters_are_woken_in_the_order_of_their_arrival() {
        let (signal, woken) = (Arc::new(Signal::new(0)), Arc::new(Mutex::new(Vec::new())));
        let waiting = (0..20).map(|number| {
            let (signal, woken) = (signal.clone(), woken.clone());
            async move {
                signal.wait_for(|value| *value > 0).await;
                woken.lock().push(number);
            }
        });
        tokio::join!(join_all(waiting), async { signal.set(1) });
        assert_eq!(*woken.lock(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn waiting_returns_at_once_for_a_matching_value_and_else_after_a_change() {
        let signal = Signal::new(1);
        assert_eq!(signal.wait_for(|value| *value == 1).await, 1);
        assert!(!signal.set_if(|_| false));
        let (value, _) = tokio::join!(signal.wait_for(|value| *value == 3), async {
            signal.set(2);
            tokio::task::yield_now().await;
            signal.set_if(|value| {
                *value += 1;
                true
            })
        });
        assert_eq!(value, 3);
    }
}
