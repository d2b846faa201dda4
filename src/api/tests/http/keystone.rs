//! The door that Keystone keeps (`auth_strategy = keystone`), with a Keystone that
//! the test plays.

use crate::server::{Answer, Server};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::json;
use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use stowplan_config::{Settings, Sources};

/// A Keystone whose tokens say themselves whose they are: `PROJECT-ROLE`.
#[derive(Default)]
struct Keystone {
    logins: AtomicUsize,
    questions: AtomicUsize,
}

async fn log_in(
    state: web::Data<Arc<Keystone>>,
    body: web::Json<serde_json::Value>,
) -> HttpResponse {
    let user = &body["auth"]["identity"]["password"]["user"];
    if user["password"] != "s3cret" || user["domain"]["name"] != "Default" {
        return HttpResponse::Unauthorized().finish();
    }
    let serial = state.logins.fetch_add(1, Ordering::SeqCst);
    HttpResponse::Created()
        .insert_header(("X-Subject-Token", format!("ours-{serial}")))
        .json(json!({ "token": { "user": { "id": "placement" },
            "expires_at": "2100-01-01T00:00:00.000000Z", "catalog": [] } }))
}

async fn whose(state: web::Data<Arc<Keystone>>, request: HttpRequest) -> HttpResponse {
    let header = |name| request.headers().get(name).map(|value| value.to_str().unwrap());
    // The first token of the service is revoked behind its back.
    if header("x-auth-token") == Some("ours-0") {
        return HttpResponse::Unauthorized().finish();
    }
    state.questions.fetch_add(1, Ordering::SeqCst);
    actix_web::rt::time::sleep(Duration::from_millis(50)).await;
    let token = header("x-subject-token").unwrap();
    let late = request.query_string().contains("allow_expired=1");
    let (project, role) = match token {
        "broken" => return HttpResponse::InternalServerError().finish(),
        "late" if !late => return HttpResponse::NotFound().finish(),
        "late" => ("p", "reader"),
        token => match token.split_once('-') {
            Some(parts) => parts,
            None => return HttpResponse::NotFound().finish(),
        },
    };
    let expires = if token == "late" { "2020-01-01T00:00:00Z" } else { "2100-01-01T00:00:00Z" };
    HttpResponse::Ok().json(json!({ "token": {
        "user": { "id": "u", "domain": { "id": "d" } },
        "project": { "id": project, "domain": { "id": "pd" } },
        "roles": [{ "id": "1", "name": role }],
        "expires_at": expires,
    } }))
}

/// The stage: Keystone, and a server that asks it.
fn stage(change: &[&str]) -> (Server, Arc<Keystone>) {
    let keystone = Arc::new(Keystone::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let state = web::Data::new(keystone.clone());
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || {
                App::new()
                    .app_data(state.clone())
                    .route("/v3/auth/tokens", web::post().to(log_in))
                    .route("/v3/auth/tokens", web::get().to(whose))
            };
            HttpServer::new(app).workers(1).listen(listener).unwrap().run().await.unwrap();
        });
    });
    let mut sources = Sources::new().set("api.auth_strategy=keystone");
    for option in [
        &format!("auth_url=http://{address}"),
        "username=placement",
        "password=s3cret",
        "user_domain_name=Default",
        "www_authenticate_uri=http://keystone.example",
        "http_request_max_retries=0",
    ]
    .iter()
    .chain(change)
    {
        sources = sources.set(format!("keystone_authtoken.{option}"));
    }
    let settings = Settings::load(&sources).unwrap().settings;
    (Server::start(|own| *own = settings), keystone)
}

fn ask(server: &Server, headers: &[&str]) -> Answer {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    server.raw(format!(
        "GET /resource_providers HTTP/1.1\r\nHost: t\r\nConnection: close\r\n{lines}\r\n"
    ))
}

#[test]
fn a_good_token_opens_and_is_asked_about_once() {
    let (server, keystone) = stage(&[]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(ask(&server, &["X-Auth-Token: p-admin"]).status, 200);
            });
        }
    });
    assert_eq!(ask(&server, &["X-Auth-Token: p-Admin"]).status, 200, "roles know no case");
    assert_eq!(keystone.questions.load(Ordering::SeqCst), 2);
    assert_eq!(keystone.logins.load(Ordering::SeqCst), 2, "one for the token that was revoked");
    // What a caller says of itself counts for nothing.
    let headers = ["X-Auth-Token: p-nobody", "X-Roles: admin", "X-Project-Id: q"];
    assert_eq!(ask(&server, &headers).status, 403);
}

#[test]
fn without_a_good_token_callers_are_told_where_to_get_one() {
    let (server, _) = stage(&[]);
    for headers in [&[][..], &["X-Auth-Token: none"], &["X-Auth-Token:"], &["X-Auth-Token: late"]] {
        let answer = ask(&server, headers);
        assert_eq!(answer.status, 401, "{headers:?}");
        assert_eq!(
            answer.header("www-authenticate").unwrap(),
            "Keystone uri=\"http://keystone.example\""
        );
        assert_eq!(answer.json()["error"]["code"], 401);
        assert_eq!(answer.json()["error"]["title"], "Unauthorized");
    }
    let native = server.raw("GET /v1/hosts HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    assert_eq!(native.json()["type"], "/docs/errors#token-refused");
}

#[test]
fn a_service_may_stand_in_for_a_user_whose_token_has_run_out() {
    let (server, _) = stage(&[]);
    let with = |service: &str| {
        let header = format!("X-Service-Token: {service}");
        let answer = ask(&server, &["X-Auth-Token: late", &header]);
        (answer.status, ask(&server, &["X-Auth-Token: p-admin", &header]).status)
    };
    // A reader may not list providers; who is not known may do nothing.
    assert_eq!(with("service-service"), (403, 200));
    assert_eq!(with("service-member"), (401, 200));
    assert_eq!(with("none"), (401, 401));
    let (strict, _) = stage(&["service_token_roles_required=true"]);
    let headers = ["X-Auth-Token: p-admin", "X-Service-Token: service-member"];
    assert_eq!(ask(&strict, &headers).status, 401);
}

#[test]
fn a_keystone_that_is_away_is_no_fault_of_the_caller() {
    let (server, keystone) = stage(&[]);
    let answer = ask(&server, &["X-Auth-Token: broken"]);
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1".to_owned())));
    let asked = keystone.questions.load(Ordering::SeqCst);
    assert_eq!(ask(&server, &["X-Auth-Token: broken"]).status, 503);
    assert_eq!(keystone.questions.load(Ordering::SeqCst), asked + 1, "trouble is not remembered");
    let (strange, _) = stage(&["password=wrong"]);
    assert_eq!(ask(&strange, &["X-Auth-Token: p-admin"]).status, 503);
}
