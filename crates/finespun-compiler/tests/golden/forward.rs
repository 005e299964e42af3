///
///*Task schema: straight if all its callees are straight; otherwise stack.*
#[inline]
fn sum_of(
    t: &Option<Box<Tree>>,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = impl ::finespun::__rt::Schema + use<>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "sum_of",
        );
    }
    #[inline]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        t: &Option<Box<Tree>>,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        match t {
            Some(_) => {}
            None => {
                {
                    let __r: u64 = 0;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                };
            }
        }
        ::finespun::__rt::Note::end(__note);
        unsafe { ::finespun::__rt::Outcome::with_schema(__rest(__cx, t)) }
    }
    #[inline]
    unsafe fn __rest(
        __cx: ::finespun::__rt::Cx,
        __a0: &Option<Box<Tree>>,
    ) -> ::finespun::__rt::Outcome<u64, impl ::finespun::__rt::Schema + use<>> {
        #[allow(clippy::all, clippy::restriction)]
        const _: () = {
            const _: fn(()) -> ::core::option::Option<()> = Some;
        };
        #[allow(unused_imports)]
        use ::finespun::__rt::{HasSchema as _, NoSchema as _};
        let __callee0 = ::finespun::__rt::Callee::new();
        if false {
            return unsafe {
                ::finespun::__rt::Callee::outcome(
                    __callee0.and(::finespun::__rt::Callee::<()>::new()),
                )
            };
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward0: {
            #[allow(unused_variables, unused_mut)]
            let t = __a0;
            #[allow(unused, clippy::all)]
            {
                match t {
                    Some(_) => {}
                    None => unsafe { ::core::hint::unreachable_unchecked() }
                }
            }
            match t {
                Some(t_1) => {
                    let __t0 = ::finespun::tasks::bounds::operand(sum(t_1));
                    __callee0
                        .is(
                            (&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema(),
                        );
                    ::finespun::__rt::Note::end(__note);
                    let __o = unsafe {
                        ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, __t0)
                    };
                    break '__forward0 __o;
                }
                None => {
                    let __r: u64 = 0;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                }
            }
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees1(__rest).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees1(__rest).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees1(__rest).straight_2();
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            __Task,
            _,
            _,
        >(move |__cx| unsafe { __stack(__cx, t) })
    }
}
