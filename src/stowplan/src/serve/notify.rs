//! Word to the service manager (sd_notify(3)), if one listens.

use std::os::unix::net::UnixDatagram;

/// All is loaded and requests are served.
pub fn ready() {
    tell("READY=1");
}

/// The service is about to end.
pub fn stopping() {
    tell("STOPPING=1");
}

/// A manager names its socket in the environment. That nobody hears us is no
/// reason to stop.
fn tell(message: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to(message.as_bytes(), path));
    if let Err(error) = sent {
        tracing::warn!(%error, "the service manager was not told {message}");
    }
}
