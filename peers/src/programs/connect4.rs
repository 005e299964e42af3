//! The value of positions of Connect Four: negamax with alpha-beta pruning. The columns of a position are searched in
//! parallel; they share the best value so far, a local of the search, and a value above the window ends the others.

use std::sync::atomic::{AtomicI32, Ordering};

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "connect4", about: "values of positions of Connect Four, by negamax with pruning", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let depth = size.pick(4, 10);
    let boards = openings(size.pick(3, 8));
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (boards.clone(), boards.clone(), boards);
    let sum = |values: &mut dyn Iterator<Item = i32>| {
        values.fold(0, |sum: u64, value| sum.wrapping_mul(1009).wrapping_add((value + WIN) as u64))
    };
    vec![
        Form::new("plain", move || sum(&mut plain.iter().map(|&board| plain_search(board, depth, -WIN, WIN)))),
        Form::new("finespun", move || {
            sum(&mut ours.iter().map(|&board| finespun.run(finespun_form::search(board, depth, -WIN, WIN))))
        }),
        Form::new("rayon", move || {
            sum(&mut theirs.iter().map(|&board| rayon.install(|| rayon_search(board, depth, -WIN, WIN))))
        }),
    ]
}

/// Above the value of every win.
const WIN: i32 = 10_000;

const COLUMNS: u32 = 7;
/// The columns from the centre outwards.
const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];

/// A position: seven bits per column, of which the highest stays empty.
#[derive(Clone, Copy, Default)]
struct Board {
    /// The stones of the player whose turn it is.
    own: u64,
    /// The stones of both.
    all: u64,
}

impl Board {
    /// Returns the position after a stone in a column; `None` if the column is full.
    fn play(self, column: u32) -> Option<Board> {
        let stone = (self.all + (1 << (7 * column))) & (0b111_1111 << (7 * column)) & !self.all;
        let top = 1 << (7 * column + 6);
        (stone & top == 0 && stone != 0).then_some(Board { own: self.all ^ self.own, all: self.all | stone })
    }

    /// Returns whether the last stone has made four in a row.
    fn is_lost(self) -> bool {
        let stones = self.all ^ self.own;
        [1, 6, 7, 8].iter().any(|&step| {
            let pairs = stones & (stones >> step);
            pairs & (pairs >> (2 * step)) != 0
        })
    }

    fn is_full(self) -> bool {
        (0..COLUMNS).all(|column| self.all & (1 << (7 * column + 5)) != 0)
    }

    /// Returns an estimate: stones in and near the centre count more.
    fn estimate(self) -> i32 {
        let weight = |stones: u64| {
            let in_columns = |from: u32, to: u32| (stones & ((1 << (7 * to)) - (1 << (7 * from)))).count_ones() as i32;
            in_columns(3, 4) + in_columns(2, 5) + in_columns(1, 6)
        };
        weight(self.own) - weight(self.all ^ self.own)
    }

    /// Returns the value if the search ends here.
    fn value(self, depth: u32) -> Option<i32> {
        if self.is_lost() {
            return Some(1 - WIN + 1_000 - depth as i32);
        }
        if self.is_full() {
            return Some(0);
        }
        (depth == 0).then(|| self.estimate())
    }
}

/// Makes positions after eight random moves, which nobody has won.
fn openings(number: usize) -> Vec<Board> {
    let mut random = Random::new(4);
    let mut boards = Vec::new();
    while boards.len() < number {
        let mut board = Some(Board::default());
        for _ in 0..8 {
            board = board.and_then(|board| board.play(random.below(7) as u32)).filter(|board| !board.is_lost());
        }
        boards.extend(board);
    }
    boards
}

fn plain_search(board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
    if let Some(value) = board.value(depth) {
        return value;
    }
    let mut best = alpha;
    for next in ORDER.iter().filter_map(|&column| board.play(column)) {
        best = best.max(-plain_search(next, depth - 1, -beta, -best));
        if best >= beta {
            break;
        }
    }
    best
}

mod finespun_form {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicI32, Ordering};

    use finespun::prelude::*;

    use super::{Board, ORDER};

    #[task]
    pub async fn search(board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
        if let Some(value) = board.value(depth) {
            return value;
        }
        let best = AtomicI32::new(alpha);
        let _ = parfor(0..ORDER.len(), |k| search_column(board, ORDER[k], depth, beta, &best)).await;
        best.into_inner()
    }

    #[task]
    async fn search_column(board: Board, column: u32, depth: u32, beta: i32, best: &AtomicI32) -> ControlFlow<()> {
        // With its type: otherwise the next position may borrow the board, as far as names tell, and the task is pinned.
        let Some(next): Option<Board> = board.play(column) else { return ControlFlow::Continue(()) };
        let value = -search(next, depth - 1, -beta, -best.load(Ordering::Relaxed)).await;
        best.fetch_max(value, Ordering::Relaxed);
        if value >= beta { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn rayon_search(board: Board, depth: u32, alpha: i32, beta: i32) -> i32 {
    if let Some(value) = board.value(depth) {
        return value;
    }
    let best = AtomicI32::new(alpha);
    ORDER.par_iter().filter_map(|&column| board.play(column)).find_any(|&next| {
        let value = -rayon_search(next, depth - 1, -beta, -best.load(Ordering::Relaxed));
        best.fetch_max(value, Ordering::Relaxed);
        value >= beta
    });
    best.into_inner()
}
