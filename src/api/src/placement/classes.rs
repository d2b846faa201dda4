//! `/resource_classes`.

use super::{
    call::{Answer, Call, parse},
    document::ClassBody,
    fields::text_of,
    operations::{CreateClass, DeleteClass, ListClasses, ShowClass, UpdateClass},
    path::Part,
    schemas::{CLASS, CUSTOM_NAME},
    view::{Class, Classes},
};
use crate::{body::Body, failure::Failure, version::Feature};
use actix_web::http::StatusCode;
use serde_json::Value;
use stowplan_placement::{
    PlacementError,
    names::{Ensured, create_class, delete_class, ensure_class, rename_class},
};

fn location(base: &str, name: &str) -> String {
    format!("{base}/resource_classes/{name}")
}

/// Lists resource classes.
#[utoipa::path(get, path = "/resource_classes", tag = "resource classes",
    extensions(("x-openstack" = json!({"min-ver": "1.2"}))),
    responses((status = 200, description = "The classes.", body = Classes<'static>)))]
pub async fn list(call: Call<ListClasses>) -> Answer {
    let image = call.image();
    let modified = image.classes.iter().map(|row| row.updated).max();
    let modified = modified.unwrap_or_else(|| call.now());
    call.json(&Classes::new(&image.classes, &call.base()), modified)
}

/// Creates a resource class.
#[utoipa::path(post, path = "/resource_classes", tag = "resource classes",
    extensions(("x-openstack" = json!({"min-ver": "1.2"}))),
    request_body(content = ClassBody),
    responses(
        (status = 201, description = "It was created.", headers(("Location" = String))),
        (status = 409, description = "It exists."),
    ))]
pub async fn create(call: Call<CreateClass>, Body(body): Body) -> Answer {
    let data = parse(&body, &CLASS)?;
    let name = text_of(&data, "name").unwrap_or_default().to_owned();
    let location = location(&call.base(), &name);
    call.write(move |image, now| create_class(image, &name, now)).await?;
    call.bare(StatusCode::CREATED, Some(location), None)
}

/// Shows a resource class.
#[utoipa::path(get, path = "/resource_classes/{name}", tag = "resource classes",
    params(("name" = String, Path, description = "The class.")),
    extensions(("x-openstack" = json!({"min-ver": "1.2"}))),
    responses(
        (status = 200, description = "The class.", body = Class<'static>),
        (status = 404, description = "There is no such class."),
    ))]
pub async fn show(call: Call<ShowClass>, Part(name): Part) -> Answer {
    let image = call.image();
    let row = image.classes.get(&name);
    let row = row.ok_or_else(|| PlacementError::ClassNotFound { name: name.clone() })?;
    call.json(&Class::new(&row.name, &call.base()), row.updated)
}

/// Makes sure that a class exists; before 1.7: renames it.
#[utoipa::path(put, path = "/resource_classes/{name}", tag = "resource classes",
    params(("name" = String, Path, description = "The class.")),
    extensions(("x-openstack" = json!({"min-ver": "1.2"}))),
    request_body(content = Option<ClassBody>, description = "The new name, before 1.7 only."),
    responses(
        (status = 200, description = "It was renamed (before 1.7).", body = Class<'static>),
        (status = 201, description = "It was created (from 1.7 on).", headers(("Location" = String))),
        (status = 204, description = "It exists (from 1.7 on)."),
    ))]
pub async fn update(call: Call<UpdateClass>, Part(name): Part, Body(body): Body) -> Answer {
    if !call.version.has(Feature::BodilessClass) {
        return rename(call, name, &body).await;
    }
    CUSTOM_NAME
        .check(&Value::String(name.clone()))
        .map_err(|fault| Failure::bad_request(format!("JSON does not validate: {fault}")))?;
    let location = location(&call.base(), &name);
    let ensured = call.write(move |image, now| Ok(ensure_class(image, &name, now))).await?;
    let status = match ensured {
        Ensured::Created => StatusCode::CREATED,
        Ensured::Existed => StatusCode::NO_CONTENT,
    };
    call.bare(status, Some(location), None)
}

async fn rename(call: Call<UpdateClass>, name: String, body: &[u8]) -> Answer {
    let data = parse(body, &CLASS)?;
    let new_name = text_of(&data, "name").unwrap_or_default().to_owned();
    let proposed = new_name.clone();
    call.write(move |image, now| rename_class(image, &name, &proposed, now)).await?;
    call.json(&Class::new(&new_name, &call.base()), call.now())
}

/// Deletes a resource class that no provider has an inventory of.
#[utoipa::path(delete, path = "/resource_classes/{name}", tag = "resource classes",
    params(("name" = String, Path, description = "The class.")),
    extensions(("x-openstack" = json!({"min-ver": "1.2"}))),
    responses(
        (status = 204, description = "It is gone."),
        (status = 400, description = "It is a standard class."),
        (status = 404, description = "There is no such class."),
        (status = 409, description = "It is in use."),
    ))]
pub async fn delete(call: Call<DeleteClass>, Part(name): Part) -> Answer {
    call.write(move |image, _| delete_class(image, &name)).await?;
    call.done()
}
