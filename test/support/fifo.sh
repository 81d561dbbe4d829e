# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A reader of a FIFO. To be sourced.

# read_fifo FIFO COMMAND...: the command reads it in the background. Both of its ends are held
# until fifo_ended, so that the reader is there before whoever writes, and sees an end even
# if nobody ever does.
read_fifo() {
    local fifo=$1 for_reading
    shift
    exec {fifo_held}<>"$fifo"
    exec {for_reading}<"$fifo"
    "$@" <&"$for_reading" {for_reading}<&- {fifo_held}<&- &
    fifo_reader=$!
    exec {for_reading}<&-
}

# Waits for the reader; its status.
fifo_ended() {
    exec {fifo_held}<&-
    wait "$fifo_reader"
}
