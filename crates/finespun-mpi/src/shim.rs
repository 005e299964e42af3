//! The functions of `shim.c`.

use std::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    pub(crate) safe fn fsp_start(threads: &mut c_int) -> c_int;
    pub(crate) safe fn fsp_places(
        rank: &mut c_int,
        size: &mut c_int,
        host_rank: &mut c_int,
        host_size: &mut c_int,
    ) -> c_int;
    pub(crate) safe fn fsp_barrier() -> c_int;
    pub(crate) safe fn fsp_poll() -> c_int;
    pub(crate) safe fn fsp_finish() -> c_int;
    pub(crate) safe fn fsp_abort(code: c_int) -> c_int;
    pub(crate) safe fn fsp_share(bytes: u64, memory: &mut *mut c_void) -> c_int;
    pub(crate) safe fn fsp_open(words: u64, window: &mut c_int, memory: &mut *mut c_void) -> c_int;
    pub(crate) safe fn fsp_discard() -> c_int;
    pub(crate) safe fn fsp_find(
        from: c_int,
        tag: c_int,
        found: &mut c_int,
        length: &mut c_int,
        message: &mut u64,
    ) -> c_int;
    pub(crate) fn fsp_broadcast(bytes: *mut c_void, length: c_int, from: c_int) -> c_int;
    pub(crate) fn fsp_begin_send(
        bytes: *const c_void,
        length: c_int,
        to: c_int,
        tag: c_int,
        under_way: *mut u64,
    ) -> c_int;
    pub(crate) fn fsp_begin_receive(bytes: *mut c_void, room: c_int, tag: c_int, under_way: *mut u64) -> c_int;
    pub(crate) fn fsp_begin_found(bytes: *mut c_void, length: c_int, message: u64, under_way: *mut u64) -> c_int;
    pub(crate) fn fsp_test(
        under_way: *mut u64,
        receives: c_int,
        done: *mut c_int,
        from: *mut c_int,
        length: *mut c_int,
    ) -> c_int;
    pub(crate) fn fsp_take_back(under_way: u64, done: *mut c_int) -> c_int;
    pub(crate) fn fsp_library(text: *mut c_char, length: *mut c_int) -> c_int;
    pub(crate) fn fsp_error(code: c_int, text: *mut c_char, length: *mut c_int) -> c_int;
    pub(crate) fn fsp_gather_all(own: u64, all: *mut u64) -> c_int;
    pub(crate) fn fsp_send(bytes: *const c_void, length: c_int, to: c_int, tag: c_int) -> c_int;
    pub(crate) fn fsp_receive(bytes: *mut c_void, room: c_int, from: c_int, tag: c_int, length: *mut c_int) -> c_int;
    pub(crate) fn fsp_send_burst(bytes: *const c_void, length: c_int, count: c_int, to: c_int, tag: c_int) -> c_int;
    pub(crate) fn fsp_receive_burst(bytes: *mut c_void, length: c_int, count: c_int, from: c_int, tag: c_int) -> c_int;
    pub(crate) fn fsp_swap(window: c_int, at: c_int, word: u64, new: u64, old: *mut u64) -> c_int;
    pub(crate) fn fsp_put(window: c_int, at: c_int, word: u64, words: *const u64, count: c_int) -> c_int;
    pub(crate) fn fsp_get(window: c_int, at: c_int, word: u64, words: *mut u64, count: c_int) -> c_int;
}
