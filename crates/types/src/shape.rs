//! Schemas of types whose JSON is written by hand, or is simpler than the type.
//!
//! Invariant: a shape is only described, never made; tests compare what is really sent with it.

/// Gives a type the schema of its shape, under the name of the shape.
macro_rules! shaped {
    ($($type:ty => $shape:ty),* $(,)?) => {$(
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$shape as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$shape as schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$shape as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )*};
}

/// Gives a type a schema that stands wherever the type is used, instead of a name.
macro_rules! inline_schema {
    ($($type:ty => $schema:tt),* $(,)?) => {$(
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    )*};
}

/// Text that is more than blanks. Not every dialect counts U+0085 among them.
pub(crate) const NOT_BLANK: &str = r"[^\s\u0085]";
/// Text without blanks.
pub(crate) const ONE_WORD: &str = r"^[^\s\u0085]+$";

/// An address of the web, or nothing.
pub(crate) const ADDRESS: &str = r"^(https?://.+)?$";

pub(crate) use {inline_schema, shaped};
