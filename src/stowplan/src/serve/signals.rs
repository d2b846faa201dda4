//! Signals, as orders to the service.

use super::{Order, notify};
use std::io;
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

/// The system's number for a file that grows beyond the limit of the process.
const SIGXFSZ: i32 = 25;

/// Listens from now on. The orders come out of the channel, into which others
/// may be put too.
pub fn listen(
    background: &Handle,
) -> io::Result<(UnboundedSender<Order>, UnboundedReceiver<Order>)> {
    let _inside = background.enter();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // A file that may grow no further would end the process without a word;
    // heard of, it is an error of the write, which is answered and told.
    let mut file_size = signal(SignalKind::from_raw(SIGXFSZ))?;
    let (orders, taken) = unbounded_channel();
    let others = orders.clone();
    background.spawn(async move {
        loop {
            let (name, order) = tokio::select! {
                _ = terminate.recv() => ("SIGTERM", Order::Stop),
                _ = interrupt.recv() => ("SIGINT", Order::Stop),
                _ = hangup.recv() => ("SIGHUP", Order::Reload),
                _ = file_size.recv() => {
                    tracing::error!("a file may not grow any more: its size is limited (ulimit -f)");
                    continue;
                }
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
