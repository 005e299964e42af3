///
///*Task schema: stack, with `v` in a cell.*
#[inline]
fn lends(
    n: u64,
) -> impl ::finespun::__rt::Task<
    Output = Vec<u64>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "lends",
        );
    }
    #[inline(never)]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        __a0: u64,
    ) -> ::finespun::__rt::Outcome<Vec<u64>> {
        #[allow(
            unreachable_code,
            unused_must_use,
            clippy::all,
            clippy::pedantic,
            clippy::restriction
        )]
        if false {
            ::core::mem::drop(
                ::finespun::__rt::Noted::<
                    __Task,
                    _,
                >::new(async move {
                    #[allow(unreachable_code)]
                    if false {
                        return unsafe { ::finespun::__rt::never::<Vec<u64>>() };
                    }
                    let n = __a0;
                    let mut v = Vec::new();
                    for k in 0..n {
                        (match ::finespun::tasks::bounds::operand_here(fill(&mut v, k)) {
                            __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
                        });
                    }
                    v = ::finespun::__rt::moved(v);
                    v
                }),
            );
            loop {}
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __tie_1 = ::finespun::__rt::Tie::new();
        #[allow(unused_variables, unused_mut, unused_assignments)]
        let __en = '__fallback: {
            let n = __a0;
            let mut v = Vec::new();
            ::finespun::__rt::Tie::seen(__tie_1, &v);
            let __cell0 = ::finespun::__rt::lend(v);
            let __lent1 = unsafe { ::finespun::__rt::lent_mut(&__cell0) };
            {
                let mut __it2 = ::core::iter::IntoIterator::into_iter(0..n);
                loop {
                    let k = match ::core::iter::Iterator::next(&mut __it2) {
                        ::core::option::Option::Some(__x) => __x,
                        ::core::option::Option::None => break,
                    };
                    {
                        let __t0 = ::finespun::tasks::bounds::operand(
                            fill(&mut (*__lent1), k),
                        );
                        ::finespun::__rt::Note::end(__note);
                        let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                        if ::finespun::__rt::Called::suspended(&__o) {
                            let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                            break '__fallback ::finespun::__rt::En1::P0((
                                __c,
                                (
                                    ::finespun::tasks::bounds::send(__it2),
                                    ::finespun::tasks::bounds::send(__cell0),
                                ),
                            ));
                        }
                        __note = ::finespun::__rt::Note::new();
                        unsafe { ::finespun::__rt::Called::value(__o) }
                    };
                };
            };
            v = unsafe { __cell0.__taken(&*__lent1) };
            let __r: Vec<u64> = v;
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
                    return unsafe { ::finespun::__rt::never::<Vec<u64>>() };
                }
                let mut __h___cell0 = ::finespun::__rt::Held::empty();
                let mut __h___it2 = ::finespun::__rt::Held::empty();
                let mut __p0 = ::finespun::__rt::Held::empty();
                let (mut __k,) = match unsafe { __enter.take() } {
                    ::finespun::__rt::En1::P0((__p, (__l5, __l3))) => {
                        __h___cell0 = ::finespun::__rt::Held::new(__l3);
                        __h___it2 = ::finespun::__rt::Held::new(__l5);
                        __p0 = ::finespun::__rt::Held::new(
                            ::finespun::__rt::pending(__p),
                        );
                        (0usize,)
                    }
                };
                '__machine: loop {
                    let __never: ::finespun::__rt::DivergesAsInStd = match __k {
                        0usize => {
                            let mut __cell0 = unsafe { __h___cell0.take() };
                            let mut __it2 = unsafe { __h___it2.take() };
                            '__head1_1: {
                                let __never: ::finespun::__rt::DivergesAsInStd = {
                                    match unsafe { __p0.take() } {
                                        ::core::result::Result::Ok(__v) => __v,
                                        ::core::result::Result::Err(__c) => {
                                            unsafe { ::finespun::__rt::wait(__c) }.await
                                        }
                                    };
                                    __h___cell0 = ::finespun::__rt::Held::empty();
                                    __h___it2 = ::finespun::__rt::Held::empty();
                                    __p0 = ::finespun::__rt::Held::empty();
                                    break '__head1_1;
                                };
                                match __never {}
                            }
                            __h___cell0 = ::finespun::__rt::Held::new(__cell0);
                            __h___it2 = ::finespun::__rt::Held::new(__it2);
                            __k = 1usize;
                            continue '__machine;
                        }
                        1usize => {
                            let mut __cell0 = unsafe { __h___cell0.take() };
                            '__after2_3: {
                                let __never: ::finespun::__rt::DivergesAsInStd = {
                                    let mut __it2 = unsafe { __h___it2.take() };
                                    __h___cell0 = ::finespun::__rt::Held::empty();
                                    __h___it2 = ::finespun::__rt::Held::empty();
                                    let __lent1 = unsafe {
                                        ::finespun::__rt::lent_mut(&__cell0)
                                    };
                                    let k = match ::core::iter::Iterator::next(&mut __it2) {
                                        ::core::option::Option::Some(__x) => __x,
                                        ::core::option::Option::None => {
                                            break '__after2_3;
                                        }
                                    };
                                    let __t0 = ::finespun::tasks::bounds::operand(
                                        fill(&mut (*__lent1), k),
                                    );
                                    let __now = unsafe {
                                        ::finespun::__rt::call_guarded(::finespun::__rt::cx(), __t0)
                                    }
                                        .open();
                                    __p0 = ::finespun::__rt::Held::new(__now);
                                    __h___cell0 = ::finespun::__rt::Held::new(__cell0);
                                    __h___it2 = ::finespun::__rt::Held::new(__it2);
                                    __k = 0usize;
                                    continue '__machine;
                                };
                                match __never {}
                            }
                            __h___cell0 = ::finespun::__rt::Held::new(__cell0);
                            __k = 2usize;
                            continue '__machine;
                        }
                        _ => {
                            let mut v;
                            #[allow(unused, unreachable_code, clippy::all)]
                            {
                                if false {
                                    v = unsafe { ::finespun::__rt::Tie::never(__tie_1) };
                                    loop {}
                                }
                            }
                            let mut __cell0 = unsafe { __h___cell0.take() };
                            __h___cell0 = ::finespun::__rt::Held::empty();
                            let __lent1 = unsafe {
                                ::finespun::__rt::lent_mut(&__cell0)
                            };
                            v = unsafe { __cell0.__taken(&*__lent1) };
                            let __r: Vec<u64> = v;
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
