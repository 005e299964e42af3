//! The default schema of tasks: the compiler generates calls on the stack, and the same code as for an explicit stack
//! schema. So requesting the schema gains nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use finespun::prelude::*;
use finespun_apps::protein::{self, Lattice, Problem};
use finespun_apps::uts::{self, Tree};
use finespun_apps::{Progress, fib, integrate, list, matmul, nqueens, qsort, skynet, tak};
use quote::ToTokens;
use syn::ItemFn;
use syn::visit::Visit;

/// The only tasks whose children borrow from their locals. A run makes few: `pass` or `count_all` once per pass over a
/// protein's foldings, `create` (which this crate does not define) once per grid.
const PINNED: [&str; 3] = ["pass", "count_all", "create"];

/// The functions of a file with the `task` attribute.
#[derive(Default)]
struct Marked(Vec<ItemFn>);

impl<'a> Visit<'a> for Marked {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        let mut function = function.clone();
        let marks = function.attrs.extract_if(.., |attr| attr.path().is_ident("task")).count();
        function.attrs.retain(|attr| !attr.path().is_ident("doc"));
        if marks > 0 {
            self.0.push(function);
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("the sources").path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The stack functions to which a task is compiled.
#[derive(Default)]
struct OnTheStack(Vec<String>);

impl<'a> Visit<'a> for OnTheStack {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        if ["__stack", "__rest"].iter().any(|name| function.sig.ident == name) {
            self.0.push(function.to_token_stream().to_string());
        }
        syn::visit::visit_item_fn(self, function);
    }
}

fn compiled(function: &ItemFn, schema: &str) -> Vec<String> {
    let arguments = schema.parse().expect("tokens");
    let tokens = finespun_compiler::task(arguments, function.to_token_stream());
    let mut found = OnTheStack::default();
    found.visit_file(&syn::parse2(tokens).expect("code"));
    found.0
}

#[test]
fn default_schema_equals_the_forced_stack_schema() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut marked = Marked::default();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        marked.visit_file(&syn::parse_file(&text).expect("a source"));
    }
    assert!(marked.0.len() > 20, "the applications have tasks");
    for function in marked.0 {
        let name = function.sig.ident.to_string();
        let body = function.block.to_token_stream().to_string();
        if !body.contains("await") && !body.contains("join !") {
            // A task without awaits is only a plain function.
            continue;
        }
        let (chosen, forced) = (compiled(&function, ""), compiled(&function, "stack"));
        assert_eq!(chosen.is_empty(), PINNED.contains(&&*name), "{name}");
        assert_eq!(chosen, forced, "{name}");
    }
}

/// Returns the number of frames that one worker makes while it runs `task`, without interruption by the quantum.
fn frames<T: Task<Output: Send> + Send>(task: T) -> u64 {
    let runtime = Runtime::builder().workers(1).quantum(Duration::from_secs(60)).build().expect("a runtime");
    runtime.run(task);
    runtime.stats().frames
}

#[test]
fn nine_calls_in_ten_stay_on_the_stack() {
    let tree = Tree::parse("-a 0 -d 8 -r 2").expect("valid");
    let nodes = list::List::build(1000);
    let (a, b, mut c) = (matmul::sample_a(256), matmul::sample_b(256), matmul::Matrix::zeros(256));
    let problem = Problem::new(Lattice::parse("2x3x3").expect("valid"), &[]).expect("no sequence");
    let mut values: Vec<u64> = qsort::input(5000, 5);
    // The number of frames, and a lower bound of the number of calls.
    let found = [
        ("fib", frames(fib::fib(20)), 10_000),
        ("tak", frames(tak::tak(12, 8, 4)), 1000),
        ("nqueens", frames(nqueens::nqueens(8)), 1000),
        ("qsort", frames(qsort::sort(&mut values)), 300),
        ("list", frames(list::traverse(&nodes)), 1000),
        ("skynet", frames(skynet::skynet(4)), 10_000),
        ("matmul", frames(matmul::multiply(&a, &b, &mut c)), 64),
        ("integrate", frames(integrate::integrate(0.0, 100.0, 1e-5)), 1000),
        ("uts", frames(uts::search(&tree)), uts::plain(&tree).nodes),
        ("protein", frames(protein::fold(&problem, &Progress::new())), 300),
    ];
    for (name, frames, calls) in found {
        assert!(frames <= 3 && frames * 10 <= calls, "{name}: {frames} frames for {calls} calls");
    }
}
