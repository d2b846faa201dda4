//! Signals, as orders to the service.

use super::{Order, notify};
use std::io;
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

/// Listens from now on. The orders come out of the channel, into which others
/// may be put too.
pub fn listen(
    background: &Handle,
) -> io::Result<(UnboundedSender<Order>, UnboundedReceiver<Order>)> {
    let _inside = background.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (orders, taken) = unbounded_channel();
    let others = orders.clone();
    background.spawn(async move {
        loop {
            let (name, order) = tokio::select! {
                _ = terminate.recv() => ("SIGTERM", Order::Stop),
                _ = interrupt.recv() => ("SIGINT", Order::Stop),
                _ = hangup.recv() => ("SIGHUP", Order::Reload),
            };
            tracing::info!(signal = name, "signal received");
            if order == Order::Stop {
                notify::stopping();
            }
            if orders.send(order).is_err() {
                return;
            }
        }
    });
    Ok((others, taken))
}
