//! A service: thousands of requests, each a task of tokio that lets a small computation over a tree run elsewhere and
//! awaits its result.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "service", about: "requests of tokio, each a small computation over a tree", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let mut random = Random::new(5);
    let nodes = 2_000;
    let trees: Arc<[Arc<Tree>]> = (0..64).map(|_| Arc::new(Tree::make(&mut random, nodes))).collect();
    let requests = size.pick(100, 5_000);
    let tree = move |request: u64| trees[request as usize % trees.len()].clone();
    let plain = tree.clone();
    vec![
        Form::new("plain", move || {
            (0..requests).map(|request| plain_answer(&plain(request), request)).fold(0, u64::wrapping_add)
        }),
        Form::new("finespun", {
            let (tokio, finespun, tree) = (pools.tokio.clone(), pools.finespun.clone(), tree.clone());
            move || {
                let serve = |request| {
                    let (finespun, tree) = (finespun.clone(), tree(request));
                    async move { finespun.spawn(finespun_form::request(tree, request)).await }
                };
                tokio.block_on(serve_all(requests, serve))
            }
        }),
        Form::new("tokio", {
            let (tokio, tree) = (pools.tokio.clone(), tree.clone());
            move || {
                let serve = |request| {
                    let tree = tree(request);
                    async move {
                        let answer = tokio::task::spawn_blocking(move || plain_answer(&tree, request));
                        answer.await.expect("no request panics")
                    }
                };
                tokio.block_on(serve_all(requests, serve))
            }
        }),
        Form::new("tokio, rayon", {
            let (tokio, rayon) = (pools.tokio.clone(), pools.rayon.clone());
            move || {
                let serve = |request| {
                    let (rayon, tree) = (rayon.clone(), tree(request));
                    async move {
                        let (sender, answer) = oneshot::channel();
                        rayon.spawn(move || {
                            // The request waits.
                            let _ = sender.send(rayon_answer(&tree, request));
                        });
                        answer.await.expect("no request panics")
                    }
                };
                tokio.block_on(serve_all(requests, serve))
            }
        }),
    ]
}

/// Serves each request by a task of tokio. Returns the sum of the answers.
async fn serve_all<F>(requests: u64, serve: impl Fn(u64) -> F) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for request in 0..requests {
        tasks.spawn(serve(request));
    }
    let mut sum = 0u64;
    while let Some(answer) = tasks.join_next().await {
        sum = sum.wrapping_add(answer.expect("no request panics"));
    }
    sum
}

struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
    value: u64,
}

impl Tree {
    /// Makes a random tree of `nodes` nodes.
    fn make(random: &mut Random, nodes: usize) -> Tree {
        let left = random.below(nodes);
        let mut sub = |nodes| (nodes > 0).then(|| Box::new(Tree::make(random, nodes)));
        let (left, right) = (sub(left), sub(nodes - 1 - left));
        Tree { left, right, value: random.next() }
    }

    /// Returns what a node contributes to the answer of a request.
    fn rate(&self, request: u64) -> u64 {
        (self.value ^ request).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
    }
}

fn plain_answer(tree: &Tree, request: u64) -> u64 {
    let of = |tree: &Option<Box<Tree>>| tree.as_ref().map_or(0, |tree| plain_answer(tree, request));
    of(&tree.left) + of(&tree.right) + tree.rate(request)
}

mod finespun_form {
    use std::sync::Arc;

    use finespun::prelude::*;

    use super::Tree;

    #[task]
    pub async fn request(tree: Arc<Tree>, request: u64) -> u64 {
        answer(&tree, request).await
    }

    #[task]
    async fn answer(tree: &Tree, request: u64) -> u64 {
        let (left, right) = join!(answer_of(&tree.left, request), answer_of(&tree.right, request));
        left + right + tree.rate(request)
    }

    #[task]
    async fn answer_of(tree: &Option<Box<Tree>>, request: u64) -> u64 {
        match tree {
            Some(tree) => answer(tree, request).await,
            None => 0,
        }
    }
}

fn rayon_answer(tree: &Tree, request: u64) -> u64 {
    let of = |tree: &Option<Box<Tree>>| tree.as_ref().map_or(0, |tree| rayon_answer(tree, request));
    let (left, right) = rayon::join(|| of(&tree.left), || of(&tree.right));
    left + right + tree.rate(request)
}
