impl Visit for Plus {
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    #[inline]
    unsafe fn __task_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
                "visit",
            );
        }
        let __this = self;
        let n = __a1;
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        if n == 0 {
            {
                let __r: u64 = __this.0;
                return unsafe { ::finespun::__rt::Note::done(__note, __r) };
            };
        }
        ::finespun::__rt::Note::end(__note);
        unsafe {
            ::finespun::__rt::behind(<Self as Visit>::__rest_visit(__this, __cx, n))
        }
    }
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    #[inline(never)]
    unsafe fn __rest_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
                "visit",
            );
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __en = '__fallback: {
            #[allow(unused_variables, unused_mut)]
            let __this = self;
            #[allow(unused_variables, unused_mut)]
            let n = __a1;
            let (a, b) = {
                let __t0 = ::finespun::tasks::bounds::operand(__this.visit(n - 1));
                let __t1 = ::finespun::tasks::bounds::operand(__this.visit(n / 2));
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
}
