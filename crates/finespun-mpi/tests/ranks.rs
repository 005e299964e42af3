//! What processes of one world do with each other. Run by `scripts/mpi`, with several processes:
//!
//! ```text
//! CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="mpirun -n 4" cargo test -p finespun-mpi --features mpi --test ranks
//! ```
//!
//! Not a test harness: each process must do the same in the same order. With `FINESPUN_OTHER_BUILD` set, the last process
//! claims to be another program, and all must notice.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

use finespun_mpi::exchange::{Exchange, UnderWay};
use finespun_mpi::launcher::launched;
use finespun_mpi::world::{Error, World};

const TAG: u16 = 7;
/// What each process adds to a sum.
const TIMES: u64 = 200;

fn main() {
    let place = launched();
    let (rank, size) = place.map_or((0, 1), |place| (place.rank, place.size));
    if std::env::var_os("FINESPUN_OTHER_BUILD").is_some() {
        let other = rank + 1 == size;
        match World::start(u64::from(other)) {
            Err(Error::OtherBuild { rank }) => assert_eq!(rank, size - 1, "the process that differs"),
            found => panic!("another build was not noticed: {found:?}"),
        }
        return;
    }
    let world = World::start(1).expect("MPI starts");
    assert_eq!((world.rank(), world.size()), (rank, size), "the launcher's variables are right");
    assert!(matches!(World::start(1), Err(Error::Started)), "MPI starts once");
    if let Err(error) = exchange(&world).and_then(|()| share(&world)).and_then(|()| swap(&world)) {
        // The other processes would wait for this one.
        eprintln!("process {rank}: {error}");
        world.abort(1);
    }
    let world = ManuallyDrop::new(world);
    if let Err(error) = without_waiting(Exchange::lend(&world)) {
        eprintln!("process {rank}: {error}");
        world.abort(1);
    }
    if rank == 0 {
        println!("{size} processes, {}: ok", world.library());
    }
}

/// Each process sends all others short and long messages, which it receives in order: short ones by receives that wait for
/// them, long ones once they are found. Then all end.
fn without_waiting(exchange: &Exchange) -> Result<(), Error> {
    const EACH: usize = 60;
    const LONG: usize = 20;
    let (rank, size) = (exchange.rank(), exchange.size());
    let mut said = [rank as u8 + 1];
    exchange.broadcast(0, &mut said)?;
    assert_eq!(said, [1], "what process 0 says");
    let is_long = |number: usize| number.is_multiple_of(LONG);
    let message = |from: usize, number: usize| {
        let length = if is_long(number) { 300_000 } else { number };
        vec![(from * EACH + number) as u8; length]
    };
    let others = || (0..size).filter(|to| *to != rank);
    let mut sent = Vec::new();
    for number in 0..EACH {
        for to in others() {
            sent.push(exchange.begin_send(to, TAG + u16::from(is_long(number)), message(rank, number))?);
        }
    }
    // By sender: the numbers of the next short and of the next long message.
    let (mut short, mut long) = (vec![1; size], vec![0; size]);
    let mut posted = Vec::from([(); 3].map(|()| exchange.begin_receive(TAG, EACH)));
    let mut found: Vec<Option<UnderWay>> = (0..size).map(|_| None).collect();
    let is_missing = |next: &[usize]| others().any(|from| next[from] < EACH);
    while !sent.is_empty() || is_missing(&short) || is_missing(&long) {
        if exchange.is_done(posted[0].as_mut().unwrap())? {
            posted.push(exchange.begin_receive(TAG, EACH));
            let (from, bytes) = posted.remove(0)?.into_message();
            assert!(bytes == message(from, short[from]), "message {} of process {from}", short[from]);
            short[from] += if is_long(short[from] + 1) { 2 } else { 1 };
        }
        for from in others() {
            if found[from].is_none() {
                found[from] = exchange.begin_receive_of(from, TAG + 1)?;
            }
            let Some(arriving) = found[from].as_mut() else { continue };
            if exchange.is_done(arriving)? {
                let (sender, bytes) = found[from].take().unwrap().into_message();
                assert!(sender == from && bytes == message(from, long[from]), "message {} of {from}", long[from]);
                long[from] += LONG;
            }
        }
        if let Some(last) = sent.last_mut()
            && exchange.is_done(last)?
        {
            sent.pop();
        }
    }
    posted.into_iter().try_for_each(|posted| exchange.take_back(posted?))?;
    exchange.end()?;
    assert!(matches!(exchange.begin_receive(TAG, 1), Err(Error::Ended)), "MPI has ended");
    exchange.end()
}

/// Messages along a ring of processes, long and short.
fn exchange(world: &World) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let all = world.gather_all(rank as u64 * 10)?;
    assert_eq!(all, (0..size as u64).map(|rank| rank * 10).collect::<Vec<_>>());
    for length in [0, 1, 8, 100, 10_000] {
        let (sent, mut received) = (vec![rank as u8; length], vec![0; length]);
        // The odd ones receive first, so that no cycle of processes waits for room.
        if size > 1 && rank % 2 == 1 {
            assert_eq!(world.receive(before, TAG, &mut received)?, length);
            world.send(next, TAG, &sent)?;
        } else if size > 1 {
            world.send(next, TAG, &sent)?;
            assert_eq!(world.receive(before, TAG, &mut received)?, length);
        } else {
            received.fill(0);
        }
        assert_eq!(received, vec![before as u8; length]);
    }
    if rank == 0 && size > 1 {
        world.send(1, TAG, &[0; 9])?;
    } else if rank == 1 {
        let long = world.receive(0, TAG, &mut [0; 8]);
        assert!(matches!(long, Err(Error::Mpi { .. })), "a message that is too long is an error: {long:?}");
    }
    world.barrier()
}

/// A sum in memory that the processes share.
fn share(world: &World) -> Result<(), Error> {
    let rank = world.rank();
    if world.size() > 1 {
        let found = world.window(10 + rank).map(|_| ());
        assert!(matches!(found, Err(Error::Size { rank: 1, words: 11 })), "{found:?}");
    }
    assert!(matches!(world.share(usize::MAX), Err(Error::Size { rank: 0, .. })));
    let memory = world.share(100)?;
    assert!(memory.words().iter().all(|word| word.load(Ordering::Relaxed) == 0), "shared memory is zero at first");
    world.barrier()?;
    for _ in 0..TIMES {
        memory.words()[99].fetch_add(1, Ordering::Relaxed);
    }
    world.barrier()?;
    assert_eq!(memory.words()[99].load(Ordering::Relaxed), TIMES * world.host_size() as u64);
    Ok(())
}

/// All processes swap a word of process 0: each value that was put in comes out once, or stays.
fn swap(world: &World) -> Result<(), Error> {
    let (window, rank, size) = (world.window(4)?, world.rank(), world.size() as u64);
    world.barrier()?;
    let mut sum = 0_u64;
    for time in 0..TIMES {
        sum += window.swap(0, 1, 1 + rank as u64 + time * size)?;
    }
    // Process 0 serves the others while it waits.
    world.barrier()?;
    let mut left = [0];
    window.get(0, 1, &mut left)?;
    let [left] = left;
    let out: u64 = world.gather_all(sum)?.iter().sum();
    let values = TIMES * size;
    assert_eq!(out + left, values * (values + 1) / 2, "the values that came out, and the one that is left");
    // Each process writes to the next.
    let next = (rank + 1) % world.size();
    window.put(next, 2, &[rank as u64, !(rank as u64)])?;
    world.barrier()?;
    let before = (rank as u64 + size - 1) % size;
    let own = [2, 3].map(|at: usize| window.own()[at].load(Ordering::Acquire));
    assert_eq!(own, [before, !before]);
    world.barrier()
}
