# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # the variables are of vm, which sources this
#
# The run's directory, the emulator and its end. Sourced by vm, whose variables
# it uses.

# A command in a message: one line, not a long one.
brief() {
    local text
    text=$(printf '%q ' "$@")
    text=${text% }
    if ((${#text} > 100)); then text=${text:0:97}...; fi
    printf '%s\n' "$text"
}

# Makes and prints the directory that keeps a run's output and console log.
run_directory() {
    local base=${QPATTR_VM_DIR:-} made
    if [[ -z $base ]]; then
        base=$top/build/vm
        # A tree that cannot be written to can be tested all the same.
        mkdir -p "$base" 2>/dev/null && [[ -w $base ]] || base=$cache/vm/runs
    fi
    if ! mkdir -p "$base" 2>/dev/null || ! made=$(mktemp -d "$base/$(date +%Y%m%d-%H%M%S)-XXXXXX" 2>/dev/null); then
        say "cannot make a directory for the run in '$base'"
        return 1
    fi
    tidy "$base"
    (cd "$made" && pwd -P)
}

# The last thirty runs stay. One whose lock is held is under way.
tidy() {
    local old
    # shellcheck disable=SC2044 # names without blanks, as made above
    for old in $(find "$1" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*-*-*' -printf '%f\n' | sort -r | tail -n +31); do
        [[ -e $1/$old/keep ]] && continue
        flock -n "$1/$old/lock" rm -rf "${1:?}/$old" 2>/dev/null || true
    done
}

# /dev/kvm may be there and not work, so it is tried: the first instruction
# that the processor meets, at the end of the firmware, ends the machine with a
# status that nothing else gives.
kvm_works() { [[ -r /dev/kvm && -w /dev/kvm ]] && trial -accel kvm -cpu host; }

trial() {
    local status=0
    trial_rom >"$dir/trial-rom"
    timeout 10 "$qemu" "$@" -nodefaults -display none -bios "$dir/trial-rom" \
        -device isa-debug-exit,iobase=0xf4,iosize=1 >/dev/null 2>&1 </dev/null || status=$?
    rm -f "$dir/trial-rom"
    # The device's rule: (value << 1) | 1.
    ((status == 33))
}

# 64 KiB, zeros up to the reset vector: mov al,16; out 0xf4,al; hlt.
trial_rom() {
    head -c 65520 /dev/zero
    printf '\xb0\x10\xe6\xf4\xf4\xeb\xfd'
    head -c 9 /dev/zero
}

machine_arguments() {
    local append="console=ttyS0 loglevel=5 panic=-1 sysrq_always_enabled"
    # No protection from the guest's own programs, no self-tests of ciphers, no
    # waiting for a quiet moment of all processors: it is all slow emulated.
    append+=" mitigations=off cryptomgr.notests rcupdate.rcu_expedited=1 random.trust_cpu=on"
    append+=" qpattr.rxe=$rxe"
    # q35: the interrupts of the older machine take longer to set up.
    arguments=(-machine q35 -nodefaults -no-user-config -display none -no-reboot -net none -m "$memory")
    if [[ $accelerator == kvm ]]; then
        arguments+=(-accel kvm -cpu host -smp "$smp")
    else
        # Calibrating clocks against each other takes half a second and goes
        # wrong on a busy host; emulated, all of them are the host's clock.
        append+=" no_timer_check tsc=reliable hpet=disable lpj=4000000"
        arguments+=(-cpu max)
        if [[ -n $icount ]]; then
            arguments+=(-accel tcg -smp 1 -icount "shift=0,sleep=off")
        else
            arguments+=(-accel "tcg,thread=multi" -smp "$smp")
        fi
    fi
    arguments+=(-kernel "$image/kernel" -initrd "$image/initramfs" -append "$append")
    arguments+=(-serial "file:$dir/console.log")
    # The command's output, clean: a port of its own, to QEMU's standard output.
    # By the file back end: the stdio one closes the port when its input ends.
    arguments+=(-device virtio-serial-pci -chardev "file,id=out,path=/dev/stdout"
        -device "virtserialport,chardev=out,name=out")
    arguments+=(-chardev "pipe,id=monitor,path=${dir//,/,,}/monitor" -mon "chardev=monitor,mode=readline")
    # multidevs=remap: the host's root has other file systems under it.
    local share_options="security_model=none,multidevs=remap"
    arguments+=(-virtfs "local,path=/,mount_tag=host,readonly=on,$share_options")
    arguments+=(-virtfs "local,path=${dir//,/,,},mount_tag=run,$share_options")
    if [[ -n $share ]]; then
        arguments+=(-virtfs "local,path=${share//,/,,},mount_tag=share,$share_options")
    fi
}

# Ends the machine at its limit, but first has it say what it is stuck in: the
# key for 'show blocked tasks', which needs nothing of the guest but the kernel.
# So too if the command has not begun by $boot_limit: on a host with much else to do a
# guest can spend all of its time on its timer's interrupts, for good.
# Ends itself when the machine is gone, or whoever started it, with which the
# machine goes.
machine_watch() {
    local pid=$1 over=$((SECONDS + limit)) up=$((SECONDS + boot_limit)) fd
    # Of what the caller had open, a pipe above all, nothing is kept open here.
    for fd in /proc/"$BASHPID"/fd/*; do
        fd=${fd##*/}
        ((fd <= 2)) || exec {fd}>&-
    done
    while ((SECONDS < over)); do
        if ((SECONDS >= up)) && [[ ! -e $dir/begun ]]; then break; fi
        # read, not sleep: a child would outlive the kill of this process, and
        # hold the standard output of whoever called.
        read -r -t 1 <>"$dir/never" || true
        is_our_child "$pid" || return 0
    done
    : >"$dir/timed-out"
    printf 'sendkey alt-sysrq-w\n' 1<>"$dir/monitor.in"
    read -r -t 1 <>"$dir/never" || true
    is_our_child "$pid" || return 0
    kill -KILL "$pid"
}

# False for another process that has come by the same number. From stat, which is
# one line: bash reads a file of many anew for each, and what the kernel writes
# there has moved when the process's state has another length by then.
is_our_child() {
    local line
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    # After the name, which may have anything in it: the state, the parent.
    line=${line##*) ? }
    [[ ${line%% *} == "$$" ]]
}

machine_run() {
    local arguments pid watch tee
    machine_arguments
    mkfifo "$dir/monitor.in" "$dir/monitor.out" "$dir/out" "$dir/never"
    # Held until the end, so that tidying up leaves this run alone.
    exec {lock}>"$dir/lock"
    flock "$lock"
    # warn-nopipe: with nobody to read our output (| head), the run goes on.
    tee --output-error=warn-nopipe "$dir/output" ${output:+"$output"} <"$dir/out" 2>/dev/null &
    tee=$!
    # pdeathsig: the machine does not outlive us, however we end.
    setpriv --pdeathsig KILL "$qemu" "${arguments[@]}" </dev/null 2>"$dir/qemu.log" >"$dir/out" &
    pid=$!
    machine_watch "$pid" </dev/null >/dev/null 2>&1 &
    watch=$!
    # shellcheck disable=SC2064 # as they are now
    trap "kill -KILL $pid $watch 2>/dev/null" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    # bash would tell of the kills.
    {
        wait "$pid" || true
        kill "$watch" || true
        wait "$watch" "$tee" || true
    } 2>/dev/null
    trap - EXIT INT TERM HUP
    rm -f "$dir"/{monitor.in,monitor.out,out,never}
}
