//! Knowledge about methods of std by their names. A user's method of the same name may behave differently; then rustc
//! reports an error, and the program's behaviour does not change.

/// Methods that take `self` by reference: the receiver still exists afterwards.
const BY_REFERENCE: &[&str] = &[
    "len",
    "is_empty",
    "iter",
    "iter_mut",
    "push",
    "pop",
    "push_str",
    "push_back",
    "push_front",
    "pop_back",
    "pop_front",
    "get",
    "get_mut",
    "insert",
    "remove",
    "contains",
    "contains_key",
    "entry",
    "clone",
    "to_vec",
    "to_owned",
    "to_string",
    "as_slice",
    "as_str",
    "as_ref",
    "as_mut",
    "as_bytes",
    "as_deref",
    "split_at",
    "split_at_mut",
    "sort",
    "sort_by",
    "sort_unstable",
    "sort_by_key",
    "swap",
    "first",
    "last",
    "first_mut",
    "last_mut",
    "extend",
    "clear",
    "resize",
    "truncate",
    "lock",
    "try_lock",
    "read",
    "write",
    "load",
    "store",
    "fetch_add",
    "fetch_sub",
    "borrow",
    "borrow_mut",
    "chunks",
    "chunks_mut",
    "windows",
    "keys",
    "values",
    "next",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "take",
    "replace",
    "capacity",
    "reserve",
    "chars",
    "bytes",
    "binary_search",
    "starts_with",
    "ends_with",
    "drain",
    "append",
    "fill",
    "copy_from_slice",
];

/// Methods that take `self` by value, unless it is `Copy`: nothing is left to drop.
const BY_VALUE: &[&str] = &[
    "into_iter",
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "into_inner",
    "into_boxed_slice",
    "into_bytes",
    "into_string",
    "into_keys",
    "into_values",
    "min",
    "max",
    "clamp",
];

/// Methods of numbers, which take them by value.
const NUMBERS: &[&str] = &[
    "pow",
    "abs",
    "abs_diff",
    "sqrt",
    "rem_euclid",
    "div_ceil",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "saturating_add",
    "saturating_sub",
    "checked_add",
    "checked_sub",
    "checked_mul",
    "rotate_left",
    "rotate_right",
    "count_ones",
    "trailing_zeros",
    "leading_zeros",
    "is_power_of_two",
];

/// Methods that return a number, a `bool` or similar.
const PRIMITIVE: &[&str] = &[
    "len",
    "is_empty",
    "count",
    "contains",
    "contains_key",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "starts_with",
    "ends_with",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "any",
    "all",
    "is_char_boundary",
    "is_ascii",
    "is_alphabetic",
    "is_numeric",
    "is_finite",
    "is_nan",
];

/// Methods that return an independent value, whatever the receiver is.
const OWNED: &[&str] = &[
    "clone",
    "to_vec",
    "to_owned",
    "to_string",
    "sum",
    "product",
    "position",
    "cmp",
    "partial_cmp",
    "load",
    "fetch_add",
    "fetch_sub",
    "hash",
    "elapsed",
];

/// Methods that return a value out of the receiver: it borrows from the same locals as the receiver, but not from the
/// receiver.
const DETACHED: &[&str] = &[
    "pop",
    "pop_front",
    "pop_back",
    "remove",
    "swap_remove",
    "take",
    "replace",
    "next",
    "next_back",
    "nth",
    "split_off",
    "insert",
    "push",
];

/// Methods that return a reference, or a value made of references, into the receiver.
const VIEWS: &[&str] = &[
    "iter",
    "get",
    "first",
    "last",
    "as_ref",
    "as_deref",
    "as_slice",
    "as_str",
    "as_bytes",
    "chunks",
    "chunks_exact",
    "windows",
    "keys",
    "values",
    "split_at",
    "peek",
    "trim",
    "borrow",
    "split_first",
    "split_last",
    "lines",
    "chars",
];

/// Methods that keep the kind of their receiver: references stay references.
const THROUGH: &[&str] = &[
    "unwrap",
    "expect",
    "next",
    "rev",
    "skip",
    "take",
    "step_by",
    "peekable",
    "filter",
    "chain",
    "zip",
    "into_iter",
    "next_back",
    "nth",
    "ok_or",
    "ok_or_else",
    "enumerate",
    "min_by_key",
    "max_by_key",
    "find",
    "last",
];

/// Methods that store their arguments in the receiver.
const STORES: &[&str] = &[
    "push",
    "push_back",
    "push_front",
    "insert",
    "replace",
    "get_or_insert",
    "extend",
    "extend_from_slice",
    "append",
    "or_insert",
    "resize",
];

/// Methods that take `self` by value, by the types that have them. Each type is given by the name of the trait in the
/// library that marks it.
const TAKERS: &[(&str, &[&str])] = &[
    (
        "OfOption",
        &[
            "unwrap",
            "expect",
            "unwrap_or",
            "unwrap_or_default",
            "unwrap_or_else",
            "map",
            "filter",
            "flatten",
            "zip",
            "ok_or",
            "ok_or_else",
            "and_then",
            "or_else",
            "copied",
            "cloned",
            "inspect",
        ],
    ),
    (
        "OfResult",
        &[
            "unwrap",
            "expect",
            "unwrap_or",
            "unwrap_or_default",
            "unwrap_or_else",
            "map",
            "ok",
            "err",
            "map_err",
            "and_then",
            "or_else",
            "flatten",
            "copied",
            "cloned",
            "inspect",
        ],
    ),
    ("OfConstruct", &["collect", "try_collect", "reduce", "try_reduce"]),
    ("OfArray", &["map"]),
    ("OfVec", &["into_boxed_slice"]),
    ("Ordered", &["min", "max", "clamp"]),
    ("IntoIterates", &["into_iter"]),
    (
        "Iterates",
        &[
            "sum",
            "product",
            "collect",
            "fold",
            "reduce",
            "min_by_key",
            "max_by_key",
            "map",
            "filter",
            "filter_map",
            "flat_map",
            "flatten",
            "enumerate",
            "zip",
            "rev",
            "chain",
            "skip",
            "step_by",
            "take_while",
            "skip_while",
            "copied",
            "cloned",
            "inspect",
            "scan",
            "peekable",
            "take",
            "last",
            "min",
            "max",
            "count",
        ],
    ),
];

/// Returns the traits that mark types whose method of that name takes `self` by value.
pub(crate) fn takers(name: &syn::Ident) -> impl Iterator<Item = &'static str> {
    TAKERS.iter().filter(move |(_, methods)| among(methods, name)).map(|(taker, _)| *taker)
}

fn among(list: &[&str], name: &syn::Ident) -> bool {
    list.iter().any(|m| name == m)
}

/// Returns whether a method takes its receiver by reference. Iterators and entries of maps have methods of the same
/// names that take `self` by value.
pub(crate) fn by_reference(call: &syn::ExprMethodCall) -> bool {
    let takes = match &*call.method.to_string() {
        "take" => !call.args.is_empty(),
        "remove" => call.args.is_empty(),
        "insert" => call.args.len() < 2,
        "last" | "bytes" => true,
        _ => false,
    };
    among(BY_REFERENCE, &call.method) && !takes
}
pub(crate) fn by_value(name: &syn::Ident) -> bool {
    among(BY_VALUE, name) || of_number(name)
}
pub(crate) fn of_number(name: &syn::Ident) -> bool {
    among(NUMBERS, name)
}
pub(crate) fn primitive(call: &syn::ExprMethodCall) -> bool {
    const OF_ONE: &[&str] = &["contains", "contains_key", "starts_with", "ends_with", "any", "all", "is_char_boundary"];
    among(PRIMITIVE, &call.method) && call.args.len() == usize::from(among(OF_ONE, &call.method))
}
pub(crate) fn owned(name: &syn::Ident) -> bool {
    among(OWNED, name)
}
pub(crate) fn detached(name: &syn::Ident) -> bool {
    among(DETACHED, name)
}
pub(crate) fn view(name: &syn::Ident) -> bool {
    among(VIEWS, name)
}
pub(crate) fn through(name: &syn::Ident) -> bool {
    among(THROUGH, name)
}
pub(crate) fn stores(name: &syn::Ident) -> bool {
    among(STORES, name)
}
