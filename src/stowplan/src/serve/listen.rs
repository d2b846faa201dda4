//! The address that is served: taken at once, so that a conflict shows before
//! a long loading, and opened when all is ready, so that nobody waits at it.

use anyhow::{Context as _, anyhow};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use stowplan_config::Api;
use tokio::net::TcpSocket;

/// Connections that may wait to be taken.
const BACKLOG: u32 = 2048;

/// Addresses that are ours but take no connections yet.
#[derive(Debug)]
pub struct Bound {
    sockets: Vec<TcpSocket>,
}

impl Bound {
    /// Takes every address that `[api] bind_host` stands for.
    pub fn take(options: &Api) -> anyhow::Result<Self> {
        let name = format!("{}:{}", options.bind_host, options.bind_port);
        let mut port = options.bind_port;
        let mut sockets = Vec::new();
        let resolved = (options.bind_host.as_str(), port).to_socket_addrs();
        for mut address in resolved.with_context(|| format!("[api] bind_host: {name}"))? {
            // A free port is chosen once and then meant for all of them.
            address.set_port(port);
            let socket = bind(address).with_context(|| format!("cannot listen on {address}"))?;
            port = socket.local_addr()?.port();
            sockets.push(socket);
        }
        if sockets.is_empty() {
            return Err(anyhow!("[api] bind_host: {name} stands for no address"));
        }
        Ok(Self { sockets })
    }

    /// Starts to take connections. To be called inside a tokio runtime.
    pub fn listen(self) -> anyhow::Result<Vec<TcpListener>> {
        let listen = |socket: TcpSocket| Ok(socket.listen(BACKLOG)?.into_std()?);
        self.sockets.into_iter().map(listen).collect()
    }
}

fn bind(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // An address whose last connections are just fading is free to us.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// The URL under which a listener is reached.
pub fn url(listeners: &[TcpListener]) -> anyhow::Result<String> {
    let first = listeners.first().ok_or_else(|| anyhow!("there is nothing to listen on"))?;
    Ok(format!("http://{}", first.local_addr()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn at(host: &str, port: u16) -> Api {
        Api { bind_host: host.to_owned(), bind_port: port, ..Api::default() }
    }

    #[tokio::test]
    async fn an_address_in_use_is_named_before_anything_is_loaded() {
        let listeners = Bound::take(&at("127.0.0.1", 0)).unwrap().listen().unwrap();
        let port = listeners[0].local_addr().unwrap().port();
        let error = Bound::take(&at("127.0.0.1", port)).unwrap_err();
        assert!(format!("{error:#}").contains(&format!("cannot listen on 127.0.0.1:{port}")));
        assert_eq!(url(&listeners).unwrap(), format!("http://127.0.0.1:{port}"));
    }

    #[test]
    fn a_host_that_is_none_is_named() {
        let error = Bound::take(&at("no.such.host.invalid", 1)).unwrap_err();
        assert!(format!("{error:#}").contains("no.such.host.invalid:1"));
    }
}
