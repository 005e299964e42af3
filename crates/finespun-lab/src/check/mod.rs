//! `finespun check`: runs small programs on simulated machines with random settings and adversaries, and checks what must
//! hold whatever the machine does.
//!
//! A number, the *seed*, determines everything: the program and its size, the machine, the settings of the runtime, and
//! the actions of the adversary. So a seed that fails fails again. (Only a deadlock is reported later while other
//! seeds run in the process: as far as the library knows, their runs could end its waits.)
//!
//! - `programs`: the catalogue
//! - `draw`: numbers from a seed

mod draw;
mod programs;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use finespun::group::{Members, Policy};
use finespun::runtime::{Fabric, Transport};
use finespun::simulation::Machine;
use finespun::testing::*;
use finespun::{Builder, Runtime};
use finespun_apps::Progress;

use crate::args::Check;
use crate::failure::Failure;
use crate::run::target::Target;
use crate::run::{Meter, TRACED, interrupt, write_trace};
use crate::show;
use draw::Draw;
use programs::{CATALOGUE, Program};

/// Real time after which a seed counts as hanging. The slowest takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Virtual time that no run takes: the longest need about a second.
const LONGEST: Duration = Duration::from_secs(100);

/// Everything that a seed determines.
struct Case {
    seed: u64,
    program: &'static Program,
    machine: &'static str,
    nodes: usize,
    workers: usize,
    transport: Transport,
    encode: bool,
    outbox: usize,
    block_every: u32,
    policy: Policy,
    members: Members,
    delay: Duration,
    pause: Duration,
    slow: u32,
    buffers: u32,
    /// The node that dies, and when.
    death: Option<(usize, Duration)>,
    /// The source of the program's own numbers.
    draw: Draw,
    /// Whether activities are recorded.
    traced: bool,
}

impl Case {
    /// Draws the case of a seed.
    fn of(seed: u64, only: Option<&'static Program>) -> Case {
        let mut draw = Draw::new(seed);
        let program = draw.one_of(CATALOGUE);
        let machines: Vec<_> = Machine::names().collect();
        let machine = draw.one_of(&machines);
        let nodes = 1 + draw.below(7) as usize;
        let workers = if draw.below(4) == 0 { 1 + draw.below(9) as usize } else { nodes };
        let us = |draw: &mut Draw, most: &[u64]| {
            let most = *draw.one_of(most);
            Duration::from_micros(if most == 0 { 0 } else { 1 + draw.below(most) })
        };
        Case {
            seed,
            program: only.unwrap_or(program),
            machine,
            nodes,
            workers,
            transport: *draw.one_of(&[Transport::Adaptive, Transport::Push, Transport::Pull]),
            encode: draw.below(3) == 0,
            outbox: *draw.one_of(&[1, 2, 8, 256]),
            block_every: *draw.one_of(&[0, 0, 0, 1, 2, 3, 5, 7]),
            policy: *draw.one_of(&[
                Policy::Steal,
                Policy::Steal,
                Policy::Global,
                Policy::Envelopes,
                Policy::Representatives,
            ]),
            members: *draw.one_of(&[Members::BottomUp, Members::RangeCodes]),
            delay: us(&mut draw, &[0, 0, 10, 100, 1000]),
            pause: us(&mut draw, &[0, 0, 10, 100, 2000]),
            slow: *draw.one_of(&[1, 1, 2, 10]),
            buffers: *draw.one_of(&[1, 2, 4, 64]),
            death: (draw.below(8) == 0).then(|| {
                let node = draw.below(nodes.min(workers) as u64) as usize;
                (node, us(&mut draw, &[10, 100, 1000, 10_000]))
            }),
            draw,
            traced: false,
        }
    }

    fn builder(&self) -> Result<Builder, Failure> {
        let machine = Machine::named(self.machine).map_err(|error| Failure::Unmet(error.to_string()))?;
        let machine =
            machine.seed(self.seed).delays(self.delay).pauses(self.pause).slow(self.slow).buffers(self.buffers);
        let machine = if self.traced { machine.traces(TRACED) } else { machine };
        let machine = match self.death {
            Some((node, after)) => machine.dies(node, after),
            None => machine,
        };
        Ok(Runtime::builder()
            .fabric(Fabric::Simulated(machine))
            .nodes(self.nodes)
            .workers(self.workers)
            .transport(self.transport)
            .encode(self.encode)
            .outbox(self.outbox)
            .block_every(self.block_every)
            .policy(self.policy)
            .members(self.members))
    }

    /// Runs the program, and passes the runtime to `trace`. Returns the number of events, or the broken condition.
    fn run(&self, trace: impl FnOnce(&Runtime)) -> Result<u64, String> {
        let runtime = self.builder().and_then(|builder| Ok(builder.build()?)).map_err(|error| error.to_string())?;
        let mut draw = self.draw.clone();
        let result = (self.program.run)(&runtime, &mut draw);
        trace(&runtime);
        let simulated = runtime.simulated();
        // After a death, each run ends with an error, in which the program does not find what it looks for.
        if simulated.is_none_or(|simulated| simulated.died.is_none()) {
            result?;
        }
        let (events, took) = simulated.map_or((0, Duration::ZERO), |simulated| (simulated.events, simulated.last_run));
        if took > LONGEST {
            return Err(format!("a run took {took:?} of virtual time"));
        }
        match runtime.close() {
            0 => Ok(events),
            left => Err(format!("{left} frames are left")),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { seed, program, machine, nodes, workers, transport, encode, outbox, block_every, .. } = self;
        let Case { policy, members, delay, pause, slow, buffers, death, .. } = self;
        write!(
            f,
            "seed {seed}: {} on {nodes} nodes with {workers} processors of {machine}, {transport:?}, bytes {encode}, outbox \
             {outbox}, block every {block_every}, {policy:?}, {members:?}, delays {delay:?}, pauses {pause:?}, slow {slow}, \
             buffers {buffers}",
            program.name
        )?;
        death.map_or(Ok(()), |(node, after)| write!(f, ", node {node} dies after {after:?}"))
    }
}

/// The state that the threads of a check share.
struct Shared {
    next: AtomicU64,
    end: u64,
    only: Option<&'static Program>,
    progress: Arc<Progress>,
    stop: AtomicBool,
    events: AtomicU64,
    /// Number of seeds by program.
    done: Mutex<BTreeMap<&'static str, u64>>,
    /// The failure with the lowest seed.
    failed: Mutex<Option<(u64, String)>>,
    /// The file for the trace of the only seed.
    trace: Mutex<Option<Target>>,
    /// The cases in progress, by thread, and when they began.
    running: Mutex<BTreeMap<usize, (u64, Instant)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries out `finespun check`.
///
/// # Errors
///
/// [`Failure::Usage`] for a program that does not exist, and [`Failure::Unmet`] with the first seed that fails.
pub fn check(options: &Check) -> Result<(), Failure> {
    let named = |name: &String| {
        let names: Vec<_> = CATALOGUE.iter().map(|program| program.name).collect();
        CATALOGUE.iter().find(|program| program.name == *name).ok_or_else(|| {
            Failure::Usage(format!("--program {name}: there is no such program; one of {}", names.join(", ")))
        })
    };
    if options.trace.is_some() && options.seed.is_none() {
        return Err(Failure::Usage("--trace needs a seed, whose run it shows: add --seed".to_owned()));
    }
    let only = options.program.as_ref().map(named).transpose()?;
    #[cfg(feature = "mutations")]
    if let Some(name) = &options.mutation {
        finespun::mutate(name)
            .map_err(|names| Failure::Usage(format!("--mutation {name}: there is no such error; one of {names}")))?;
    }
    interrupt::install();
    let (first, seeds) = options.seed.map_or((options.from, options.seeds), |seed| (seed, 1));
    let end = first.checked_add(seeds);
    let end = end.ok_or_else(|| Failure::Usage(format!("seed {first}: the last seed would be too large")))?;
    if options.seed.is_some() {
        show::note(&Case::of(first, only).to_string());
    }
    let trace = options.trace.as_deref().map(|path| Target::open("--trace", path)).transpose()?;
    let progress = Arc::new(Progress::default());
    progress.expect(seeds);
    let shared = Shared {
        next: AtomicU64::new(first),
        end,
        only,
        progress: Arc::clone(&progress),
        stop: AtomicBool::new(false),
        events: AtomicU64::new(0),
        done: Mutex::default(),
        failed: Mutex::default(),
        trace: Mutex::new(trace),
        running: Mutex::default(),
    };
    // Silences the programs' panics.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let meter = Meter::watch("check", progress);
    let jobs = options.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    thread::scope(|scope| {
        let shared = &shared;
        let workers: Vec<_> = (0..jobs).map(|job| scope.spawn(move || work(shared, job))).collect();
        watch(shared, &workers);
    });
    drop(meter);
    std::panic::set_hook(hook);
    if let Some((_, failure)) = lock(&shared.failed).take() {
        return Err(Failure::Unmet(failure));
    }
    let took = start.elapsed().as_secs_f64();
    let mut text = String::new();
    for (name, seeds) in lock(&shared.done).iter() {
        text += &format!("{name:<16} {} seeds\n", show::thousands(*seeds));
    }
    let events = shared.events.load(Ordering::Relaxed);
    text += &format!(
        "all passed       {} seeds, {} events in {}\n",
        show::thousands(seeds),
        show::thousands(events),
        show::seconds(took)
    );
    show::print(&text)
}

/// Runs seeds until all are done or one has failed.
fn work(shared: &Shared, job: usize) {
    while !shared.stop.load(Ordering::Relaxed) {
        let seed = shared.next.fetch_add(1, Ordering::Relaxed);
        if seed >= shared.end {
            break;
        }
        let mut case = Case::of(seed, shared.only);
        let target = lock(&shared.trace).take();
        case.traced = target.is_some();
        lock(&shared.running).insert(job, (seed, Instant::now()));
        let result = case.run(|runtime| {
            if let Some(Err(failure)) = target.map(|target| write_trace(target, runtime)) {
                show::complain(&failure.to_string());
            }
        });
        lock(&shared.running).remove(&job);
        match result {
            Ok(events) => {
                shared.events.fetch_add(events, Ordering::Relaxed);
                *lock(&shared.done).entry(case.program.name).or_default() += 1;
            }
            Err(reason) => fail(shared, &case, &reason),
        }
        shared.progress.advance(1);
    }
}

fn fail(shared: &Shared, case: &Case, reason: &str) {
    shared.stop.store(true, Ordering::Relaxed);
    let mut failed = lock(&shared.failed);
    if failed.as_ref().is_none_or(|(seed, _)| case.seed < *seed) {
        let program = shared.only.map_or(String::new(), |program| format!(" --program {}", program.name));
        let again = format!("finespun check --seed {}{program}", case.seed);
        *failed = Some((case.seed, format!("{case}: {reason}; run it again by `{again}`")));
    }
}

/// Ends the process if a seed hangs: its thread cannot be ended otherwise.
fn watch(shared: &Shared, workers: &[thread::ScopedJoinHandle<'_, ()>]) {
    while workers.iter().any(|worker| !worker.is_finished()) {
        thread::sleep(Duration::from_millis(2));
        let late = lock(&shared.running).values().find(|(_, begun)| begun.elapsed() > PATIENCE).copied();
        if let Some((seed, _)) = late {
            fail(shared, &Case::of(seed, shared.only), &format!("not ended after {PATIENCE:?}"));
            let failure = lock(&shared.failed).take().map_or(String::new(), |(_, failure)| failure);
            show::complain(&failure);
            std::process::exit(1);
        }
    }
}
