//! The shortest tour through some cities, as in rayon's demo `tsp`: branch and bound. Each step takes the most promising
//! beginning of a tour from a queue and adds its continuations, each with a task for a further step; the last cities are
//! visited without tasks, in all forms.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "tsp", about: "shortest tour of 13 cities: branch and bound, a scope of tasks and a queue", make };

/// Distances between cities.
struct Map {
    distances: Vec<u64>,
    cities: usize,
}

impl Map {
    fn random(cities: usize) -> Map {
        let mut random = Random::new(1);
        let places: Vec<[f64; 2]> = (0..cities).map(|_| [(); 2].map(|()| random.unit() * 1000.0)).collect();
        let from = |a: [f64; 2]| places.iter().map(move |b| (a[0] - b[0]).hypot(a[1] - b[1]).round() as u64);
        Map { distances: places.iter().copied().flat_map(from).collect(), cities }
    }

    fn distance(&self, a: usize, b: usize) -> u64 {
        self.distances[a * self.cities + b]
    }
}

/// The beginning of a tour from city 0, ordered by the bound for the whole tour, and then by number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Beginning {
    /// No tour with this beginning is shorter.
    bound: u64,
    number: u64,
    length: u64,
    visited: u32,
    last: usize,
}

impl Beginning {
    fn has(&self, city: usize) -> bool {
        self.visited >> city & 1 == 1
    }

    /// Returns this beginning with one more city, without a bound.
    fn to(&self, city: usize, map: &Map) -> Beginning {
        let length = self.length + map.distance(self.last, city);
        Beginning { length, visited: self.visited | 1 << city, last: city, ..*self }
    }

    /// Returns a lower bound: each city that is left is reached from one that is left, or from the last.
    fn bound(&self, map: &Map) -> u64 {
        let left = || (0..map.cities).filter(|&city| !self.has(city));
        let way =
            |to: usize| left().chain([self.last]).filter(|&from| from != to).map(|from| map.distance(from, to)).min();
        self.length + left().filter_map(way).sum::<u64>()
    }
}

/// A search, which all tasks share.
struct Search {
    map: Arc<Map>,
    /// Beginnings with at most this many cities left are completed without tasks.
    at_once: usize,
    queue: Mutex<BinaryHeap<Reverse<Beginning>>>,
    begun: AtomicU64,
    shortest: AtomicU64,
}

impl Search {
    fn new(map: &Arc<Map>, at_once: usize) -> Search {
        let first = Beginning { bound: 0, number: 0, length: 0, visited: 1, last: 0 };
        Search {
            map: map.clone(),
            at_once,
            queue: Mutex::new(BinaryHeap::from([Reverse(first)])),
            begun: AtomicU64::new(1),
            shortest: AtomicU64::new(u64::MAX),
        }
    }

    fn shortest(&self) -> u64 {
        self.shortest.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<Beginning> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop().map(|Reverse(first)| first)
    }

    /// Takes the most promising beginning, and calls `more` for each continuation that it has put into the queue.
    fn step(&self, mut more: impl FnMut()) {
        let Some(beginning) = self.take() else { return };
        let left = self.map.cities - beginning.visited.count_ones() as usize;
        if left <= self.at_once {
            return self.complete(&beginning);
        }
        for city in (0..self.map.cities).filter(|&city| !beginning.has(city)) {
            let mut next = beginning.to(city, &self.map);
            if next.length >= self.shortest() {
                continue;
            }
            next.bound = next.bound(&self.map);
            next.number = self.begun.fetch_add(1, Ordering::Relaxed);
            self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(Reverse(next));
            more();
        }
    }

    /// Tries all ways to complete the tour.
    fn complete(&self, beginning: &Beginning) {
        let mut left = (0..self.map.cities).filter(|&city| !beginning.has(city)).peekable();
        if left.peek().is_none() {
            let home = self.map.distance(beginning.last, 0);
            self.shortest.fetch_min(beginning.length + home, Ordering::Relaxed);
            return;
        }
        for city in left {
            let next = beginning.to(city, &self.map);
            if next.length < self.shortest() {
                self.complete(&next);
            }
        }
    }
}

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let (cities, at_once) = size.pick((9, 4), (13, 8));
    let map = Arc::new(Map::random(cities));
    let search = move || Search::new(&map, at_once);
    let (plain, ours, theirs) = (search.clone(), search.clone(), search);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || shortest(&plain())),
        Form::new("finespun", move || finespun.run(finespun_form::shortest(&ours()))),
        Form::new("rayon", move || rayon.install(|| rayon_form::shortest(&theirs()))),
    ]
}

fn shortest(search: &Search) -> u64 {
    let mut left = 1;
    while left > 0 {
        left -= 1;
        search.step(|| left += 1);
    }
    search.shortest()
}

mod finespun_form {
    use finespun::prelude::*;

    use super::Search;

    #[task]
    pub async fn shortest(search: &Search) -> u64 {
        scope(|scope| step(scope, search)).await;
        search.shortest()
    }

    #[task]
    async fn step<'s>(scope: Scope<'s>, search: &'s Search) {
        search.step(|| drop(scope.spawn(step(scope, search))));
    }
}

mod rayon_form {
    use super::Search;

    pub fn shortest(search: &Search) -> u64 {
        rayon::scope(|scope| step(scope, search));
        search.shortest()
    }

    fn step<'s>(scope: &rayon::Scope<'s>, search: &'s Search) {
        search.step(|| scope.spawn(move |scope| step(scope, search)));
    }
}
