//! `/traits`, and the traits of a provider.

use super::{
    call::{Answer, Call, parse, provider_uuid},
    document::ProviderTraitsBody,
    fields::{int_of, items},
    operations::{
        DeleteProviderTraits, DeleteTrait, ListProviderTraits, ListTraits, PutTrait,
        SetProviderTraits, ShowTrait,
    },
    path::Part,
    schemas::{PROVIDER_TRAITS, TRAIT_QUERY},
    view::{ProviderTraits, Traits},
};
use crate::{body::Body, failure::Failure, query::Query};
use actix_web::{HttpRequest, http::StatusCode};
use serde_json::Value;
use stowplan_ledger::Image;
use stowplan_model::{
    Micros,
    names::{MAX_NAME, is_custom},
};
use stowplan_placement::{
    PlacementError,
    membership::{delete_traits, set_traits},
    names::{Ensured, delete_trait, ensure_trait, provider, trait_in_use},
};

/// Which traits a list holds.
enum Named<'q> {
    All,
    In(Vec<&'q str>),
    Prefix(&'q str),
}

impl<'q> Named<'q> {
    /// The value of `name`: `in:A,B` or `startswith:PREFIX`.
    fn parse(text: Option<&'q str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self::All) };
        match text.split_once(':') {
            Some(("in", names)) => Ok(Self::In(names.split(',').collect())),
            Some(("startswith", prefix)) => Ok(Self::Prefix(prefix)),
            Some(_) => Ok(Self::All),
            None => Err(Failure::bad_request(format!(
                "Badly formatted name parameter. Expected name query string parameter in form: \
                 ?name=[in|startswith]:[name1,name2|prefix]. Got: \"{text}\""
            ))),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::In(names) => names.contains(&name),
            Self::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

fn associated(text: Option<&str>) -> Result<Option<bool>, Failure> {
    match text.map(str::to_ascii_lowercase).as_deref() {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(Failure::bad_request(
            "The query parameter \"associated\" only accepts \"true\" or \"false\"",
        )),
    }
}

/// When the youngest of these traits last changed.
fn modified<'a>(image: &Image, names: impl Iterator<Item = &'a str>) -> Option<Micros> {
    names.filter_map(|name| image.traits.get(name)).map(|row| row.updated).max()
}

/// Lists traits.
#[utoipa::path(get, path = "/traits", tag = "traits",
    params(
        ("name" = Option<String>, Query, description = "`in:A,B` or `startswith:PREFIX`."),
        ("associated" = Option<bool>, Query, description = "Whether some provider has the trait."),
    ),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses((status = 200, description = "The traits.", body = Traits<'static>)))]
pub async fn list(call: Call<ListTraits>, request: HttpRequest) -> Answer {
    let query = Query::parse(request.query_string())?;
    query.check(&TRAIT_QUERY)?;
    let named = Named::parse(query.last("name"))?;
    let associated = associated(query.last("associated"))?;
    let image = call.image();
    let in_use = |name: &str| image.traits.ix(name).is_some_and(|ix| trait_in_use(&image, ix));
    let names = image.traits.iter().map(|row| row.name.as_str());
    let traits: Vec<&str> = names
        .filter(|name| named.has(name) && associated.is_none_or(|want| in_use(name) == want))
        .collect();
    let modified = modified(&image, traits.iter().copied()).unwrap_or_else(|| call.now());
    call.json(&Traits { traits }, modified)
}

/// Checks that a trait exists.
#[utoipa::path(get, path = "/traits/{name}", tag = "traits",
    params(("name" = String, Path, description = "The trait.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses(
        (status = 204, description = "It exists."),
        (status = 404, description = "There is no such trait."),
    ))]
pub async fn show(call: Call<ShowTrait>, Part(name): Part) -> Answer {
    let image = call.image();
    let row = image.traits.get(&name);
    let row = row.ok_or_else(|| PlacementError::TraitNotFound { names: name.clone() })?;
    call.bare(StatusCode::NO_CONTENT, None, Some(row.created))
}

/// Makes sure that a trait of one's own exists.
#[utoipa::path(put, path = "/traits/{name}", tag = "traits",
    params(("name" = String, Path, description = "The trait: `CUSTOM_` and capital letters, digits, underscores.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses(
        (status = 201, description = "It was created.", headers(("Location" = String))),
        (status = 204, description = "It exists."),
    ))]
pub async fn put(call: Call<PutTrait>, Part(name): Part) -> Answer {
    if !is_custom(&name) {
        return Err(Failure::bad_request(format!(
            "The trait is invalid. A valid trait must be no longer than {MAX_NAME} characters, \
             start with the prefix \"CUSTOM_\" and use following characters: \"A\"-\"Z\", \
             \"0\"-\"9\" and \"_\""
        )));
    }
    let location = format!("{}/traits/{name}", call.base());
    let proposed = name.clone();
    let ensured = call.write(move |image, now| Ok(ensure_trait(image, &proposed, now))).await?;
    let status = match ensured {
        Ensured::Created => StatusCode::CREATED,
        Ensured::Existed => StatusCode::NO_CONTENT,
    };
    let created = call.image().traits.get(&name).map(|row| row.created);
    call.bare(status, Some(location), Some(created.unwrap_or_else(|| call.now())))
}

/// Deletes a trait that no provider has.
#[utoipa::path(delete, path = "/traits/{name}", tag = "traits",
    params(("name" = String, Path, description = "The trait.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses(
        (status = 204, description = "It is gone."),
        (status = 400, description = "It is a standard trait."),
        (status = 404, description = "There is no such trait."),
        (status = 409, description = "It is in use."),
    ))]
pub async fn delete(call: Call<DeleteTrait>, Part(name): Part) -> Answer {
    call.write(move |image, _| delete_trait(image, &name)).await?;
    call.done()
}

/// Lists the traits of a provider.
#[utoipa::path(get, path = "/resource_providers/{uuid}/traits", tag = "traits",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses(
        (status = 200, description = "The traits.", body = ProviderTraits<'static>),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn of_provider(call: Call<ListProviderTraits>, Part(uuid): Part) -> Answer {
    let image = call.image();
    let at = provider(&image, provider_uuid(&uuid)?)?;
    let numbers = image.providers.get(at).map(|provider| provider.traits.clone());
    let numbers = numbers.unwrap_or_default();
    let updated = numbers.iter().filter_map(|&name| image.traits.row(name)).map(|row| row.updated);
    let modified = updated.max().unwrap_or_else(|| call.now());
    let generation = image.providers.generation(at);
    call.json(&ProviderTraits::new(&image, &numbers, generation), modified)
}

/// Replaces the traits of a provider.
#[utoipa::path(put, path = "/resource_providers/{uuid}/traits", tag = "traits",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    request_body(content = ProviderTraitsBody),
    responses(
        (status = 200, description = "The traits.", body = ProviderTraits<'static>),
        (status = 404, description = "There is no such provider."),
        (status = 409, description = "The generation has moved on."),
    ))]
pub async fn set_of_provider(
    call: Call<SetProviderTraits>,
    Part(text): Part,
    Body(body): Body,
) -> Answer {
    let data = parse(&body, &PROVIDER_TRAITS)?;
    let uuid = provider_uuid(&text)?;
    let given = int_of(&data, "resource_provider_generation").unwrap_or_default();
    let names = items(data.get("traits")).iter().filter_map(Value::as_str);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let written = call.write(move |image, _| set_traits(image, uuid, given, &names)).await?;
    let modified = modified(&call.image(), written.traits.iter().map(String::as_str));
    let view = ProviderTraits::named(&written.traits, written.generation);
    call.json(&view, modified.unwrap_or_else(|| call.now()))
}

/// Takes all traits off a provider.
#[utoipa::path(delete, path = "/resource_providers/{uuid}/traits", tag = "traits",
    params(("uuid" = Uuid, Path, description = "The provider.")),
    extensions(("x-openstack" = json!({"min-ver": "1.6"}))),
    responses(
        (status = 204, description = "They are gone."),
        (status = 404, description = "There is no such provider."),
    ))]
pub async fn delete_of_provider(call: Call<DeleteProviderTraits>, Part(text): Part) -> Answer {
    let uuid = provider_uuid(&text)?;
    call.write(move |image, _| delete_traits(image, uuid)).await?;
    call.done()
}
