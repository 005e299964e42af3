//! Instructions of each form, counted by valgrind's callgrind: the second round of a process with one worker per library.

use std::env;
use std::num::NonZero;
use std::process::Command;

use comfy_table::{Table, presets};

use super::{PROGRAMS, Pools, Program, Size, align_right, chosen};
use crate::error::Error;
use crate::instructions::collected;
use crate::matrix::last_line;
use crate::report::ratio;

/// Counts the instructions of the programs with these names, or of all. Returns the table as text.
pub fn count(names: &[String], size: Size) -> Result<String, Error> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["program", "form", "instructions", "to plain"]);
    for program in chosen(names) {
        let mut plain = None;
        for form in forms(program) {
            eprintln!("instructions: {} as {form}", program.name);
            let counted = total(program, form, size, 2)?.saturating_sub(total(program, form, size, 1)?) as f64;
            let plain = *plain.get_or_insert(counted);
            let millions = format!("{:.2} million", counted / 1e6);
            table.add_row([program.name.to_owned(), form.to_owned(), millions, ratio(counted / plain)]);
        }
    }
    align_right(&mut table, &[2, 3]);
    Ok(format!("instructions of one round, with one worker\n{table}\n"))
}

/// Returns the names of a program's forms.
fn forms(program: &Program) -> Vec<&'static str> {
    let forms = (program.make)(Size::Test, &Pools::start(NonZero::<usize>::MIN));
    forms.iter().map(|form| form.name).collect()
}

/// Runs one form for some rounds, in this process: valgrind counts its instructions.
pub fn run_form(name: &str, form: &str, rounds: usize, size: Size) -> Result<(), Error> {
    let unknown = || Error::Usage(format!("there is no program `{name}` with a form `{form}`"));
    let program = PROGRAMS.iter().find(|program| program.name == name).ok_or_else(unknown)?;
    let mut forms = (program.make)(size, &Pools::start(NonZero::<usize>::MIN));
    let form = forms.iter_mut().find(|known| known.name == form).ok_or_else(unknown)?;
    for _ in 0..rounds {
        (form.run)();
    }
    Ok(())
}

/// Returns the number of instructions of a process that runs one form for some rounds.
fn total(program: &Program, form: &str, size: Size, rounds: usize) -> Result<u64, Error> {
    let mut command = Command::new("valgrind");
    // tokio makes up to 512 threads for blocking calls.
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--max-threads=1000"]);
    command.arg(env::current_exe().map_err(Error::Child)?);
    command.args(["--programs", program.name, "--form", form, "--rounds", &rounds.to_string()]);
    if size == Size::Test {
        command.arg("--quick");
    }
    let output = command.output().map_err(Error::Child)?;
    collected(&output.stderr).filter(|_| output.status.success()).ok_or_else(|| Error::FailedProgram {
        program: program.name,
        form: form.to_owned(),
        status: output.status,
        message: last_line(&output.stderr),
    })
}
