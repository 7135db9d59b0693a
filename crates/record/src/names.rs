//! Enums that are stored as numbers and shown as names.

/// The members of an enum in the order of their numbers, and their names in files and tables.
macro_rules! names {
    ($type:ident: $($member:ident $name:literal),+) => {
        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$member),+];

            /// Their names in files and tables, in the same order.
            pub const NAMES: [&str; $type::ALL.len()] = [$($name),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$member => $name),+
                }
            }

            /// The one of this name, if there is one.
            pub fn from_name(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|one| one.name() == name)
            }

            /// The one of this number, if there is one.
            pub fn from_number(number: u8) -> Option<$type> {
                $type::ALL.get(usize::from(number)).copied()
            }
        }

        $(const _: () = assert!($type::ALL[$type::$member as usize] as usize == $type::$member as usize);)+
    };
}

pub(crate) use names;
