///
///*Task schema: stack.*
#[inline]
fn count<const N: usize>(
    weights: &[u64],
    left: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "count",
        );
    }
    #[inline]
    unsafe fn __stack<const N: usize>(
        __cx: ::finespun::__rt::Cx,
        weights: &[u64],
        left: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        if left == 0 {
            {
                let __r: u64 = N as u64;
                return unsafe { ::finespun::__rt::Note::done(__note, __r) };
            };
        }
        ::finespun::__rt::Note::end(__note);
        unsafe { __rest::<{ N }>(__cx, weights, left) }
    }
    #[inline]
    unsafe fn __rest<const N: usize>(
        __cx: ::finespun::__rt::Cx,
        __a0: &[u64],
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward0: {
            let weights = __a0;
            #[allow(unused_variables, unused_mut)]
            let left = __a1;
            let __t0 = ::finespun::tasks::bounds::operand(
                count::<N>(weights, left - weights[0]),
            );
            ::finespun::__rt::Note::end(__note);
            let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
            break '__forward0 __o;
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    struct __Portable<const N: usize>(::core::marker::PhantomData<fn() -> ()>);
    impl<const N: usize> ::finespun::__rt::PortableCall for __Portable<N> {
        type Arguments = (::std::vec::Vec<u64>, u64);
        type Output = u64;
        const PLACE: &'static ::core::panic::Location<'static> = ::core::panic::Location::caller();
        fn task(
            (__value0, __value1): Self::Arguments,
        ) -> impl ::finespun::__rt::Task<
            Output = Self::Output,
        > + ::core::marker::Send + 'static {
            let __code = move || async move {
                match count::<{ N }>(&__value0, __value1) {
                    __task => unsafe { ::finespun::__rt::call_async(__task) }.await,
                }
            };
            unsafe { ::finespun::__rt::pinned_task(__code) }
        }
    }
    let __code = ::finespun::__rt::portable_code::<
        __Portable<{ N }>,
        _,
        _,
    >(move |__way| match __way {
        ::finespun::__rt::PortableWay::Call(__cx) => {
            unsafe { __stack::<{ N }>(__cx, weights, left) }
        }
        ::finespun::__rt::PortableWay::Arguments(__arguments) => {
            *__arguments = ::core::option::Option::Some((weights, left));
            unsafe { ::finespun::__rt::no_outcome() }
        }
    });
    unsafe { ::finespun::__rt::portable_task::<true, __Portable<{ N }>, _, _>(__code) }
}
