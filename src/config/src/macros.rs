//! The macros that turn a section written once into its typed struct, its
//! defaults and its rows in the table of options.

/// Declares one section.
///
/// ```text
/// /// What the section is about.
/// field: Struct = "section" {
///     /// Help, which is the field's documentation too.
///     name: Type = default, attribute, attribute(argument);
/// }
/// ```
///
/// Attributes are the builder methods of [`crate::spec::Meta`].
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $field:ident: $section:ident = $section_name:literal {
            $(
                $(#[doc = $help:literal])+
                $option:ident: $type:ty = $default:expr
                    $(, $attribute:ident $(( $($argument:expr),* ))? )*;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $section {
            $( $(#[doc = $help])+ pub $option: $type, )*
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $( $option: $default, )* }
            }
        }

        impl $section {
            pub(crate) const SPEC: $crate::spec::SectionSpec = $crate::spec::SectionSpec {
                name: $section_name,
                about: &[$($about),+],
                options: &[$(
                    $crate::spec::OptionSpec {
                        section: $section_name,
                        name: stringify!($option),
                        help: &[$($help),+],
                        meta: $crate::spec::Meta::new()
                            $( .$attribute($($($argument),*)?) )*,
                        kind: <$type as $crate::value::OptionType>::KIND,
                        write: |settings, input, meta, notes| {
                            settings.$field.$option =
                                <$type as $crate::value::OptionType>::read(input, meta, notes)?;
                            Ok(())
                        },
                        texts: |settings, meta| {
                            $crate::value::OptionType::texts(&settings.$field.$option, meta)
                        },
                        take: |settings, other| {
                            let differs = settings.$field.$option != other.$field.$option;
                            settings.$field.$option.clone_from(&other.$field.$option);
                            differs
                        },
                    },
                )*],
            };
        }
    };
}

/// Declares an option type with a fixed set of words.
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        $name:ident { $( $(#[doc = $help:literal])+ $variant:ident = $text:literal, )+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $help])+ $variant, )+
        }

        impl $name {
            /// The word that stands for this choice in a file.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }
        }

        impl $crate::value::OptionType for $name {
            const KIND: $crate::value::Kind = $crate::value::Kind::Choice(&[$($text),+]);

            fn read(
                input: $crate::value::Input<'_>,
                meta: &$crate::spec::Meta,
                _notes: &mut Vec<String>,
            ) -> Result<Self, $crate::value::Problem> {
                let text = input.scalar(Self::KIND, meta)?;
                match text.trim() {
                    $( $text => Ok(Self::$variant), )+
                    _ => Err($crate::value::Problem::expected(Self::KIND, meta)),
                }
            }

            fn texts(&self, _meta: &$crate::spec::Meta) -> Vec<String> {
                vec![self.as_str().to_owned()]
            }
        }
    };
}

pub(crate) use choice;
pub(crate) use section;
