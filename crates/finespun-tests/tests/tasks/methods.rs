//! Tasks as methods: inherent, in traits, through `dyn`, generic.

use crate::common::everywhere;
use finespun::RunError;
use finespun::prelude::*;

struct Node {
    value: u64,
    children: Vec<Node>,
}

fn node(depth: u64) -> Node {
    Node { value: depth, children: (0..depth).map(node).collect() }
}

impl Node {
    #[task(stack)]
    async fn sum(&self) -> u64 {
        let mut s = self.value;
        for child in &self.children {
            s += child.sum().await;
        }
        s
    }

    #[task(stack)]
    async fn total(&self) -> u64 {
        self.value + reduce(self.children.iter().map(|c| c.total()), 0, |a, b| a + b).await
    }

    /// Makes two `&mut self` calls in a row: pinned, but supported.
    #[task]
    async fn add(&mut self, n: u64) {
        self.value += n;
        for child in &mut self.children {
            child.add(n).await;
        }
        self.nothing().await;
        self.nothing().await;
    }

    #[task]
    async fn nothing(&mut self) {}

    #[task]
    async fn new(value: u64) -> Self {
        Self { value, children: Vec::new() }
    }

    #[task]
    async fn into_value(mut self, plus: u64) -> u64 {
        self.value += self.nothing_of(plus).await;
        format!("{}", self.value).parse().unwrap()
    }

    #[task]
    async fn nothing_of(&self, n: u64) -> u64 {
        n
    }
}

/// A trait for sized types only: one of its tasks takes `self` by value.
#[task]
trait Shape {
    async fn area(&self, scale: u64) -> u64;

    async fn twice(&self, scale: u64) -> u64
    where
        Self: Sized + Sync,
    {
        let a = self.area_of(scale).await;
        a * 2
    }

    async fn area_of(&self, scale: u64) -> u64;

    async fn consumed(self) -> u64;
}

struct Square(u64);

#[task]
impl Shape for Square {
    async fn area(&self, scale: u64) -> u64 {
        self.0 * self.0 * scale
    }
    async fn area_of(&self, scale: u64) -> u64 {
        self.area(scale).await
    }
    async fn consumed(self) -> u64 {
        self.0
    }
}

/// A trait with the attribute on the whole block, called through `dyn`.
#[task]
trait Visit: Sync {
    async fn visit(&self, n: u64) -> u64;

    async fn deep(&self, n: u64) -> u64 {
        let a = self.visit(n / 2).await;
        a + self.number()
    }

    fn number(&self) -> u64;
}

struct Plus(u64);

#[task]
impl Visit for Plus {
    async fn visit(&self, n: u64) -> u64 {
        if n == 0 {
            return self.0;
        }
        let (a, b) = join!(self.visit(n - 1), self.visit(n / 2));
        a + b
    }

    fn number(&self) -> u64 {
        self.0
    }
}

#[task]
async fn all(visitors: &[Box<dyn Visit>], n: u64) -> u64 {
    let mut s = 0;
    for v in visitors {
        s += v.visit(n).await;
        s += v.deep(n).await;
    }
    s
}

/// A trait with a supertrait that has tasks, with type parameters, lifetimes, `&mut self` and associated types.
#[task]
trait Deck<K: Send + Sync>: Visit + Send {
    type Card: Send;

    async fn find(&self, key: &K, names: &[&str]) -> Option<&K>;
    async fn longest<'a>(&self, a: &'a str, b: &'a str) -> &'a str;
    async fn push(&mut self, key: K) -> usize;
    async fn top(&self) -> Option<Self::Card>;

    async fn push_twice(&mut self, key: K) -> usize
    where
        K: Clone,
    {
        self.push(key.clone()).await;
        self.push(key).await
    }

    async fn filled(keys: Vec<K>) -> Self
    where
        Self: Sized + Send;
}

struct Keys(Vec<u64>);

#[task]
impl Visit for Keys {
    async fn visit(&self, n: u64) -> u64 {
        let a = id(n).await;
        a + self.number()
    }

    fn number(&self) -> u64 {
        self.0.len() as u64
    }
}

#[task]
impl Deck<u64> for Keys {
    type Card = String;

    async fn find(&self, key: &u64, names: &[&str]) -> Option<&u64> {
        let skip = id(names.len()).await;
        self.0.iter().skip(skip).find(|k| *k == key)
    }

    async fn longest<'a>(&self, a: &'a str, b: &'a str) -> &'a str {
        longest(a, b).await
    }

    async fn push(&mut self, key: u64) -> usize {
        let key = id(key).await;
        self.0.push(key);
        self.0.len()
    }

    async fn top(&self) -> Option<String> {
        self.0.last().map(u64::to_string)
    }

    async fn filled(keys: Vec<u64>) -> Self {
        Keys(id(keys).await)
    }
}

#[task]
async fn through<'k>(deck: &mut (dyn Deck<u64, Card = String> + 'k)) -> String {
    let first = deck.push(7).await;
    let last = deck.push_twice(8).await;
    let other = String::from("abc");
    let longest = deck.longest("ab", &other).await.len();
    let (found, lost) = {
        let key = 8;
        let found = deck.find(&key, &["skip", "two"]).await.copied();
        (found, deck.find(&9, &[]).await.copied())
    };
    let (visited, deep) = join!(deck.visit(10), deck.deep(20));
    let top = deck.top().await;
    format!("{first} {last} {longest} {found:?} {lost:?} {visited} {deep} {top:?}")
}

#[task]
async fn boxed() -> String {
    let mut deck: Box<dyn Deck<u64, Card = String>> = Box::new(Keys::filled(vec![1, 2]).await);
    through(&mut *deck).await
}

/// Uses a trait object whose borrow outlives the call, and whose tasks may be spawned and stolen.
#[task]
async fn many_through(visitors: &[Box<dyn Visit + Send>], n: u64) -> u64 {
    let first = scope(|s| spawn_through(s, &*visitors[0], n)).await;
    first + reduce((0..n).map(|k| visitors[k as usize % visitors.len()].visit(k)), 0, |a, b| a + b).await
}

#[task]
async fn spawn_through<'s>(s: Scope<'s>, visitor: &'s (dyn Visit + Send), n: u64) -> u64 {
    let (a, b) = (s.spawn(visitor.visit(n)), s.spawn(visitor.deep(n)));
    a.await + b.await
}

/// A trait whose task has a type parameter: no `dyn` type, and opaque tasks.
#[task]
trait Mapped: Sync {
    async fn mapped<T: Send + From<u64>>(&self) -> T;
    async fn doubled(&self) -> u64 {
        self.mapped::<u64>().await * 2
    }
}

#[task]
impl Mapped for Plus {
    async fn mapped<T: Send + From<u64>>(&self) -> T {
        T::from(id(self.0).await)
    }
}

#[task]
async fn generic<V: Visit>(v: &V, n: u64) -> u64 {
    v.visit(n).await + v.deep(n).await
}

#[task]
async fn opaque(f: impl Fn(u64) -> u64 + Send, n: u64) -> u64 {
    let a = id(f(n)).await;
    let b = id(f(a)).await;
    a + b
}

#[task]
async fn id<T: Send>(t: T) -> T {
    t
}

#[task]
async fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    let (x, y) = join!(id(a.len()), id(b.len()));
    if x >= y { a } else { b }
}

fn plain_sum(n: &Node) -> u64 {
    n.value + n.children.iter().map(plain_sum).sum::<u64>()
}

#[test]
fn inherent_methods() {
    everywhere(|runtime| {
        let mut tree = node(6);
        assert_eq!(runtime.run(tree.sum()), plain_sum(&tree));
        assert_eq!(runtime.run(tree.total()), plain_sum(&tree));
        let before = plain_sum(&tree);
        runtime.run(tree.add(2));
        assert_eq!(plain_sum(&tree), before + 2 * 64);
        assert_eq!(runtime.run(Node::new(3)).value, 3);
        assert_eq!(runtime.run(Node { value: 4, children: vec![] }.into_value(5)), 9);
    });
}

#[test]
fn trait_methods() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(Square(3).area(2)), 18);
        assert_eq!(runtime.run(Square(3).twice(2)), 36);
        let visitors: Vec<Box<dyn Visit>> = vec![Box::new(Plus(1)), Box::new(Plus(2))];
        let (a, b) = (runtime.run(generic(&Plus(1), 6)), runtime.run(generic(&Plus(2), 6)));
        assert_eq!(runtime.run(all(&visitors, 6)), a + b);
    });
}

#[test]
fn methods_through_trait_objects() {
    everywhere(|runtime| {
        let plain = "3 5 3 Some(8) None 15 20 Some(\"8\")";
        assert_eq!(runtime.run(boxed()), plain);
        assert_eq!(runtime.run(through(&mut Keys(vec![1, 2]))), plain);
        let visitors: Vec<Box<dyn Visit + Send>> = vec![Box::new(Keys(vec![5])), Box::new(Keys(vec![]))];
        assert_eq!(runtime.run(many_through(&visitors, 10)), (11 + 7) + 45 + 5);
        assert_eq!(runtime.run(Plus(4).doubled()), 8);
    });
}

#[test]
fn generics_and_lifetimes() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(opaque(|x| x * 2, 5)), 30);
        assert_eq!(runtime.run(longest("ab", "abc")), "abc");
    });
}

mod same_names {
    use finespun::prelude::*;

    use crate::common::everywhere;

    #[task]
    async fn work(n: u64) -> u64 {
        n + 1
    }

    struct Own(u64);

    #[task]
    impl Own {
        async fn go(&self, other: Option<&u64>) -> u64 {
            let Some(other) = other else { return 0 };
            let a = work(*other).await;
            a + 1000 + self.0
        }
    }

    #[task]
    trait First: Sync {
        async fn go(&self, other: Option<&u64>) -> u64;
    }

    #[task]
    impl First for Own {
        async fn go(&self, other: Option<&u64>) -> u64 {
            if self.0 > 5 {
                return 2;
            }
            let a = work(7).await;
            a + 2000 + self.0 + other.copied().unwrap_or(0)
        }
    }

    #[task]
    trait Second: Sync {
        async fn go(&self, n: u64) -> u64;
    }

    #[task]
    impl Second for Own {
        async fn go(&self, n: u64) -> u64 {
            if n < 4 {
                return 3;
            }
            let a = work(n).await;
            a + 3000 + self.0
        }
    }

    #[test]
    fn each_trait_runs_its_own_method() {
        everywhere(|runtime| {
            let own = Own(0);
            assert_eq!(runtime.run(own.go(Some(&1))), 1002);
            assert_eq!(runtime.run(First::go(&own, None)), 2008);
            assert_eq!(runtime.run(Second::go(&own, 10)), 3011);
            assert_eq!(runtime.run(Second::go(&own, 1)), 3);
        });
    }
}

struct Stuck;

impl Stuck {
    #[task]
    async fn waits(&self) -> u64 {
        let kept = std::sync::Mutex::new(None);
        suspend(|k: Continuation<u64>| *kept.lock().unwrap() = Some(k)).await
    }
}

#[task]
trait Wait: Sync {
    async fn waits_too(&self) -> u64;
}

#[task]
impl Wait for Stuck {
    async fn waits_too(&self) -> u64 {
        self.waits().await + 1
    }
}

#[test]
fn reports_name_methods_as_in_the_source() {
    everywhere(|runtime| {
        let Err(RunError::Deadlock(lines)) = runtime.try_run(Stuck.waits_too()) else { panic!("it waits for itself") };
        let lines = lines.join("\n");
        assert!(lines.contains("waits waits for"), "{lines}");
        assert!(!lines.contains("__"), "{lines}");
    });
}
