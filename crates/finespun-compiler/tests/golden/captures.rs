///
///*Task schema: stack.*
#[inline]
fn sum(
    table: &[u64],
    from: usize,
    n: usize,
) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "sum",
        );
    }
    #[inline]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        __a0: &[u64],
        __a1: usize,
        __a2: usize,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward0: {
            let table = __a0;
            let from = __a1;
            let n = __a2;
            let __t0 = ::finespun::__rt::send(
                reduce(
                    (0..n)
                        .map(move |k| {
                            ::finespun::__rt::Note::around(
                                ::finespun::__rt::Note::<__Task>::new(),
                                entry(table, from + k),
                            )
                        }),
                    0,
                    |a, b| {
                        ::finespun::__rt::Note::around(
                            ::finespun::__rt::Note::<__Task>::new(),
                            a + b,
                        )
                    },
                ),
            );
            ::finespun::__rt::Note::end(__note);
            let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
            break '__forward0 __o;
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            (&[u64], usize, usize),
            _,
            _,
        >(move |__cx| unsafe { __stack(__cx, table, from, n) })
    }
}
