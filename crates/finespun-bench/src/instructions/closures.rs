//! The life of a closure of three arguments: it is made, filled, posted, run and freed. Beside it, the same by hand for one
//! thread: what is left if nothing may migrate, be ended, panic, or be filled by another thread.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};

use super::programs::{LOOP, turns};
use crate::count::{Program, on_one_worker};

/// All programs of this module.
pub const PROGRAMS: &[Program] = &[
    Program::new("bare-posted", LOOP, turns, |n| bare(turns(n), bare_posted)),
    Program::new("bare-filled", LOOP, turns, |n| bare(turns(n), bare_filled)),
    Program::new("closures-posted", LOOP, turns, |n| {
        on_one_worker(top(move |k| post(make_closure!(posted, k, turns(n), 0))))
    }),
    Program::new("closures-filled", LOOP, turns, |n| {
        on_one_worker(top(move |k| post(make_closure!(filled, k, turns(n), 0))))
    }),
];

/// Counts down; each turn is a closure that is posted with all arguments.
#[thread]
fn posted(to: Cont<u64>, left: u64, mix: u64) {
    if left == 0 {
        return send_argument(mix, to);
    }
    post(make_closure!(posted, to, left - 1, mix ^ left));
}

/// Counts down; each turn is a closure that is made with one argument, and gets two.
#[thread]
fn filled(to: Cont<u64>, left: u64, mix: u64) {
    if left == 0 {
        return send_argument(mix, to);
    }
    let next = make_closure!(filled, to, _, _);
    send_argument(left - 1, next.left);
    send_argument(mix ^ left, next.mix);
}

/// A closure by hand: a thread, and the arguments that it has so far.
#[derive(Clone, Copy)]
struct Bare {
    thread: Thread,
    missing: u32,
    /// The closure that gets the result, and the place of its argument.
    to: (u32, u32),
    arguments: [u64; 2],
}

type Thread = fn(&mut Bares, (u32, u32), [u64; 2]);

/// All closures of a computation: by number, the numbers that are free, and those that are ready, latest last.
#[derive(Default)]
struct Bares {
    closures: Vec<Bare>,
    free: Vec<u32>,
    ready: Vec<u32>,
}

impl Bares {
    #[inline(always)]
    fn make(&mut self, closure: Bare) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.closures[number as usize] = closure;
                number
            }
            None => self.grow(closure),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, closure: Bare) -> u32 {
        self.closures.push(closure);
        self.closures.len() as u32 - 1
    }

    #[inline(always)]
    fn send(&mut self, value: u64, (number, place): (u32, u32)) {
        let closure = &mut self.closures[number as usize];
        closure.arguments[place as usize] = value;
        closure.missing -= 1;
        if closure.missing == 0 {
            self.ready.push(number);
        }
    }
}

/// Runs a thread, and then the closures that are ready, until none is left. Returns the argument that the first closure
/// gets.
fn bare(turns: u64, thread: Thread) -> u64 {
    let mut all = Bares::default();
    let result = all.make(Bare { thread, missing: 2, to: (0, 0), arguments: [0; 2] });
    thread(&mut all, (result, 0), [turns, 0]);
    while let Some(number) = all.ready.pop() {
        let Bare { thread, to, arguments, .. } = all.closures[number as usize];
        all.free.push(number);
        thread(&mut all, to, arguments);
    }
    all.closures[result as usize].arguments[0]
}

/// [`posted`] by hand.
#[inline(never)]
fn bare_posted(all: &mut Bares, to: (u32, u32), [left, mix]: [u64; 2]) {
    if left == 0 {
        return all.send(mix, to);
    }
    let next = all.make(Bare { thread: bare_posted, missing: 0, to, arguments: [left - 1, mix ^ left] });
    all.ready.push(next);
}

/// [`filled`] by hand.
#[inline(never)]
fn bare_filled(all: &mut Bares, to: (u32, u32), [left, mix]: [u64; 2]) {
    if left == 0 {
        return all.send(mix, to);
    }
    let next = all.make(Bare { thread: bare_filled, missing: 2, to, arguments: [0; 2] });
    all.send(left - 1, (next, 0));
    all.send(mix ^ left, (next, 1));
}

#[cfg(test)]
mod tests {
    use super::{bare, bare_filled, bare_posted, filled, make_closure, on_one_worker, post, posted, top};

    #[test]
    fn closures_by_hand_compute_the_same() {
        let known = (1..=100).fold(0, |mix, left| mix ^ left);
        assert_eq!([bare(100, bare_posted), bare(100, bare_filled)], [known; 2]);
        assert_eq!(on_one_worker(top(|k| post(make_closure!(posted, k, 100, 0)))), known);
        assert_eq!(on_one_worker(top(|k| post(make_closure!(filled, k, 100, 0)))), known);
    }
}
