//! The code that the compiler writes, as one would read it.
//!
//! `UPDATE_EXPECT=1 cargo test -p finespun-compiler --test golden` writes the files in `tests/golden` anew; read the
//! difference before you commit it.

use expect_test::expect_file;
use proc_macro2::TokenStream;

/// Compiles the item and compares it, formatted, with `tests/golden/NAME.rs`.
fn golden(name: &str, arguments: &str, item: &str) {
    let parse = |text: &str| text.parse::<TokenStream>().expect("tokens");
    let tokens = finespun_compiler::task(parse(arguments), parse(item));
    let text = tokens.to_string();
    let file = syn::parse2(tokens).unwrap_or_else(|e| panic!("{e}: {text}"));
    expect_file![format!("golden/{name}.rs")].assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn fib_has_a_head_and_a_join() {
    golden(
        "fib",
        "",
        "async fn fib(n: u64) -> u64 {
            if n < 2 { return n; }
            let (a, b) = join!(fib(n - 1), fib(n - 2));
            a + b
        }",
    );
}

#[test]
fn portable_task_has_two_forms_and_a_way_back() {
    golden(
        "portable",
        "portable",
        "async fn count<const N: usize>(weights: &[u64], left: u64) -> u64 {
            if left == 0 { return N as u64; }
            count::<N>(weights, left - weights[0]).await
        }",
    );
}

#[test]
fn loop_with_an_accumulator() {
    golden(
        "accumulate",
        "",
        "async fn accumulate(n: u64) -> u64 {
            let mut sum = 0;
            for i in 0..n { sum += f(i).await; }
            sum
        }",
    );
}

#[test]
fn match_that_forwards() {
    golden(
        "forward",
        "",
        "async fn sum_of(t: &Option<Box<Tree>>) -> u64 {
            match t { Some(t) => sum(t).await, None => 0 }
        }",
    );
}

#[test]
fn match_with_a_head() {
    golden(
        "list",
        "",
        "async fn sum(node: Option<&Node>) -> u64 {
            match node {
                None => 0,
                Some(node) => { let rest: u64 = sum(node.next()).await; node.value + rest }
            }
        }",
    );
}

#[test]
fn borrow_of_a_local_is_lent_from_a_cell() {
    golden(
        "lends",
        "",
        "async fn lends(n: u64) -> u64 {
            let local = n * 2;
            let a: u64 = f(&local).await;
            a + local
        }",
    );
}

#[test]
fn exclusive_borrow_of_a_local_is_lent_from_a_cell() {
    golden(
        "lends_mut",
        "",
        "async fn lends(n: u64) -> Vec<u64> {
            let mut v = Vec::new();
            for k in 0..n {
                fill(&mut v, k).await;
            }
            v
        }",
    );
}

#[test]
fn borrow_of_a_mutable_local_that_another_keeps_is_pinned() {
    golden(
        "pinned",
        "",
        "async fn total(mut v: Vec<u64>) -> u64 {
            let (a, b) = v.split_at(v.len() / 2);
            let (x, y) = join!(add(a), add(b));
            x + y
        }",
    );
}

#[test]
fn mutable_local_that_a_method_may_keep_is_pinned() {
    golden(
        "pinned_kept",
        "",
        "async fn total(n: u64) -> u64 {
            let mut x = n;
            let mut hold = Hold::new();
            hold.keep(&mut x);
            add(1).await;
            hold.set(4);
            drop(hold);
            bump(&mut x).await;
            x
        }",
    );
}

#[test]
fn closure_that_may_own_its_captures() {
    golden(
        "captures",
        "",
        "async fn sum(table: &[u64], from: usize, n: usize) -> u64 {
            reduce((0..n).map(|k| entry(table, from + k)), 0, |a, b| a + b).await
        }",
    );
}

#[test]
fn nothing_awaited_is_straight() {
    golden("straight", "", "async fn add(v: &[u64]) -> u64 { v.iter().sum() }");
}

#[test]
fn straight_on_demand() {
    golden("straight_calls", "straight", "async fn twice(v: &[u64]) -> u64 { add(v).await + add(v).await }");
}

#[test]
fn method_with_a_head() {
    golden(
        "method",
        "",
        "pub(crate) async fn depth(&self, most: u64) -> u64 {
            let Some(next) = &self.next else { return 1 };
            if most == 0 { return 0; }
            1 + next.depth(most - 1).await
        }",
    );
}

#[test]
fn whole_trait() {
    golden("interface", "", "pub trait Visit: Sync { async fn visit(&self, n: u64) -> u64; fn name(&self) -> &str; }");
}

#[test]
fn implementation_of_a_trait() {
    golden(
        "implementation",
        "",
        "impl Visit for Plus {
            async fn visit(&self, n: u64) -> u64 {
                if n == 0 { return self.0; }
                let (a, b) = join!(self.visit(n - 1), self.visit(n / 2));
                a + b
            }
        }",
    );
}

#[test]
fn object_with_a_plain_method_and_a_task() {
    let block = "impl<T: Portable> Cell<T> {
        pub fn get(&self) -> T { self.value.clone() }
        fn set(&mut self, value: T) { self.value = value; }
        async fn copy(this: Ref<Self>, from: Ref<Self>) {
            let value: T = from.get().await;
            this.set(value).await
        }
        fn new(value: T) -> Self { Cell { value } }
    }";
    let tokens = finespun_compiler::object(TokenStream::new(), block.parse().expect("tokens"));
    let text = tokens.to_string();
    let file = syn::parse2(tokens).unwrap_or_else(|e| panic!("{e}: {text}"));
    expect_file!["golden/object.rs"].assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn main_and_test_run_a_task_within() {
    let parse = |text: &str| text.parse::<TokenStream>().expect("tokens");
    let main = finespun_compiler::main(
        parse("workers = 4"),
        parse(
            "/// Documented. async fn main() -> Result<(), Error> { f().await }"
                .replace("Documented. ", "Documented.\n")
                .as_str(),
        ),
    );
    let test = finespun_compiler::test(
        parse(""),
        parse("#[should_panic(expected = \"text\")] async fn panics() { f().await; }"),
    );
    let file = syn::parse2(quote::quote!(#main #test)).expect("items");
    expect_file!["golden/entry.rs"].assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn select_is_a_match() {
    golden(
        "select",
        "pinned",
        "async fn first(limit: Duration) -> u64 {
            select! {
                Some(mut n) = next(), if enabled() => { n += 1; n }
                () = sleep(limit) => 0,
                else => return 1,
            }
        }",
    );
}

#[test]
fn only_the_arm_with_a_reference_to_a_mutable_local_is_pinned() {
    golden(
        "part",
        "",
        "async fn eval(expr: &Expr, env: &Env<'_>) -> Result<i64, Error> {
            match expr {
                Expr::Value(value) => Ok(*value),
                Expr::Let(value, body) => {
                    let value = eval(value, env).await?;
                    let mut inner = Env { value, outer: Some(env) };
                    let inner = &mut inner;
                    eval(body, inner).await
                }
            }
        }",
    );
}

#[test]
fn what_every_call_reaches_is_no_part() {
    let item = "async fn f(n: u64) -> u64 {
        let mut doubled = n * 2;
        let r = &mut doubled;
        for _ in 0..3 { g(&*r).await; }
        doubled
    }";
    let parse = |text: &str| text.parse::<TokenStream>().expect("tokens");
    let tokens = finespun_compiler::task(TokenStream::new(), parse(item)).to_string();
    assert!(tokens.contains("*Task schema: pinned, because `r` borrows the local `doubled`: "), "{tokens}");
}
