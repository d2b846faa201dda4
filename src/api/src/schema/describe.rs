//! A schema in the words of OpenAPI.

use super::{Object, Schema, Text};
use utoipa::openapi::{
    RefOr, Schema as Described,
    schema::{
        AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat,
        Type,
    },
};

/// Describes what a value must look like.
#[must_use]
pub fn describe(schema: &Schema) -> RefOr<Described> {
    match schema {
        Schema::Object(rules) => object(rules).into(),
        Schema::List { items, min, max, unique } => {
            let list = ArrayBuilder::new().items(describe(items)).unique_items(*unique);
            let list = list.max_items((*max < usize::MAX).then_some(*max));
            list.min_items((*min > 0).then_some(*min)).build().into()
        }
        Schema::Text(rules) => text(rules).into(),
        Schema::Integer { min, max } => ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(*min)
            .maximum(*max)
            .into(),
        Schema::Count { min } => ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(*min))
            .into(),
        Schema::Flag => ObjectBuilder::new().schema_type(Type::Boolean).into(),
        Schema::Number { max } => {
            ObjectBuilder::new().schema_type(Type::Number).maximum(*max).into()
        }
        Schema::OrNull(inner) => OneOfBuilder::new()
            .item(describe(inner))
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .into(),
    }
}

fn object(rules: &Object) -> ObjectBuilder {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for (name, schema) in rules.properties {
        object = object.property(*name, describe(schema));
    }
    for name in rules.required {
        object = object.required(*name);
    }
    if rules.min > 0 {
        object = object.min_properties(Some(rules.min));
    }
    match rules.patterns {
        [] => object
            .additional_properties(Some(AdditionalProperties::<Described>::FreeForm(rules.open))),
        [(pattern, schema), ..] => object
            .additional_properties(Some(AdditionalProperties::RefOr(describe(schema))))
            .property_names(Some(text(&Text::ANY.of(*pattern)))),
    }
}

fn text(rules: &Text) -> ObjectBuilder {
    let uuid = rules.uuid.then_some(SchemaFormat::KnownFormat(KnownFormat::Uuid));
    let mut text = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(uuid)
        .pattern(rules.pattern.map(super::Pattern::regex))
        .min_length((rules.min > 0).then_some(rules.min))
        .max_length((rules.max < usize::MAX).then_some(rules.max));
    if !rules.one_of.is_empty() {
        text = text.enum_values(Some(rules.one_of.iter().copied()));
    }
    text
}
