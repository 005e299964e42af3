//! Values that are never freed on purpose.

use std::sync::Mutex;

/// Addresses of values that are never freed on purpose: a leak checker finds them here.
static FORGOTTEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Says that `value` may be forgotten.
pub fn may_be_forgotten<T>(value: &T) {
    FORGOTTEN.lock().unwrap().push(std::ptr::from_ref(value).addr());
}

/// Like `Box::leak`, for values that a test lends for ever.
pub fn kept<T>(value: T) -> &'static mut T {
    let value = Box::leak(Box::new(value));
    may_be_forgotten(value);
    value
}
