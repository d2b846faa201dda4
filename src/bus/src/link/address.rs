//! Brokers in the words of the AMQP library.

use std::fs;
use std::path::PathBuf;

use lapin::tcp::{OwnedIdentity, OwnedTLSConfig};
use lapin::uri::{
    AMQPAuthority, AMQPQueryString, AMQPScheme, AMQPUri, AMQPUserInfo, SASLMechanism,
};
use stowplan_config::{Broker, LoginMethod, Rabbit, TransportUrl};
use thiserror::Error;

/// A file of TLS that cannot be read.
#[derive(Debug, Error)]
#[error("[oslo_messaging_rabbit] {option} {}: {problem}", path.display())]
pub struct UnreadableFile {
    option: &'static str,
    path: PathBuf,
    problem: std::io::Error,
}

/// The address of a broker.
pub(super) fn uri(url: &TransportUrl, broker: &Broker, options: &Rabbit) -> AMQPUri {
    let heartbeat = u16::try_from(options.heartbeat_timeout_threshold).unwrap_or(u16::MAX);
    AMQPUri {
        scheme: if options.ssl { AMQPScheme::AMQPS } else { AMQPScheme::AMQP },
        authority: AMQPAuthority {
            userinfo: AMQPUserInfo {
                username: broker.user.clone(),
                password: broker.password.clone(),
            },
            host: broker.host.clone(),
            port: broker.port,
        },
        vhost: url.vhost.clone(),
        query: AMQPQueryString {
            frame_max: None,
            channel_max: None,
            heartbeat: Some(heartbeat),
            connection_timeout: None,
            auth_mechanism: Some(match options.rabbit_login_method {
                LoginMethod::Plain => SASLMechanism::Plain,
                LoginMethod::Amqplain => SASLMechanism::AMQPlain,
                LoginMethod::External => SASLMechanism::External,
            }),
        },
    }
}

/// What TLS is spoken with. The files are read anew for each connection, so that
/// a renewed certificate is taken up.
pub(super) fn tls(options: &Rabbit) -> Result<OwnedTLSConfig, UnreadableFile> {
    let mut config = OwnedTLSConfig::default();
    if !options.ssl {
        return Ok(config);
    }
    if let Some(path) = &options.ssl_ca_file {
        let bytes = read("ssl_ca_file", path)?;
        config.cert_chain = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    if let (Some(cert), Some(key)) = (&options.ssl_cert_file, &options.ssl_key_file) {
        config.identity = Some(OwnedIdentity::PKCS8 {
            pem: read("ssl_cert_file", cert)?,
            key: read("ssl_key_file", key)?,
        });
    }
    Ok(config)
}

fn read(option: &'static str, path: &PathBuf) -> Result<Vec<u8>, UnreadableFile> {
    fs::read(path).map_err(|problem| UnreadableFile { option, path: path.clone(), problem })
}
