//! Generates uses of a local whose effect the local's name alone does not show: in closures, in macros, of a part.

use super::places::{Place, Use};
use super::{From, Gen};
use crate::tree::Node;
use crate::types::Ty;

impl Gen {
    /// Returns a number whose evaluation moves all of a place, a part, or nothing.
    pub(super) fn taken_part(&mut self) -> Option<Node> {
        let good = |ty: &Ty| !ty.borrows() && !matches!(ty, Ty::Free | Ty::Unit | Ty::Bool | Ty::Num);
        let place = self.place(Use::Move, good)?;
        let num = &Ty::Num;
        let text = place.text.clone();
        let captured = self.rng.word(&["move || ", "|| "]);
        Some(match self.rng.below(9) {
            0 => {
                self.captured(&place);
                Node::expr(num, &format!("once(move || see(&{text}))"), vec![])
            }
            1 => {
                self.captured(&place);
                Node::expr(num, &format!("once({captured}{{ eat({text}); 3 }})"), vec![])
            }
            2 => {
                let matched = self.asked(&place);
                Node::expr(num, "(# as u64)", vec![matched])
            }
            3 => {
                let matched = self.asked(&place);
                self.captured(&place);
                Node::expr(num, &format!("once({captured}# as u64)"), vec![matched])
            }
            // A closure does not capture a value that it does not use.
            4 => Node::expr(num, &format!("once({captured}{{ let _ = {text}; 4 }})"), vec![]),
            5 => {
                let (pat, read) = self.read_by(&place);
                Node::expr(num, &format!("once({captured}{{ let # = {text}; # }})"), vec![pat, read])
            }
            6 => {
                let (pat, read) = self.read_by(&place);
                Node::expr(num, &format!("{{ let # = {text}; # }}"), vec![pat, read])
            }
            7 if place.part.is_empty() && !text.contains('\u{1}') => {
                if captured == "move || " {
                    self.captured(&place);
                }
                Node::expr(num, &format!("(once({captured}format!(\"{{{text}:?}}\")).len() as u64)"), vec![])
            }
            _ if place.ty == Ty::Parts => {
                // `x` and `k` are moved.
                self.mark_moved(place.var, &format!("{}.x", place.part));
                let y = self.fresh(&Ty::D);
                Node::expr(num, &format!("see(&Parts {{ y: #, ..{text} }})"), vec![y])
            }
            _ => {
                self.captured(&place);
                Node::expr(num, &format!("Some({text}).map_or(2, |it| it.seen())"), vec![])
            }
        })
    }

    /// Returns `let x; (x, _) = place;`: the parts that the pattern does not name stay.
    pub(super) fn unpacked(&mut self) -> Option<Node> {
        let apart = |ty: &Ty| {
            matches!(ty, Ty::Pair(..) | Ty::Duo | Ty::Parts | Ty::D | Ty::Section | Ty::Owner | Ty::Held | Ty::Two(_))
        };
        let place = self.place(Use::Move, apart)?;
        let name = format!("u{}", self.fresh_number());
        let (left, field, ty) = match (&place.ty, self.rng.below(3)) {
            (Ty::Pair(a, _), 0) => (format!("({name}, _)"), ".0", (**a).clone()),
            (Ty::Pair(a, _), 1) => (format!("({name}, ..)"), ".0", (**a).clone()),
            (Ty::Pair(_, b), _) => (format!("(_, {name})"), ".1", (**b).clone()),
            (Ty::Duo, 0) => (format!("Duo({name}, _)"), ".0", Ty::D),
            (Ty::Duo, _) => (format!("Duo(.., {name})"), ".1", Ty::D),
            (Ty::Parts, 0) => (format!("Parts {{ k: {name}, .. }}"), ".k", Ty::Num),
            (Ty::Parts, _) => (format!("Parts {{ y: {name}, .. }}"), ".y", Ty::D),
            (Ty::D, _) => (format!("D({name}, _)"), ".0", Ty::Num),
            (Ty::Section, _) => (format!("Section({name}, ..)"), ".0", Ty::Num),
            (Ty::Owner, _) => (format!("Owner {{ k: {name}, .. }}"), ".k", Ty::Num),
            (Ty::Held, _) => (format!("Held {{ k: {name}, .. }}"), ".k", Ty::Num),
            // rustc decides the drop order of the rest of an array that may be partly moved.
            (Ty::Two(a), _) if a.is_copy() => (format!("[{name}, _]"), "", (**a).clone()),
            _ => return None,
        };
        let mut text = place.text.clone();
        if self.rng.percent(25) {
            // As the value of a block, the whole value moves.
            self.captured(&place);
            text = format!("{{ {text} }}");
        } else if !ty.is_copy() {
            self.mark_moved(place.var, &format!("{}{field}", place.part));
        }
        self.vars.push(crate::generate::scope::Var::new(&name, ty, false));
        Some(Node::item(&format!("let {name}; {left} = {text};"), vec![]))
    }

    /// Returns `matches!(place, pattern)`, perhaps with a guard.
    fn asked(&mut self, place: &Place) -> Node {
        let from = From::Place(place.var, place.part.clone());
        let guarded = self.rng.percent(40);
        self.scoped(|g| {
            let (pat, bound) = g.pattern(&place.ty, false, &from, 2);
            g.vars.extend(bound);
            match guarded {
                true => {
                    let value = g.quietly(Gen::small_number);
                    Node::expr(&Ty::Bool, &format!("matches!({}, # if # > 2)", place.text), vec![pat, value])
                }
                false => Node::expr(&Ty::Bool, &format!("matches!({}, #)", place.text), vec![pat]),
            }
        })
    }

    /// Returns a pattern that destructures a place, and a number that may come from its binders.
    fn read_by(&mut self, place: &Place) -> (Node, Node) {
        let from = From::Place(place.var, place.part.clone());
        self.scoped(|g| {
            let (pat, bound) = g.pattern(&place.ty, true, &from, 2);
            g.vars.extend(bound);
            (pat, g.quietly(Gen::small_number))
        })
    }

    /// Records that a closure has captured a place: a referent is captured with its pointer.
    fn captured(&mut self, place: &Place) {
        match place.text.contains(['*', '[']) {
            true => self.mark_moved(place.var, ""),
            false => self.take(place),
        }
    }
}
