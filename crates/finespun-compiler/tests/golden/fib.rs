///
///*Task schema: stack.*
#[inline]
fn fib(
    n: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "fib",
        );
    }
    #[inline]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        n: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        if n < 2 {
            {
                let __r: u64 = n;
                return unsafe { ::finespun::__rt::Note::done(__note, __r) };
            };
        }
        ::finespun::__rt::Note::end(__note);
        unsafe { ::finespun::__rt::behind(__rest(__cx, n)) }
    }
    #[inline(never)]
    unsafe fn __rest(
        __cx: ::finespun::__rt::Cx,
        __a0: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __en = '__fallback: {
            #[allow(unused_variables, unused_mut)]
            let n = __a0;
            let (a, b) = {
                let __t0 = ::finespun::tasks::bounds::operand(fib(n - 1));
                let __t1 = ::finespun::tasks::bounds::operand(fib(n - 2));
                ::finespun::__rt::Note::end(__note);
                let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                if ::finespun::__rt::Called::suspended(&__o) {
                    let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                    break '__fallback ::finespun::__rt::En1::P0((
                        ::finespun::__rt::Join2Point::P0(__c, __t1),
                        (),
                    ));
                }
                let __j0 = unsafe { ::finespun::__rt::Called::value(__o) };
                let __o = unsafe { ::finespun::__rt::call(__cx, __t1) };
                if ::finespun::__rt::Called::suspended(&__o) {
                    let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                    break '__fallback ::finespun::__rt::En1::P0((
                        ::finespun::__rt::Join2Point::P1(__j0, __c),
                        (),
                    ));
                }
                let __j1 = unsafe { ::finespun::__rt::Called::value(__o) };
                __note = ::finespun::__rt::Note::new();
                (__j0, __j1)
            };
            let __r: u64 = a + b;
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
                let (mut __p0,) = match unsafe { __enter.take() } {
                    ::finespun::__rt::En1::P0((__p, ())) => (__p,),
                };
                let (a, b) = unsafe { ::finespun::__rt::resume_join2(__p0) }.await;
                let __r: u64 = a + b;
                return __r;
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
