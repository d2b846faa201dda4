//! What the descriptions of OpenStack's APIs have in common: bodies described
//! by the tables that they are checked against, the version header, the token.

use utoipa::openapi::{
    OpenApi, Required, SecurityRequirement,
    path::{Operation, ParameterBuilder, ParameterIn},
    schema::{ObjectBuilder, Type},
};

/// Makes types that stand for schemas in descriptions.
macro_rules! bodies {
    ($($(#[doc = $about:literal])+ $name:ident = $schema:expr;)+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug)]
            pub struct $name;

            impl ::utoipa::PartialSchema for $name {
                fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                    const SCHEMA: &$crate::schema::Schema = &$schema;
                    $crate::schema::describe(SCHEMA)
                }
            }

            impl ::utoipa::ToSchema for $name {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(stringify!($name))
                }
            }
        )+
    };
}

pub(crate) use bodies;

/// Adds to every operation the header that asks for a microversion, and the
/// token where the operation does not say that it needs none.
pub fn add_version_and_token(document: &mut OpenApi, about_version: &str) {
    let version = ParameterBuilder::new()
        .name("OpenStack-API-Version")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(about_version))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).build()))
        .build();
    let token = SecurityRequirement::new::<&str, [&str; 0], &str>("token", []);
    for operation in operations(document) {
        operation.parameters.get_or_insert_default().push(version.clone().into());
        if operation.security.is_none() {
            operation.security = Some(vec![token.clone()]);
        }
    }
}

/// Every operation of a description.
fn operations(document: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    document.paths.paths.values_mut().flat_map(|item| {
        [&mut item.get, &mut item.put, &mut item.post, &mut item.delete]
            .into_iter()
            .filter_map(Option::as_mut)
    })
}
