//! Database addresses in the form of SQLAlchemy.

use super::{load, warnings};
use crate::{Backend, DatabaseUrl};

#[test]
fn addresses_are_rewritten_for_the_driver() {
    let cases = [
        ("sqlite:////var/lib/s.db", Backend::Sqlite, "sqlite:///var/lib/s.db?mode=rwc"),
        ("sqlite:///rel/s.db", Backend::Sqlite, "sqlite://rel/s.db?mode=rwc"),
        ("sqlite+pysqlite:///a b%.db", Backend::Sqlite, "sqlite://a%20b%25.db?mode=rwc"),
        ("sqlite://", Backend::Sqlite, "sqlite::memory:"),
        ("sqlite:///:memory:", Backend::Sqlite, "sqlite::memory:"),
        ("mysql+pymysql://u:p@h/d?charset=utf8", Backend::Mysql, "mysql://u:p@h/d"),
        ("mariadb://u@[::1]:3307/d", Backend::Mysql, "mysql://u@[::1]:3307/d"),
        ("mysql://u:a%40b/c:d@h:1/d", Backend::Mysql, "mysql://u:a%40b%2Fc%3Ad@h:1/d"),
        (
            "mysql+mysqldb:///d?unix_socket=/run/m.sock",
            Backend::Mysql,
            "mysql://localhost/d?socket=%2Frun%2Fm.sock",
        ),
        (
            "mysql+pymysql://h/d?ssl_ca=/ca.pem",
            Backend::Mysql,
            "mysql://h/d?ssl-ca=%2Fca.pem&ssl-mode=VERIFY_CA",
        ),
        (
            "mysql+pymysql://h/d?ssl_ca=/c&ssl_verify_identity=true",
            Backend::Mysql,
            "mysql://h/d?ssl-ca=%2Fc&ssl-mode=VERIFY_IDENTITY",
        ),
        (
            "mysql+pymysql://h/d?ssl_mode=REQUIRED&ssl_ca=/c",
            Backend::Mysql,
            "mysql://h/d?ssl-mode=REQUIRED&ssl-ca=%2Fc",
        ),
        (
            "postgresql+psycopg2://u:p@h:5433/d?sslmode=require&client_encoding=utf8",
            Backend::Postgres,
            "postgres://u:p@h:5433/d?sslmode=require",
        ),
        (
            "postgresql://u@/d?host=/run/pg",
            Backend::Postgres,
            "postgres://u@localhost/d?host=%2Frun%2Fpg",
        ),
    ];
    for (written, backend, url) in cases {
        let read: DatabaseUrl = written.parse().unwrap();
        assert_eq!((read.backend, read.sqlx_url.as_str()), (backend, url), "{written}");
    }
}

#[test]
fn wrong_addresses_are_refused() {
    for (written, expected) in [
        ("", "a database URL such as"),
        ("oracle://h/d", "a database URL such as"),
        ("stowplan.db", "a database URL such as"),
        ("sqlite://stowplan.db", "three slashes"),
        ("sqlite:///file:x?mode=ro", "not a file: address"),
        ("mysql://h:99999/d", "a port from 0 to 65535"),
        ("mysql://h", "the name of the database"),
    ] {
        let problem = written.parse::<DatabaseUrl>().unwrap_err();
        assert!(problem.expected.contains(expected), "{written}: {problem}");
    }
}

#[test]
fn parameters_without_effect_are_warned_of() {
    let loaded =
        load("[placement_database]\nconnection = mysql://h/d?read_timeout=3&charset=utf8mb4\n");
    assert_eq!(
        warnings(&loaded.unwrap()),
        ["s.conf:2: [placement_database] connection: parameter read_timeout of the database URL \
          has no effect"]
    );
}

#[test]
fn passwords_are_not_shown() {
    for (written, shown) in [
        ("mysql+pymysql://u:p:a/ss@h/d", "mysql+pymysql://u:***@h/d"),
        (
            "postgresql://u@h/d?password=x&sslmode=require",
            "postgresql://u@h/d?password=***&sslmode=require",
        ),
        ("sqlite:///x.db", "sqlite:///x.db"),
    ] {
        let url: DatabaseUrl = written.parse().unwrap();
        assert_eq!(url.redacted(), shown);
        assert_eq!(url.to_string(), shown);
        assert_eq!(format!("{url:?}"), format!("DatabaseUrl({shown})"));
    }
    let hosts = "rabbit://u:a,b@h1:5672,v:c:d@h2:5672/vh";
    assert_eq!(crate::redact::url_passwords(hosts), "rabbit://u:***@h1:5672,v:***@h2:5672/vh");
}

#[test]
fn parameters_of_an_option_of_their_own_are_added() {
    for (connection, parameters, url) in [
        ("mysql://h/d", "", "mysql://h/d"),
        ("mysql://h/d", "ssl_ca=/ca.pem", "mysql://h/d?ssl-ca=%2Fca.pem&ssl-mode=VERIFY_CA"),
        (
            "mysql://u:p@h/d?charset=utf8",
            "unix_socket=/run/m&ssl=true",
            "mysql://u:p@h/d?socket=%2Frun%2Fm&ssl-mode=REQUIRED",
        ),
        ("postgresql://h/d", " sslmode=require ", "postgres://h/d?sslmode=require"),
    ] {
        let text = format!(
            "[placement_database]\nconnection = {connection}\nconnection_parameters = {parameters}\n"
        );
        let loaded = load(&text).unwrap();
        assert_eq!(warnings(&loaded), [""; 0], "{text}");
        assert_eq!(loaded.settings.placement_database.connection.sqlx_url, url, "{text}");
    }
    let text = "[placement_database]\nconnection = mysql://h/d?x=1\nconnection_parameters = y=2\n";
    assert_eq!(
        warnings(&load(text).unwrap()),
        [
            "s.conf:2: [placement_database] connection: parameter x of the database URL has no \
             effect",
            "s.conf:3: [placement_database] connection_parameters: parameter y of the database URL \
             has no effect"
        ]
    );
}
