//! A datagram of the kernel: links, features, queueing disciplines and neighbours in it are read or
//! refused, whatever it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    netassay_host::fuzz::netlink(datagram);
    // And as a payload, without the header that would have to fit.
    netassay_host::fuzz::answer(datagram);
});
