//! Writes the files in `generated`: random bodies that the stack schema must accept, the same in every run.
//!
//! The bodies have nested control flow, awaits in every position, shadowed names, and destructors that write to the
//! log. After a change here, `UPDATE_CORPUS=1 cargo test -p finespun --test compiler` writes the files again.

use std::fmt::Write;

const FILES: u64 = 5;
const BODIES: u64 = 10;

#[test]
fn corpus_is_fresh() {
    for file in 0..FILES {
        let path = format!("{}/tests/compiler/generated/part{file}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = corpus(file);
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap();
        assert!(found == text, "the generator has changed: UPDATE_CORPUS=1 writes its corpus anew");
    }
}

fn corpus(file: u64) -> String {
    let mut out =
        String::from("//! Random bodies, written by `generator.rs`: do not edit.\n\nuse crate::*;\n\ncorpus! {\n");
    for seed in file * BODIES..(file + 1) * BODIES {
        let mut writer = Writer::new(seed);
        writer.function();
        out += &writer.out;
    }
    out + "}\n"
}

#[derive(Clone)]
struct Number {
    name: String,
    assignable: bool,
}

/// A local with a destructor; `block` is the block that declares it.
#[derive(Clone)]
struct Dropping {
    name: String,
    block: usize,
}

struct Writer {
    seed: u64,
    state: u64,
    out: String,
    indent: usize,
    numbers: Vec<Number>,
    dropping: Vec<Dropping>,
    /// The enclosing loops, with their labels.
    loops: Vec<Option<String>>,
    block: usize,
    unique: usize,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let numbers = ["n", "m"].map(|name| Number { name: name.into(), assignable: false }).to_vec();
        Writer {
            seed,
            state: seed.wrapping_mul(0x1234_5678_9abc_def1),
            out: String::new(),
            indent: 2,
            numbers,
            dropping: Vec::new(),
            loops: Vec::new(),
            block: 0,
            unique: 0,
        }
    }

    /// Returns a random number below `n` (SplitMix64).
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn line(&mut self, text: &str) {
        writeln!(self.out, "{:width$}{text}", "", width = 4 * self.indent).unwrap();
    }

    fn function(&mut self) {
        let seed = self.seed;
        self.indent = 1;
        self.line(&format!("fn random_{seed}(n: u64, m: u64) -> u64 {{"));
        self.indent = 2;
        if self.below(3) == 0 {
            let (k, value) = (self.below(4), self.plain(1));
            self.line(&format!("if n % 4 == {k} {{ return {value}; }}"));
        }
        let count = 4 + self.below(4);
        self.statements(count, 3);
        let value = match self.below(4) {
            0 => self.call(),
            1 => self.plain(2),
            _ => self.number(2),
        };
        self.line(&value);
        self.indent = 1;
        let (a, b) = (self.below(8), self.below(50));
        self.line(&format!("}} with ({a}, {b});\n"));
    }

    /// Writes a block, and forgets its locals at its end. With `value`, the block has a value.
    fn braces(&mut self, head: &str, depth: u64, value: bool, foot: &str) {
        self.line(&format!("{head}{{"));
        self.indent += 1;
        let (numbers, dropping, block) = (self.numbers.len(), self.dropping.len(), self.block);
        self.unique += 1;
        self.block = self.unique;
        let count = 1 + self.below(3);
        self.statements(count, depth);
        if value {
            let value = self.number(2);
            self.line(&value);
        }
        self.block = block;
        self.numbers.truncate(numbers);
        self.dropping.truncate(dropping);
        self.indent -= 1;
        self.line(&format!("}}{foot}"));
    }

    fn statements(&mut self, count: u64, depth: u64) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u64) {
        match self.below(if depth > 0 { 22 } else { 13 }) {
            0 | 1 => {
                let value = self.number(2);
                self.bind(&value);
            }
            2 | 3 => {
                let value = self.call();
                self.bind(&value);
            }
            4 => {
                let value = self.number(2);
                if let Some(name) = self.assignable() {
                    self.line(&format!("{name} = {value};"));
                }
            }
            5 => {
                let value = self.number(1);
                if let Some(name) = self.assignable() {
                    self.line(&format!("{name} += {value};"));
                }
            }
            6 => {
                let value = self.plain(2);
                self.line(&format!("log({value});"));
            }
            7 => {
                let value = self.plain(1);
                let name = ["d", "e", "f"][self.below(3) as usize];
                let call = if self.below(2) == 0 { format!("leaf(N({value})).await") } else { format!("N({value})") };
                self.line(&format!("let {name} = {call};"));
                // A shadowed local cannot be named again.
                self.dropping.retain(|d| d.name != name);
                self.dropping.push(Dropping { name: name.into(), block: self.block });
            }
            8 => {
                let block = self.block;
                if let Some(at) = self.dropping.iter().rposition(|d| d.block == block) {
                    let gone = self.dropping.remove(at);
                    self.line(&format!("eat({});", gone.name));
                }
            }
            9 => {
                if let Some(d) = self.dropping.last().cloned() {
                    self.line(&format!("log({}.0);", d.name));
                }
            }
            10 => {
                let (a, b) = (self.plain(1), self.plain(1));
                let (x, y) = (self.name(), self.name());
                if x != y {
                    self.line(&format!("let ({x}, {y}): (u64, u64) = join!(leaf({a}), leaf({b}));"));
                    self.declare(&x, false);
                    self.declare(&y, false);
                }
            }
            11 => {
                let (value, otherwise) = (self.plain(1), self.plain(1));
                let name = self.name();
                self.line(&format!("let Some({name}): Option<u64> = pick({value}) else {{ return {otherwise} }};"));
                self.declare(&name, false);
            }
            12 => {
                let call = self.call();
                self.line(&format!("{call};"));
            }
            13 | 14 => {
                let condition = self.condition();
                self.braces(&format!("if {condition} "), depth - 1, false, "");
                if self.below(2) == 0 {
                    self.braces("else ", depth - 1, false, "");
                }
            }
            15 => {
                let (condition, name) = (self.condition(), self.name());
                self.braces(&format!("let {name}: u64 = if {condition} "), depth - 1, true, "");
                self.braces("else ", depth - 1, true, ";");
                self.declare(&name, false);
            }
            16 => {
                let subject = if self.below(2) == 0 { self.call() } else { self.plain(1) };
                let name = self.name();
                self.line(&format!("let {name}: u64 = match {subject} % 3 {{"));
                self.indent += 1;
                self.braces("0 => ", depth - 1, true, "");
                self.braces("1 => ", depth - 1, true, "");
                self.braces("_ => ", depth - 1, true, "");
                self.indent -= 1;
                self.line("};");
                self.declare(&name, false);
            }
            17 => {
                let (end, name) = (self.plain(1), self.name());
                let numbers = self.numbers.len();
                self.declare(&name, false);
                self.cycle(&format!("for {name} in 0..({end}) % 4 "), depth - 1);
                self.numbers.truncate(numbers);
            }
            18 => {
                let counter = self.fresh("w");
                self.line(&format!("let mut {counter} = 0;"));
                let head = match self.below(2) {
                    0 => format!("while {counter} < 3 "),
                    _ => format!("while leaf({counter}).await < 3 "),
                };
                self.counted(&head, &counter, depth - 1);
            }
            19 => {
                let (value, block) = (self.number(2), self.below(2));
                let condition = self.condition();
                match block {
                    0 => self.line(&format!("if {condition} {{ return {value}; }}")),
                    _ => self.leave(&condition),
                }
            }
            20 => self.leave("n % 3 == 1"),
            _ => self.braces("", depth - 1, false, ""),
        }
    }

    /// Writes a conditional `break` or `continue` of an enclosing loop.
    fn leave(&mut self, condition: &str) {
        if self.loops.is_empty() {
            return;
        }
        let at = self.below(self.loops.len() as u64) as usize;
        let label = match &self.loops[at] {
            Some(label) => format!(" {label}"),
            None => String::new(),
        };
        let what = if self.below(2) == 0 { "break" } else { "continue" };
        self.line(&format!("if {condition} {{ {what}{label}; }}"));
    }

    fn cycle(&mut self, head: &str, depth: u64) {
        let label = (self.below(3) == 0).then(|| self.fresh("'l"));
        let head = match &label {
            Some(label) => format!("{label}: {head}"),
            None => head.to_string(),
        };
        self.loops.push(label);
        self.braces(&head, depth, false, "");
        self.loops.pop();
    }

    /// Writes a loop that increments its own counter.
    fn counted(&mut self, head: &str, counter: &str, depth: u64) {
        let label = (self.below(3) == 0).then(|| self.fresh("'l"));
        let before = label.as_ref().map_or(String::new(), |l| format!("{l}: "));
        self.line(&format!("{before}{head}{{"));
        self.indent += 1;
        self.line(&format!("{counter} += 1;"));
        self.loops.push(label);
        self.braces("", depth, false, "");
        self.loops.pop();
        self.indent -= 1;
        self.line("}");
    }

    fn bind(&mut self, value: &str) {
        let (name, assignable) = (self.name(), self.below(2) == 0);
        let form = if assignable { "mut " } else { "" };
        self.line(&format!("let {form}{name}: u64 = {value};"));
        self.declare(&name, assignable);
    }

    fn declare(&mut self, name: &str, assignable: bool) {
        self.numbers.push(Number { name: name.into(), assignable });
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.unique += 1;
        format!("{stem}{}", self.unique)
    }

    /// Returns a name that may be in use already.
    fn name(&mut self) -> String {
        ["a", "b", "c", "x"][self.below(4) as usize].into()
    }

    /// Returns a visible name, chosen at random, if its local is assignable.
    fn assignable(&mut self) -> Option<String> {
        let at = self.below(self.numbers.len() as u64) as usize;
        let name = self.numbers[at].name.clone();
        let seen = self.numbers.iter().rfind(|n| n.name == name)?;
        seen.assignable.then_some(name)
    }

    /// Returns a numeric expression without an await.
    fn plain(&mut self, depth: u64) -> String {
        match self.below(if depth > 0 { 5 } else { 3 }) {
            0 => format!("{}u64", self.below(20)),
            1 | 2 => {
                let at = self.below(self.numbers.len() as u64) as usize;
                self.numbers[at].name.clone()
            }
            _ => {
                let (left, right) = (self.plain(depth - 1), self.plain(depth - 1));
                let op = ["+", "*", "^"][self.below(3) as usize];
                format!("(({left} {op} {right}) % 97)")
            }
        }
    }

    fn call(&mut self) -> String {
        let value = self.plain(2);
        format!("leaf({value}).await")
    }

    /// Returns a numeric expression, possibly with awaits.
    fn number(&mut self, depth: u64) -> String {
        match self.below(if depth > 0 { 6 } else { 3 }) {
            0 | 1 => self.plain(1),
            2 | 3 => self.call(),
            _ => {
                let (left, right) = (self.number(depth - 1), self.number(depth - 1));
                format!("(({left} + {right}) % 89)")
            }
        }
    }

    fn condition(&mut self) -> String {
        let one = |me: &mut Self| {
            let (value, k) = (me.number(1), me.below(2));
            format!("{value} % 2 == {k}")
        };
        let first = one(self);
        match self.below(4) {
            0 => format!("{first} && {}", one(self)),
            1 => format!("{first} || {}", one(self)),
            _ => first,
        }
    }
}
