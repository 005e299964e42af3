///
///*Task schema: stack.*
#[inline]
fn sum_of(
    t: &Option<Box<Tree>>,
) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
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
        unsafe { __rest(__cx, t) }
    }
    #[inline]
    unsafe fn __rest(
        __cx: ::finespun::__rt::Cx,
        __a0: &Option<Box<Tree>>,
    ) -> ::finespun::__rt::Outcome<u64> {
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
                    let __t0 = ::finespun::__rt::send(sum(t_1));
                    ::finespun::__rt::Note::end(__note);
                    let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
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
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            _,
            _,
        >(move |__cx| unsafe { __stack(__cx, t) })
    }
}
