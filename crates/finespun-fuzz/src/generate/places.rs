//! The places that can be read, moved, borrowed or assigned at a point of the body.

use super::Gen;
use crate::types::Ty;

/// The intended use of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Use {
    /// Read or borrowed shared.
    Read,
    /// Moved out of, or copied.
    Move,
    /// Borrowed mutably.
    Change,
    /// Assigned to.
    Assign,
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The text.
    pub(super) text: String,
    /// The variable.
    pub(super) var: usize,
    /// The text after the variable's name.
    pub(super) part: String,
    /// The type.
    pub(super) ty: Ty,
}

impl Gen {
    /// Returns the places that `how` permits and whose type `want` accepts.
    pub(super) fn places(&self, how: Use, want: impl Fn(&Ty) -> bool) -> Vec<Place> {
        let mut places = Vec::new();
        for var in 0..self.vars.len() {
            if self.vars[var].closure.is_some() || !self.visible(var) {
                continue;
            }
            let ty = self.vars[var].ty.clone();
            let name = self.vars[var].name.clone();
            self.parts(var, &name, "", &ty, how, false, &want, &mut places);
        }
        places
    }

    #[allow(clippy::too_many_arguments, reason = "a recursion over parts of one variable")]
    fn parts(
        &self,
        var: usize,
        text: &str,
        part: &str,
        ty: &Ty,
        how: Use,
        through: bool,
        want: &impl Fn(&Ty) -> bool,
        places: &mut Vec<Place>,
    ) {
        if want(ty) && self.allowed(var, part, ty, how, through) {
            places.push(Place { text: text.to_string(), var, part: part.to_string(), ty: ty.clone() });
        }
        let deeper = |suffix: &str, inner: &Ty, through: bool, text: String, places: &mut Vec<Place>| {
            self.parts(var, &text, &format!("{part}{suffix}"), inner, how, through, want, places);
        };
        if part.len() > 6 {
            return;
        }
        match ty {
            Ty::Ref(inner) if matches!(how, Use::Read | Use::Move) => {
                deeper("*", inner, true, format!("(*{text})"), places);
            }
            Ty::Mut(inner) => deeper("*", inner, true, format!("(*{text})"), places),
            Ty::Boxed(inner) => deeper("*", inner, through, format!("(*{text})"), places),
            Ty::Held if how != Use::Move => deeper(".inner", &Ty::D, through, format!("{text}.inner"), places),
            _ => {}
        }
        if let Some(field) = ty.number()
            && !matches!(ty, Ty::Parts | Ty::Point)
        {
            deeper(field, &Ty::Num, through, format!("{text}{field}"), places);
        }
        if let Ty::Two(inner) = ty
            && how != Use::Move
        {
            deeper("[0]", inner, through, format!("{text}[0]"), places);
            deeper("[1]", inner, through, format!("{text}[n as usize % 2]"), places);
        }
        if let Ty::List(inner) = ty
            && matches!(how, Use::Read | Use::Change)
        {
            deeper("[1]", inner, through, format!("{text}[0]"), places);
        }
        for (field, inner) in ty.fields() {
            deeper(field, &inner, through, format!("{text}{field}"), places);
        }
    }

    /// Returns true if a part of a variable may be used as `how` says.
    fn allowed(&self, var: usize, part: &str, ty: &Ty, how: Use, through: bool) -> bool {
        let mut v = self.vars[var].clone();
        if self.loose && !v.state.uninit {
            (v.shared, v.exclusive) = (0, 0);
        }
        let touched = v.state.moved.iter().any(|moved| moved.starts_with(part) || part.starts_with(moved.as_str()));
        match how {
            Use::Read => !v.state.uninit && !touched && v.exclusive == 0,
            Use::Move if ty.is_copy() => !v.state.uninit && !touched && v.exclusive == 0,
            Use::Move => {
                !v.state.uninit && !touched && !through && v.exclusive == 0 && v.shared == 0 && var >= self.floor
            }
            Use::Change => {
                let mutable = if through { v.exclusive == 0 } else { v.mutable };
                !v.state.uninit && !touched && mutable && v.exclusive == 0 && v.shared == 0
            }
            Use::Assign if part.is_empty() => {
                let fresh = v.state.uninit && var >= self.floor;
                (v.mutable || fresh) && v.exclusive == 0 && v.shared == 0
            }
            Use::Assign => {
                // A moved part may get a new value, but not if a larger part that contains it was moved.
                let above = v.state.moved.iter().any(|moved| part.starts_with(moved.as_str()) && moved != part);
                let mutable = through || v.mutable;
                !v.state.uninit && !above && mutable && v.exclusive == 0 && v.shared == 0
            }
        }
    }

    /// Returns one of the places, if any.
    pub(super) fn place(&mut self, how: Use, want: impl Fn(&Ty) -> bool) -> Option<Place> {
        // Loans often end before the generator ends them; rustc decides.
        self.loose = self.rng.percent(12);
        let places = self.places(how, want);
        if places.is_empty() {
            return None;
        }
        // Later variables are more likely, so that early ones are still unmoved near the end.
        let at = if self.rng.percent(50) {
            self.rng.below(places.len())
        } else {
            places.len() - 1 - self.rng.below(places.len().min(3))
        };
        Some(places[at].clone())
    }

    /// Records that a place has been moved, unless its type is `Copy`.
    pub(super) fn take(&mut self, place: &Place) {
        if !place.ty.is_copy() {
            self.mark_moved(place.var, &place.part);
        }
    }

    /// Records that a place has got a value.
    pub(super) fn refill(&mut self, place: &Place) {
        let state = &mut self.vars[place.var].state;
        state.moved.retain(|moved| !moved.starts_with(place.part.as_str()));
        state.uninit = false;
    }
}
