//! Processes that a launcher has started as one program: `mpirun` of MPICH or Open MPI, or `srun`.
//!
//! - [`launcher`]: which launcher started this process, and as which of how many. Needs no MPI.
//! - `world`, with the feature `mpi`: the calls of MPI that Finespun's processes use, behind a safe interface. One C
//!   source, `shim.c`, serves MPICH 4 and Open MPI 4: it is compiled with `mpicc`, or the wrapper that the environment
//!   variable `MPICC` names at compile time.
//! - `exchange`, with the feature `mpi`: messages between processes of a world by any thread, without waiting.
//!
//! The program `finespun-floors` measures what the library's messages between processes are compared with: a cache line
//! in shared memory, and MPI's own operations.

#[cfg(feature = "mpi")]
pub mod exchange;
pub mod launcher;
#[cfg(feature = "mpi")]
mod shim;
#[cfg(feature = "mpi")]
pub mod world;
