//! One generated body, and the forms that it is compiled in.

use crate::layout;
use crate::rng::Rng;
use crate::tree::Node;
use crate::types::Ty;

/// A parameter after `t` and `n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The pattern that the body binds.
    pub pat: String,
    /// The type.
    pub ty: Ty,
    /// The argument that the call passes.
    pub argument: String,
}

/// A way to compile a body as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// `#[task(pinned)]` on a function.
    Pinned,
    /// `#[task]` on a function.
    Auto,
    /// `#[task]` on a function with a type parameter.
    Generic,
    /// `#[task]` on an inherent method.
    Method,
    /// `#[task]` on a trait and its implementation.
    Trait,
    /// A method of an object, called through a reference.
    Object,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 6] = [Form::Pinned, Form::Auto, Form::Generic, Form::Method, Form::Trait, Form::Object];

    /// Returns the name of the form and of its module.
    pub fn name(self) -> &'static str {
        match self {
            Form::Pinned => "pinned",
            Form::Auto => "auto",
            Form::Generic => "generic",
            Form::Method => "method",
            Form::Trait => "interface",
            Form::Object => "object",
        }
    }

    /// Returns the form with this name.
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// The layout of a body's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// Random white space, from this seed.
    Random(u64),
    /// One statement per line.
    Lines,
}

/// A generated body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The number of the body under its seed.
    pub index: u64,
    /// The parameters after `t` and `n`.
    pub params: Vec<Param>,
    /// The type of the result.
    pub ret: Ty,
    /// The statements and the value.
    pub root: Node,
    /// Values are made by functions instead of methods of `t`, whose results may borrow `t` as far as the task compiler
    /// knows.
    pub functions: bool,
    /// The layout.
    pub layout: Layout,
    /// The forms besides the plain one.
    pub forms: Vec<Form>,
}

/// The methods of `t` that make values.
const MAKERS: [&str; 13] =
    ["d", "owner", "held", "duo", "parts", "shape", "row", "pick", "attempt", "some", "checked", "list", "section"];

const TASKS: &str = "use fs::prelude::{Ref, object, on, task};\nuse finespun_fuzz_scratch::tasks::*;\n";

impl Body {
    /// Returns the text between the braces.
    pub fn block(&self) -> String {
        let mut text = self.root.text();
        if self.functions {
            for make in MAKERS {
                text = text.replace(&format!("t.{make}("), &format!("new_{make}(t, "));
            }
        }
        match self.layout {
            Layout::Random(seed) => layout::scatter(&text, &mut Rng::of(seed, 0)),
            Layout::Lines => layout::lines(&text),
        }
    }

    /// Returns which of `of` receivers the methods have.
    fn variant(&self, of: usize) -> usize {
        (self.index / 2) as usize % of
    }

    fn inputs(&self) -> String {
        let params = self.params.iter().map(|p| format!(", {}: {}", p.pat, p.ty.text()));
        format!("t: T, n: u64{}", params.collect::<String>())
    }

    fn returns(&self) -> String {
        match &self.ret {
            Ty::Unit => String::new(),
            ty => format!(" -> {}", ty.text()),
        }
    }

    fn function(&self, before: &str, generics: &str, receiver: &str) -> String {
        let (inputs, ret) = (self.inputs(), self.returns());
        format!("{before}async fn body{generics}({receiver}{inputs}){ret} {{\n{}\n}}\n", self.block())
    }

    /// Returns the body as a plain `async fn`, for reports.
    pub fn shown(&self) -> String {
        self.function("", "", "")
    }

    /// Returns the item marked `#[task]` in the automatic form, without the mark.
    pub fn marked(&self) -> String {
        self.function("pub ", "", "")
    }

    /// Returns the module of the plain form.
    pub fn plain(&self) -> String {
        let function = self.function("pub ", "", "");
        format!("use finespun_fuzz_scratch::{{plain::*, trace::T, values::*}};\ntype G = D;\n{function}")
    }

    /// Returns the module of a form.
    pub fn module(&self, form: Form) -> String {
        let common = "use finespun_fuzz_scratch::{trace::T, values::*};\n";
        let alias = if form == Form::Generic { "" } else { "type G = D;\n" };
        let ret = self.returns();
        let names: String = (0..self.params.len()).map(|i| format!(", p{i}")).collect();
        let typed: String = self.params.iter().enumerate().map(|(i, p)| format!(", p{i}: {}", p.ty.text())).collect();
        let code = match form {
            Form::Pinned => self.function("#[task(pinned)]\npub ", "", ""),
            Form::Auto => self.function("#[task]\npub ", "", ""),
            Form::Generic => self.function("#[task]\npub ", "<G: Send + Sync + std::fmt::Debug + Seen>", ""),
            Form::Method => {
                let receiver = ["&self, ", "&mut self, ", "self, "][self.variant(3)];
                let function = self.function("#[task]\npub ", "", receiver);
                format!("pub struct Host;\nimpl Host {{\n{function}}}\n")
            }
            Form::Trait => {
                let receiver = ["&self, ", "&mut self, "][self.variant(2)];
                let function = self.function("", "", receiver);
                let declared = format!("async fn body({receiver}t: T, n: u64{typed}){ret};");
                format!(
                    "pub struct Host;\n#[task]\npub trait Run: Send + Sync {{\n    {declared}\n}}\n\
                     #[task]\nimpl Run for Host {{\n{function}}}\n"
                )
            }
            Form::Object => {
                let receiver = ["&self, ", "&mut self, ", "this: Ref<Self>, "][self.variant(3)];
                let function = self.function("pub ", "", receiver);
                let made = "let host = on(0).create(Host(1)).await;";
                format!(
                    "#[derive(serde::Serialize, serde::Deserialize)]\npub struct Host(u64);\n\
                     #[object]\nimpl Host {{\n{function}}}\n\
                     #[task]\npub async fn run(t: T, n: u64{typed}){ret} {{\n    {made}\n    \
                     let value = host.body(t, n{names}).await;\n    Ref::free(host).await;\n    value\n}}\n"
                )
            }
        };
        format!("{TASKS}{common}{alias}{code}")
    }

    /// Returns the call of a form, without the code that runs it.
    pub fn call(&self, form: Option<Form>) -> String {
        let arguments: String = self.params.iter().map(|p| format!(", {}", p.argument)).collect();
        let function = match form {
            None => "plain::body".to_string(),
            Some(Form::Method) => "method::Host.body".to_string(),
            Some(Form::Trait) => {
                let host = ["&interface::Host", "&mut interface::Host"][self.variant(2)];
                return format!("interface::Run::body({host}, t, n{arguments})");
            }
            Some(Form::Object) => "object::run".to_string(),
            Some(form) => format!("{}::body", form.name()),
        };
        format!("{function}(t, n{arguments})")
    }
}
