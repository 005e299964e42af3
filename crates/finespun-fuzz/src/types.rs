//! The types that generated bodies use.

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `u64`.
    Num,
    /// `bool`.
    Bool,
    /// `()`.
    Unit,
    /// `String`.
    Text,
    /// A value with a destructor whose fields are `Copy`.
    D,
    /// A `D` with named fields.
    Owner,
    /// A value with a destructor and a field with a destructor.
    Held,
    /// Like the guard of a lock.
    Section,
    /// A tuple struct of two `D`.
    Duo,
    /// A struct of two `D` and a number.
    Parts,
    /// A `Copy` struct.
    Point,
    /// An enum.
    Shape,
    /// The type parameter of the generic form.
    Free,
    /// A tuple of two.
    Pair(Box<Ty>, Box<Ty>),
    /// `Option`.
    Opt(Box<Ty>),
    /// `Result`.
    Res(Box<Ty>, Box<Ty>),
    /// `Vec`.
    List(Box<Ty>),
    /// `Box`.
    Boxed(Box<Ty>),
    /// An array of two.
    Two(Box<Ty>),
    /// `&`.
    Ref(Box<Ty>),
    /// `&mut`.
    Mut(Box<Ty>),
}

impl Ty {
    /// Returns the type as written.
    pub fn text(&self) -> String {
        match self {
            Ty::Num => "u64".into(),
            Ty::Bool => "bool".into(),
            Ty::Unit => "()".into(),
            Ty::Text => "String".into(),
            Ty::D => "D".into(),
            Ty::Owner => "Owner".into(),
            Ty::Held => "Held".into(),
            Ty::Section => "Section".into(),
            Ty::Duo => "Duo".into(),
            Ty::Parts => "Parts".into(),
            Ty::Point => "Point".into(),
            Ty::Shape => "Shape".into(),
            Ty::Free => "G".into(),
            Ty::Pair(a, b) => format!("({}, {})", a.text(), b.text()),
            Ty::Opt(a) => format!("Option<{}>", a.text()),
            Ty::Res(a, b) => format!("Result<{}, {}>", a.text(), b.text()),
            Ty::List(a) => format!("Vec<{}>", a.text()),
            Ty::Boxed(a) => format!("Box<{}>", a.text()),
            Ty::Two(a) => format!("[{}; 2]", a.text()),
            Ty::Ref(a) => format!("&{}", a.text()),
            Ty::Mut(a) => format!("&mut {}", a.text()),
        }
    }

    /// Returns true for types that are `Copy`.
    pub fn is_copy(&self) -> bool {
        match self {
            Ty::Num | Ty::Bool | Ty::Unit | Ty::Point | Ty::Ref(_) => true,
            Ty::Pair(a, b) => a.is_copy() && b.is_copy(),
            Ty::Opt(a) | Ty::Two(a) => a.is_copy(),
            _ => false,
        }
    }

    /// Returns true for types that contain a reference.
    pub fn borrows(&self) -> bool {
        match self {
            Ty::Ref(_) | Ty::Mut(_) => true,
            Ty::Pair(a, b) | Ty::Res(a, b) => a.borrows() || b.borrows(),
            Ty::Opt(a) | Ty::List(a) | Ty::Boxed(a) | Ty::Two(a) => a.borrows(),
            _ => false,
        }
    }

    /// Returns the fields that can be moved out of a value, as text after the value.
    pub fn fields(&self) -> Vec<(&'static str, Ty)> {
        match self {
            Ty::Pair(a, b) => vec![(".0", (**a).clone()), (".1", (**b).clone())],
            Ty::Duo => vec![(".0", Ty::D), (".1", Ty::D)],
            Ty::Parts => vec![(".x", Ty::D), (".y", Ty::D), (".k", Ty::Num)],
            Ty::Point => vec![(".a", Ty::Num), (".b", Ty::Num)],
            _ => Vec::new(),
        }
    }

    /// Returns the number that can be read out of a value, as text after the value.
    pub fn number(&self) -> Option<&'static str> {
        match self {
            Ty::D | Ty::Section => Some(".0"),
            Ty::Owner | Ty::Held | Ty::Parts => Some(".k"),
            Ty::Point => Some(".b"),
            _ => None,
        }
    }

    /// Returns an expression that makes a value, without an await and without names except `t`; `k` varies it.
    pub fn fresh(&self, k: u64) -> String {
        match self {
            Ty::Num => format!("{k}u64"),
            Ty::Bool => if k.is_multiple_of(2) { "true" } else { "false" }.into(),
            Ty::Unit => "()".into(),
            Ty::Text => format!("String::from(\"s{k}\")"),
            Ty::D | Ty::Free => format!("t.d({k})"),
            Ty::Owner => format!("t.owner({k})"),
            Ty::Held => format!("t.held({k})"),
            Ty::Section => format!("t.section({k})"),
            Ty::Duo => format!("t.duo({k})"),
            Ty::Parts => format!("t.parts({k})"),
            Ty::Point => format!("(Point {{ a: {k}, b: 2 }})"),
            Ty::Shape => format!("t.shape({k})"),
            Ty::Pair(a, b) => format!("({}, {})", a.fresh(k), b.fresh(k + 1)),
            Ty::Opt(a) => format!("Some({})", a.fresh(k)),
            Ty::Res(a, b) => format!("Ok::<{}, {}>({})", a.text(), b.text(), a.fresh(k)),
            Ty::List(a) => format!("vec![{}, {}]", a.fresh(k), a.fresh(k + 1)),
            Ty::Boxed(a) => format!("Box::new({})", a.fresh(k)),
            Ty::Two(a) => format!("[{}, {}]", a.fresh(k), a.fresh(k + 1)),
            Ty::Ref(a) => format!("&{}", a.fresh(k)),
            Ty::Mut(a) => format!("&mut {}", a.fresh(k)),
        }
    }
}
