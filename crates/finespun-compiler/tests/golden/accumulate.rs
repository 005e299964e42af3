///
///*Task schema: stack.*
#[inline]
fn accumulate(
    n: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "accumulate",
        );
    }
    #[inline(never)]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        __a0: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __en = '__fallback: {
            let n = __a0;
            let mut sum = 0;
            {
                let mut __it0 = ::core::iter::IntoIterator::into_iter(0..n);
                loop {
                    let i = match ::core::iter::Iterator::next(&mut __it0) {
                        ::core::option::Option::Some(__x) => __x,
                        ::core::option::Option::None => break,
                    };
                    let mut __v1 = {
                        let __t0 = ::finespun::tasks::bounds::operand(f(i));
                        ::finespun::__rt::Note::end(__note);
                        let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                        if ::finespun::__rt::Called::suspended(&__o) {
                            let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                            break '__fallback ::finespun::__rt::En1::P0((
                                __c,
                                (
                                    ::finespun::tasks::bounds::send(__it0),
                                    ::finespun::tasks::bounds::send(sum),
                                ),
                            ));
                        }
                        __note = ::finespun::__rt::Note::new();
                        unsafe { ::finespun::__rt::Called::value(__o) }
                    };
                    sum += __v1;
                };
            };
            let __r: u64 = sum;
            return unsafe { ::finespun::__rt::Note::done(__note, __r) };
        };
        fn __resumable<
            __E,
            __B: ::core::ops::FnOnce(::finespun::__rt::Enter<__E>) -> __F,
            __F,
        >(_: &__E, body: __B) -> __B {
            body
        }
        #[allow(unused, unreachable_code, clippy::all)]
        let __body = __resumable(
            &__en,
            move |__enter| ::finespun::__rt::Noted::<
                __Task,
                _,
            >::new(async move {
                if false {
                    return unsafe { ::finespun::__rt::never::<u64>() };
                }
                let mut __h___it0 = ::finespun::__rt::Held::empty();
                let mut __p0 = ::finespun::__rt::Held::empty();
                let (mut __k, mut sum) = match unsafe { __enter.take() } {
                    ::finespun::__rt::En1::P0((__p, (__l3, __l1))) => {
                        __h___it0 = ::finespun::__rt::Held::new(__l3);
                        __p0 = ::finespun::__rt::Held::new(
                            ::finespun::__rt::pending(__p),
                        );
                        (0usize, __l1)
                    }
                };
                '__machine: loop {
                    let __never: ::finespun::__rt::DivergesAsInStd = match __k {
                        0usize => {
                            let mut __it0 = unsafe { __h___it0.take() };
                            '__head1_1: {
                                let __never: ::finespun::__rt::DivergesAsInStd = {
                                    let mut __v1 = match unsafe { __p0.take() } {
                                        ::core::result::Result::Ok(__v) => __v,
                                        ::core::result::Result::Err(__c) => {
                                            unsafe { ::finespun::__rt::wait(__c) }.await
                                        }
                                    };
                                    __h___it0 = ::finespun::__rt::Held::empty();
                                    __p0 = ::finespun::__rt::Held::empty();
                                    sum += __v1;
                                    break '__head1_1;
                                };
                                match __never {}
                            }
                            __h___it0 = ::finespun::__rt::Held::new(__it0);
                            __k = 1usize;
                            continue '__machine;
                        }
                        1usize => {
                            '__after2_1: {
                                let __never: ::finespun::__rt::DivergesAsInStd = {
                                    let mut __it0 = unsafe { __h___it0.take() };
                                    __h___it0 = ::finespun::__rt::Held::empty();
                                    let i = match ::core::iter::Iterator::next(&mut __it0) {
                                        ::core::option::Option::Some(__x) => __x,
                                        ::core::option::Option::None => {
                                            break '__after2_1;
                                        }
                                    };
                                    let __t0 = ::finespun::tasks::bounds::operand(f(i));
                                    let __now = unsafe {
                                        ::finespun::__rt::call_guarded(::finespun::__rt::cx(), __t0)
                                    }
                                        .open();
                                    __p0 = ::finespun::__rt::Held::new(__now);
                                    __h___it0 = ::finespun::__rt::Held::new(__it0);
                                    __k = 0usize;
                                    continue '__machine;
                                };
                                match __never {}
                            }
                            __k = 2usize;
                            continue '__machine;
                        }
                        _ => {
                            let __r: u64 = sum;
                            return __r;
                        }
                    };
                }
            }),
        );
        return unsafe { ::finespun::__rt::fallback(__en, __body) };
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            ::finespun::__rt::Unknown,
            _,
            _,
        >(move |__cx| unsafe { __stack(__cx, n) })
    }
}
