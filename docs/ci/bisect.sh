#!/bin/sh
# For `git bisect run`, in a kernel's tree: does this commit take more instructions for a packet than the good one?
# Once before: KERNEL as below from the good commit, `netassay run bisect.toml --set guest.kernel=KERNEL`, `netassay db tag bisect good`.
set -u

rm -rf tar-install
make -s olddefconfig && make -s -j"$(nproc)" dir-pkg || exit 125
netassay run bisect.toml --set guest.kernel="$PWD/tar-install" --no-report
case $? in
0) ;;
6) exit 125 ;; # this kernel does not boot
*) exit 128 ;; # the machine's fault: the bisection stops
esac
exec netassay gate --baseline good --fail-if 'kernel_instructions_packet > +0.5%' --bisect
