//! Generates loops of all kinds.

use super::From;
use super::Gen;
use super::places::Use;
use super::scope::Var;
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    pub(super) fn any_loop(&mut self, depth: usize) -> Node {
        match self.rng.weighted(&[5, 6, 3, 4, 4, 3, 4, 3]) {
            0 => {
                let end = self.number(1);
                self.for_each(&Ty::Num, From::Value, "0..(#) % 3", vec![end], depth)
            }
            1 => {
                let (item, head) = (Ty::D, Ty::List(Box::new(Ty::D)));
                let list = self.expr(&head, 2);
                let template = self.rng.word(&["(#)", "(#)", "(#).into_iter()", "(#).into_iter().rev()"]);
                self.for_each(&item, From::Value, template, vec![list], depth)
            }
            2 => {
                let end = self.number(1);
                self.for_each(&Ty::D, From::Value, "t.row(#)", vec![end], depth)
            }
            3 => self.for_borrowed(depth),
            4 => self.for_pairs(depth),
            5 => self.while_let(depth),
            6 => self.while_counted(depth),
            _ => self.loop_counted(depth),
        }
    }

    /// Generates the repeated block, with a label or without; `bound` are the variables that the head binds.
    fn repeated(&mut self, bound: Vec<Var>, before: Node, depth: usize) -> (String, Node) {
        let label = if self.rng.percent(30) { Some(format!("'l{}", self.fresh_number())) } else { None };
        let prefix = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
        let start = self.flow();
        self.enter(label, true, None);
        let floor = self.raise_floor();
        let count = 1 + self.rng.weighted(&[3, 4, 3, 1]);
        let block = self.scoped(|g| {
            g.vars.extend(bound);
            let items = g.items(count, depth.saturating_sub(1));
            Node::other("{ # # }", vec![before, Node::list(items)])
        });
        self.floor = floor;
        self.leave(Some(start));
        (prefix, block)
    }

    /// Forbids moves of variables outside a loop; returns the previous floor.
    fn raise_floor(&mut self) -> usize {
        let floor = self.vars.len().max(self.floor);
        std::mem::replace(&mut self.floor, floor)
    }

    fn for_each(&mut self, item: &Ty, from: From, head: &str, parts: Vec<Node>, depth: usize) -> Node {
        let (pat, bound) = self.pattern(item, true, &from, 2);
        let nothing = Node::other("", vec![]);
        let (label, block) = self.repeated(bound, nothing, depth);
        let mut children = vec![pat];
        children.extend(parts);
        children.push(block);
        Node::item(&format!("{label}for # in {head} #"), children)
    }

    fn for_borrowed(&mut self, depth: usize) -> Node {
        let lists = |ty: &Ty| matches!(ty, Ty::List(_) | Ty::Two(_));
        let exclusive = self.rng.percent(30);
        let how = if exclusive { Use::Change } else { Use::Read };
        let place = if self.may_borrow() { self.place(how, lists) } else { None };
        let Some(place) = place else {
            let value = self.fresh(&Ty::Two(Box::new(Ty::D)));
            if !self.may_borrow() {
                return self.for_each(&Ty::D, From::Value, "#", vec![value], depth);
            }
            let k = self.fresh_number();
            let head = if exclusive { format!("list{k}.iter_mut()") } else { format!("&list{k}") };
            let turns = self.for_each(&Ty::D, From::Behind(None, exclusive), &head, vec![], depth);
            let form = if exclusive { "mut " } else { "" };
            return Node::item(&format!("let {form}list{k} = #; #"), vec![value, turns]);
        };
        let (Ty::List(item) | Ty::Two(item)) = &place.ty else { unreachable!("a sequence was asked for") };
        self.lend_here(place.var, exclusive);
        let template = match exclusive {
            true => format!("{}.iter_mut()", place.text),
            false => (self.rng.word(&["&LIST", "LIST.iter()", "LIST.iter().rev()"])).replace("LIST", &place.text),
        };
        let owner = if exclusive { None } else { Some(place.var) };
        self.for_each(item, From::Behind(owner, exclusive), &template, vec![], depth)
    }

    /// Returns a loop over an iterator of tuples, of which the pattern may take a part.
    fn for_pairs(&mut self, depth: usize) -> Node {
        let pair = |a: Ty, b: Ty| Ty::Pair(Box::new(a), Box::new(b));
        match self.rng.below(3) {
            0 => {
                let list = self.expr(&Ty::List(Box::new(Ty::D)), 1);
                self.for_each(&pair(Ty::Num, Ty::D), From::Value, "(0u64..).zip((#))", vec![list], depth)
            }
            1 => {
                let (a, b) = (self.expr(&Ty::D, 1), self.expr(&Ty::D, 1));
                self.for_each(&pair(Ty::D, Ty::Num), From::Value, "[(#, 1u64), (#, 2)]", vec![a, b], depth)
            }
            _ => {
                let option = self.expr(&Ty::Opt(Box::new(Ty::Duo)), 1);
                self.for_each(&Ty::Duo, From::Value, "(#)", vec![option], depth)
            }
        }
    }

    fn while_let(&mut self, depth: usize) -> Node {
        let Some(place) = self.place(Use::Change, |ty| matches!(ty, Ty::List(item) if **item == Ty::D)) else {
            let k = self.fresh_number();
            let end = self.number(1);
            let head = if self.may_await() { format!("leaf(row{k}.next()).await") } else { format!("row{k}.next()") };
            let (pat, bound) = self.pattern(&Ty::D, true, &From::Value, 2);
            let (label, block) = self.repeated(bound, Node::other("", vec![]), depth);
            let template = format!("let mut row{k} = t.row(#); {label}while let Some(#) = {head} #");
            return Node::item(&template, vec![end, pat, block]);
        };
        // The loop must not push to the list.
        self.lend_here(place.var, false);
        let option = Ty::Opt(Box::new(Ty::D));
        let head = match self.rng.below(4) {
            0 if self.may_await() => format!("leaf({}.pop()).await", place.text),
            1 if self.may_await() => format!("rest({}.pop()).await", place.text),
            _ => format!("{}.pop()", place.text),
        };
        let (pat, bound) = self.some_pattern(&option);
        self.vars[place.var].exclusive += 1;
        let (label, block) = self.repeated(bound, Node::other("", vec![]), depth);
        self.vars[place.var].exclusive -= 1;
        let chain = self.rng.word(&["", "", " && n < 9"]);
        Node::item(&format!("{label}while let # = {head}{chain} #"), vec![pat, block])
    }

    /// Returns a pattern that ends the loop at the latest with `None`.
    fn some_pattern(&mut self, option: &Ty) -> (Node, Vec<Var>) {
        let Ty::Opt(item) = option else { unreachable!("an option") };
        let (pat, bound) = self.pattern(item, false, &From::Value, 2);
        (Node::pat("Some(#)", vec![pat]), bound)
    }

    /// Returns a `while` with a counter that no other statement assigns.
    fn while_counted(&mut self, depth: usize) -> Node {
        let w = format!("w{}", self.fresh_number());
        let count = 1 + self.rng.below(3);
        let head = match self.rng.below(4) {
            0 if self.may_await() => format!("leaf({w}).await < {count}"),
            1 if self.may_await() => format!("rest(t.d({w})).await.0 < {count}"),
            2 => format!("{w} < {count} && t.is(n < 9)"),
            _ => format!("{w} < {count}"),
        };
        let before = Node::other(&format!("{w} += 1;"), vec![]);
        let (label, block) = self.repeated(Vec::new(), before, depth);
        Node::item(&format!("let mut {w} = 0u64; {label}while {head} #"), vec![block])
    }

    fn loop_counted(&mut self, depth: usize) -> Node {
        let w = format!("w{}", self.fresh_number());
        let count = 1 + self.rng.below(3);
        let end = self.rng.word(&["", ";"]);
        let head = if self.may_await() { format!("rest({w}).await") } else { w.clone() };
        let before = Node::other(&format!("{w} += 1; if {head} > {count} {{ break{end} }}"), vec![]);
        let (label, block) = self.repeated(Vec::new(), before, depth);
        Node::item(&format!("let mut {w} = 0u64; {label}loop #"), vec![block])
    }

    /// Returns a loop each of whose iterations moves out of a local and fills it again.
    pub(super) fn moved_and_renewed(&mut self, depth: usize) -> Node {
        let place = self
            .place(Use::Assign, |ty| matches!(ty, Ty::D | Ty::Owner | Ty::Duo | Ty::Opt(_) | Ty::Held | Ty::Pair(..)));
        let Some(place) = place.filter(|p| self.renewable(p)) else { return self.renewed_local(depth) };
        let w = format!("w{}", self.fresh_number());
        let turns = 1 + self.rng.below(3);
        let used = if self.may_await() { "eat(leaf(#).await);" } else { "eat(#);" };
        let used = Node::item(used, vec![Node::expr(&place.ty, &place.text, vec![])]);
        // Between the move and the assignment the local has no value.
        self.mark_moved(place.var, &place.part);
        let floor = self.raise_floor();
        let between = self.scoped(|g| {
            let count = g.rng.below(2);
            let value = g.items_that_stay(count);
            let renewed = g.expr(&place.ty, 1);
            (value, renewed)
        });
        self.floor = floor;
        self.refill(&place);
        let (between, value) = between;
        let template = format!("for {w} in 0..{turns} {{ # # {} = #; }}", place.text);
        Node::item(&template, vec![used, Node::list(between), value])
    }

    fn renewable(&self, place: &super::places::Place) -> bool {
        let var = &self.vars[place.var];
        var.mutable
            && var.state == super::scope::State::default()
            && place.var >= self.floor
            && !place.text.contains('*')
            && !place.text.contains(".inner")
            && !place.text.contains('[')
    }

    fn items_that_stay(&mut self, count: usize) -> Vec<Node> {
        let jumps = std::mem::take(&mut self.jumps);
        let items = self.items(count, 0);
        self.jumps = jumps;
        // The generator treats the code after a `return` among these items as reachable.
        self.dead = false;
        items
    }

    fn renewed_local(&mut self, depth: usize) -> Node {
        let name = self.name();
        let ty = self.droppable(1);
        let value = self.expr(&ty, depth.min(1));
        self.vars.push(Var::new(&name, ty, true));
        Node::item(&format!("let mut {name} = #;"), vec![value])
    }
}
