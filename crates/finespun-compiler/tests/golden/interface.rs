pub trait Visit: Sync {
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    unsafe fn __task_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64>;
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    #[inline(never)]
    unsafe fn __rest_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        ::core::unreachable!("no implementation has asked for it")
    }
    ///
    ///*Task: the schema is the implementation's.*
    #[inline]
    fn visit(&self, n: u64) -> ::finespun::tasks::MethodTask<'_, (u64,), u64>
    where
        Self: ::core::marker::Sync,
    {
        unsafe {
            ::finespun::tasks::MethodTask::new(
                self,
                (n,),
                |__this, __cx, (__a1,)| unsafe {
                    <Self as Visit>::__task_visit(__this, __cx, __a1)
                },
            )
        }
    }
    fn name(&self) -> &str;
}
