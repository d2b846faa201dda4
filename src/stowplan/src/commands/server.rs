//! A running server that a command asks.

use crate::{exit::Fault, http::Client};
use clap::Args;

/// Where the server is.
#[derive(Debug, Args)]
pub struct Server {
    /// Where the server is.
    #[arg(long, default_value = "http://127.0.0.1:8778")]
    url: String,
    /// The token that it accepts.
    #[arg(long, default_value = "admin")]
    token: String,
}

impl Server {
    /// A client of it.
    pub fn client(&self) -> Result<Client, Fault> {
        Client::new(&self.url, &self.token).map_err(Fault::Usage)
    }
}
