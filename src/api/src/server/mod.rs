//! The server: listeners, workers, a stop that lets requests finish.

mod length;
mod trace;

pub use length::BAD_LENGTH;
pub(crate) use trace::RequestSpan;

use crate::{app, state::Shared};
use actix_http::HttpService;
use actix_server::Server;
use actix_service::{ServiceFactoryExt, fn_service, map_config};
use actix_web::{dev::AppConfig, rt::net::TcpStream, web::Data};
use length::LengthGuard;
use std::{io, net::TcpListener, time::Duration};

/// How long requests in flight may take after a stop.
const SHUTDOWN_SECONDS: u64 = 30;
/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Starts serving on listeners that are bound already. The returned server is
/// a future: it runs once it is awaited or spawned, and ends after
/// `server.handle().stop(true)`. Signals are left to the caller.
///
/// # Errors
/// When a listener cannot be made ready, or a policy file or an account with
/// Keystone cannot be used (kind `InvalidInput`).
pub fn serve(state: crate::ApiState, listeners: Vec<TcpListener>) -> io::Result<Server> {
    let workers = state.settings.load().api.workers;
    let shared =
        Shared::new(state).map_err(|fault| io::Error::new(io::ErrorKind::InvalidInput, fault))?;
    let shared = Data::new(shared);
    let mut builder = Server::build().disable_signals().shutdown_timeout(SHUTDOWN_SECONDS);
    if let Some(workers) = workers {
        builder = builder.workers(usize::try_from(workers).unwrap_or(1));
    }
    for listener in listeners {
        let shared = shared.clone();
        let stopping = builder.graceful_shutdown_signal();
        builder = builder.listen("http", listener, move || {
            let app = map_config(app::app(shared.clone()), |()| AppConfig::default());
            // Connections that wait for a next request do not hold up a stop.
            let stopping = stopping.clone();
            let http = HttpService::build()
                .keep_alive(KEEP_ALIVE)
                .graceful_shutdown_signal(move || {
                    let stopping = stopping.clone();
                    async move { stopping.notified().await }
                })
                .h1(app);
            fn_service(|stream: TcpStream| async move {
                let peer = stream.peer_addr().ok();
                Ok((LengthGuard::new(stream), peer))
            })
            .and_then(http)
        })?;
    }
    Ok(builder.run())
}
