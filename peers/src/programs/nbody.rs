//! Bodies that flock, as in rayon's demo `nbody`: each tick computes the next velocities of each body from all bodies.
//! In the second program, the sum over all bodies is parallel, too.

use std::array;
use std::f64::consts::PI;
use std::mem;
use std::ops::{Add, Mul, Sub};
use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program = Program {
    name: "nbody",
    about: "bodies that flock, each moved by all others: a loop over them for each tick",
    make,
};

pub const REDUCE: Program = Program {
    name: "nbody-reduce",
    about: "the same with a parallel sum over the others in each turn of the loop",
    make: make_reduce,
};

#[derive(Clone, Copy, PartialEq)]
struct Vector([f64; 3]);

impl Vector {
    const ZERO: Vector = Vector([0.0; 3]);

    fn square(self) -> f64 {
        self.0.iter().map(|x| x * x).sum()
    }

    fn unit(self) -> Vector {
        self * self.square().sqrt().recip()
    }
}

impl Add for Vector {
    type Output = Vector;
    fn add(self, other: Vector) -> Vector {
        Vector(array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl Sub for Vector {
    type Output = Vector;
    fn sub(self, other: Vector) -> Vector {
        Vector(array::from_fn(|k| self.0[k] - other.0[k]))
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;
    fn mul(self, factor: f64) -> Vector {
        Vector(self.0.map(|x| x * factor))
    }
}

#[derive(Clone)]
struct Body {
    position: Vector,
    velocity: Vector,
    /// The velocity that is subtracted when the body moves.
    drift: Vector,
}

/// What the others change in the two velocities of a body.
type Change = (Vector, Vector);

const NOTHING: Change = (Vector::ZERO, Vector::ZERO);

fn both(a: Change, b: Change) -> Change {
    (a.0 + b.0, a.1 + b.1)
}

/// The square of the distance within which bodies act on each other.
const ZONE: f64 = 3.0 * 400.0 * 400.0;
/// Squares of the distances up to which a body repels, and up to which it aligns.
const REPEL: f64 = 100.0;
const ALIGN: f64 = 300.0;

impl Body {
    fn flock(len: usize) -> Vec<Body> {
        let mut random = Random::new(1);
        let mut within = |from: f64, to: f64| from + random.unit() * (to - from);
        let body = |_| Body {
            position: Vector([within(0.0, 4000.0), within(0.0, 2000.0), within(-1250.0, 3750.0)]),
            velocity: Vector([within(-4.0, 4.0), within(-4.0, 4.0), within(10.0, 18.0)]),
            drift: Vector([within(-4.0, 4.0), within(-4.0, 4.0), within(0.0, 8.0)]),
        };
        (0..len).map(body).collect()
    }

    /// Returns what `other` changes in this body's velocities.
    #[inline]
    fn influence(&self, other: &Body) -> Change {
        let way = other.position - self.position;
        let square = way.square();
        if square >= ZONE || square == 0.0 {
            return NOTHING;
        }
        let share = square / ZONE;
        let wave = |x: f64| (x * PI * 2.0).cos() * 0.5;
        let mut change = NOTHING;
        if square < REPEL {
            let push = way.unit() * ((REPEL / share - 1.0) * 0.025);
            change = both(change, (push, push));
        } else if square < ALIGN {
            let strength = (1.0 - wave((share - REPEL) / (ALIGN - REPEL))) * 100.9;
            change = both(change, (other.drift.unit() * strength, self.velocity.unit() * strength));
        }
        if square > REPEL {
            let pull = way.unit() * ((0.5 - wave((share - REPEL) / (1.0 - REPEL))) * 100.9);
            change = both(change, (pull, Vector::ZERO - pull));
        }
        change
    }

    /// Returns this body after tick number `tick`, in which the others change its velocities.
    fn moved(&self, tick: usize, change: Change) -> Body {
        let time = tick as f64;
        let centre = [(time / 22.0).cos() * -4200.0, (time / 14.0).sin() * 9200.0, (time / 27.0).sin() * 6000.0];
        let way = Vector(centre) - self.position;
        let home = if way.square() > 3400.0 * 3400.0 { way.unit() * 0.2 } else { Vector::ZERO };
        let slowed = |v: Vector| if v.square() > 2000.0 { v * 0.15 } else { v };
        let velocity = slowed(self.velocity + home + change.0);
        let drift = slowed(self.drift + change.1);
        Body { position: self.position + velocity - drift, velocity, drift }
    }

    /// Returns this body after tick number `tick`.
    fn next(&self, tick: usize, bodies: &[Body]) -> Body {
        let change = bodies.iter().map(|other| self.influence(other)).fold(NOTHING, both);
        self.moved(tick, change)
    }
}

/// Returns a sum of the positions, each rounded: the order of a floating-point sum does not change it.
fn checksum(bodies: &[Body]) -> u64 {
    let places = bodies.iter().flat_map(|body| body.position.0);
    places.fold(0, |sum, x| sum.wrapping_mul(31).wrapping_add_signed((x * 16.0).round() as i64))
}

/// Returns the bodies, once for each form, and the number of ticks.
fn input(size: Size) -> ([Arc<Vec<Body>>; 3], usize) {
    let bodies = Arc::new(Body::flock(size.pick(100, 1000)));
    (array::from_fn(|_| bodies.clone()), size.pick(3, 10))
}

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let ([plain, ours, theirs], ticks) = input(size);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || checksum(&plain_form::simulate(plain.to_vec(), ticks))),
        Form::new("finespun", move || checksum(&finespun.run(finespun_form::simulate(ours.to_vec(), ticks)))),
        Form::new("rayon", move || checksum(&rayon.install(|| rayon_form::simulate(theirs.to_vec(), ticks)))),
    ]
}

fn make_reduce(size: Size, pools: &Pools) -> Vec<Form> {
    let ([plain, ours, theirs], ticks) = input(size);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || checksum(&plain_form::simulate(plain.to_vec(), ticks))),
        Form::new("finespun", move || checksum(&finespun.run(finespun_form::simulate_reduce(ours.to_vec(), ticks)))),
        Form::new("rayon", move || checksum(&rayon.install(|| rayon_form::simulate_reduce(theirs.to_vec(), ticks)))),
    ]
}

mod plain_form {
    use super::*;

    pub fn simulate(mut bodies: Vec<Body>, ticks: usize) -> Vec<Body> {
        let mut next = bodies.clone();
        for tick in 0..ticks {
            next.iter_mut().zip(&bodies).for_each(|(next, body)| *next = body.next(tick, &bodies));
            mem::swap(&mut bodies, &mut next);
        }
        bodies
    }
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::*;

    #[task]
    pub async fn simulate(mut bodies: Vec<Body>, ticks: usize) -> Vec<Body> {
        let mut next = bodies.clone();
        for tick in 0..ticks {
            next.par_iter_mut().zip(&bodies).for_each(|(next, body)| *next = body.next(tick, &bodies)).await;
            mem::swap(&mut bodies, &mut next);
        }
        bodies
    }

    #[task]
    pub async fn simulate_reduce(mut bodies: Vec<Body>, ticks: usize) -> Vec<Body> {
        for tick in 0..ticks {
            bodies = join_all(bodies.iter().map(|body| next(body, tick, &bodies))).await;
        }
        bodies
    }

    #[task]
    async fn next(body: &Body, tick: usize, bodies: &[Body]) -> Body {
        let changes = bodies.par_iter().map(|other| body.influence(other));
        body.moved(tick, changes.reduce(|| NOTHING, both).await)
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::*;

    pub fn simulate(mut bodies: Vec<Body>, ticks: usize) -> Vec<Body> {
        let mut next = bodies.clone();
        for tick in 0..ticks {
            next.par_iter_mut().zip(&bodies).for_each(|(next, body)| *next = body.next(tick, &bodies));
            mem::swap(&mut bodies, &mut next);
        }
        bodies
    }

    pub fn simulate_reduce(mut bodies: Vec<Body>, ticks: usize) -> Vec<Body> {
        let mut next = bodies.clone();
        for tick in 0..ticks {
            next.par_iter_mut().zip(&bodies).for_each(|(next, body)| {
                let changes = bodies.par_iter().map(|other| body.influence(other));
                *next = body.moved(tick, changes.reduce(|| NOTHING, both));
            });
            mem::swap(&mut bodies, &mut next);
        }
        bodies
    }
}
