//! Conway's game of life, as in rayon's demo `life`: each generation is a new vector, collected from a parallel loop over
//! the cells.

use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "life", about: "Conway's game of life: a vector of cells collected for each generation", make };

#[derive(Clone)]
struct Board {
    alive: Vec<bool>,
    side: usize,
}

impl Board {
    fn random(side: usize) -> Board {
        let mut random = Random::new(1);
        Board { alive: (0..side * side).map(|_| random.below(2) == 0).collect(), side }
    }

    fn is_alive(&self, x: usize, y: usize) -> bool {
        x < self.side && y < self.side && self.alive[y * self.side + x]
    }

    /// Returns whether this cell is alive in the next generation.
    #[inline]
    fn lives_on(&self, cell: usize) -> bool {
        let (x, y) = (cell % self.side, cell / self.side);
        // One below 0 is beyond the side, as one above the side is.
        let (left, up) = (x.wrapping_sub(1), y.wrapping_sub(1));
        let around =
            [(left, up), (x, up), (x + 1, up), (left, y), (x + 1, y), (left, y + 1), (x, y + 1), (x + 1, y + 1)];
        let neighbours = around.into_iter().filter(|&(x, y)| self.is_alive(x, y)).count();
        neighbours == 3 || neighbours == 2 && self.is_alive(x, y)
    }

    fn checksum(&self) -> u64 {
        self.alive.iter().fold(0, |sum: u64, &alive| sum.wrapping_mul(31).wrapping_add(alive.into()))
    }
}

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let board = Arc::new(Board::random(size.pick(30, 200)));
    let generations = size.pick(5, 100);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (board.clone(), board.clone(), board);
    vec![
        Form::new("plain", move || play((*plain).clone(), generations).checksum()),
        Form::new("finespun", move || finespun.run(finespun_form::play((*ours).clone(), generations)).checksum()),
        Form::new("rayon", move || rayon.install(|| rayon_form::play((*theirs).clone(), generations)).checksum()),
    ]
}

fn play(mut board: Board, generations: usize) -> Board {
    for _ in 0..generations {
        board.alive = (0..board.alive.len()).map(|cell| board.lives_on(cell)).collect();
    }
    board
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::*;

    #[task]
    pub async fn play(mut board: Board, generations: usize) -> Board {
        for _ in 0..generations {
            board.alive = (0..board.alive.len()).into_par_iter().map(|cell| board.lives_on(cell)).collect().await;
        }
        board
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::*;

    pub fn play(mut board: Board, generations: usize) -> Board {
        for _ in 0..generations {
            board.alive = (0..board.alive.len()).into_par_iter().map(|cell| board.lives_on(cell)).collect();
        }
        board
    }
}
