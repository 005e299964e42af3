//! Every kind of `self`.

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    shared_self {
        both { struct S(D, u64); }
        task { impl S {
            async fn get(&self, n: u64) -> u64 { wait().await; log("get"); leaf(self.1 + n).await }
            async fn name(&self) -> &str { wait().await; self.0.name() }
            async fn pick<'a>(&'a self, other: &'a D) -> &'a D { if leaf(self.1).await > 1 { &self.0 } else { other } }
            async fn explicit(self: &Self) -> u64 { leaf(self.1).await }
        } }
        task { pub async fn body() -> (u64, String) {
            let s = S(d("s"), 2);
            let n = s.get(1).await + s.get(2).await + s.explicit().await;
            let name = s.name().await.to_string();
            let other = d("other");
            let len = s.pick(&other).await.len();
            log("end");
            (n + len, name)
        } }
    }

    mutable_self {
        both { #[derive(Default)] struct S { list: Vec<N>, n: u64 } }
        task { impl S {
            async fn push(&mut self, n: u64) -> &mut Self { let n = leaf(N(n)).await; self.list.push(n); self.n += 1; self }
            async fn last(&mut self) -> Option<&mut N> { wait().await; self.list.last_mut() }
            async fn twice(&mut self, n: u64) { self.push(n).await; wait().await; self.push(n + 1).await; }
            async fn clear(self: &mut Self) { let old = std::mem::take(&mut self.list); wait().await; log(old.len()); }
        } }
        task { pub async fn body() -> u64 {
            let mut s = S::default();
            s.twice(1).await;
            s.push(7).await.n += 10;
            if let Some(last) = s.last().await { last.0 = 9; }
            s.clear().await;
            log("cleared");
            s.push(3).await;
            s.n
        } }
    }

    owned_self {
        both { struct S { a: D, b: D, n: u64 } }
        both { impl S { fn new() -> S { S { a: d("a"), b: d("b"), n: 3 } } } }
        task { impl S {
            async fn sum(self, _other: D) -> u64 { let local = d("local"); wait().await; self.n + local.len() }
            async fn mutable(mut self, n: u64) -> S { self.n += leaf(n).await; self.a = leaf(d("new a")).await; self }
            async fn apart(self) -> D { let S { a, b, .. } = self; wait().await; drop(a); log("a gone"); leaf(b).await }
            async fn unused(self) {}
            async fn unused_after_a_wait(self) -> u64 { wait().await; log("body"); 1 }
        } }
        task { pub async fn body() -> u64 {
            let n = S::new().sum(d("other")).await;
            log("1");
            let s = S::new().mutable(4).await;
            log("2");
            let b = s.apart().await;
            log("3");
            S::new().unused().await;
            log("4");
            n + S::new().unused_after_a_wait().await + b.len()
        } }
    }

    boxed_self {
        both { struct S(D, Option<Box<S>>); }
        task { impl S {
            async fn take(self: Box<Self>) -> u64 { wait().await; log("take"); self.0.len() }
            async fn open(self: Box<Self>) -> D { let s = *self; wait().await; log("open"); s.0 }
            async fn mutable(mut self: Box<Self>) -> Box<Self> { self.0 = leaf(d("new")).await; self }
        } }
        task { pub async fn body() -> u64 {
            let n = Box::new(S(d("1"), None)).take().await;
            let s = Box::new(S(d("2"), Some(Box::new(S(d("3"), None)))));
            let s = s.mutable().await;
            let opened = s.open().await;
            log("end");
            n + opened.len()
        } }
    }

    arc_self {
        both { struct S(D); }
        task { impl S {
            async fn shared(self: Arc<Self>) -> u64 { wait().await; log("shared"); self.0.len() }
            async fn reference(self: &Arc<Self>) -> Arc<Self> { wait().await; Arc::clone(self) }
        } }
        task { pub async fn body() -> u64 {
            let s = Arc::new(S(d("s")));
            let n = Arc::clone(&s).shared().await;
            let t = s.reference().await;
            drop(s);
            log("one left");
            n + t.shared().await
        } }
    }

    pinned_self {
        both { struct S(u64); }
        task { impl S {
            async fn add(mut self: Pin<&mut Self>, n: u64) -> u64 { let n = leaf(n).await; self.0 += n; self.0 }
            async fn read(self: Pin<&Self>) -> u64 { leaf(self.0).await }
        } }
        task { pub async fn body() -> u64 {
            let mut s = Box::pin(S(1));
            let a = s.as_mut().add(2).await;
            let b = s.as_mut().add(3).await;
            a + b + s.as_ref().read().await
        } }
    }

    no_self {
        both { struct S<T>(T); }
        task { impl S<u64> {
            async fn new(n: u64) -> Self { S(leaf(n).await) }
            async fn pair() -> (Self, D) { (Self::new(1).await, leaf(d("x")).await) }
            const TWO: u64 = 2;
            fn plain(&self) -> u64 { self.0 + Self::TWO }
        } }
        task { pub async fn body() -> u64 {
            let s = S::new(3).await;
            let (t, x) = S::pair().await;
            s.plain() + t.0 + x.len()
        } }
    }

    methods_marked_one_by_one {
        both { struct S(D, u64); }
        methods { [impl S]
            { async fn shared(&self) -> u64 { leaf(self.1).await }
              fn untouched(&self) -> u64 { self.1 } }
            { pub(crate) async fn owned(self) -> D { wait().await; self.0 } }
            { async fn new(n: u64) -> S { S(leaf(d("new")).await, n) } }
        }
        task { pub async fn body() -> u64 {
            let mut s = S::new(3).await;
            s.1 += s.shared().await + s.untouched();
            let n = s.1;
            n + s.owned().await.len()
        } }
    }

    self_in_closures_and_patterns {
        both { #[derive(Clone, Copy, PartialEq, Debug)] enum Kind { One(u64), Two { a: u64, b: u64 } } }
        task { impl Kind {
            async fn total(self) -> u64 {
                match self {
                    Self::One(n) => leaf(n).await,
                    Self::Two { a, b } => { let f = |x: u64| x + b; leaf(f(a)).await }
                }
            }
            async fn list(&self) -> Vec<u64> {
                let scale = match self { Kind::One(n) => *n, _ => 1 };
                let list: Vec<u64> = (0..2).map(|x| x * scale).collect();
                wait().await;
                if *self == (Kind::One(5)) { return vec![]; }
                list
            }
        } }
        task { pub async fn body() -> (u64, Vec<u64>) {
            let two = Kind::Two { a: 1, b: 2 };
            (Kind::One(3).total().await + two.total().await, Kind::One(4).list().await)
        } }
    }

    fields_of_self_lent_and_moved {
        both { struct S { a: Vec<u64>, b: Vec<u64>, c: Option<D> } }
        task { impl S {
            async fn run(&mut self) -> u64 {
                let S { a, b, .. } = self;
                a.push(leaf(1).await);
                std::mem::swap(a, b);
                wait().await;
                self.a.extend(self.b.drain(..));
                let c = self.c.take();
                wait().await;
                log("taken");
                c.map_or(0, |c| c.len()) + self.a.len() as u64
            }
        } }
        task { pub async fn body() -> u64 {
            let mut s = S { a: vec![], b: vec![5], c: Some(d("c")) };
            s.run().await + s.run().await
        } }
    }
}
