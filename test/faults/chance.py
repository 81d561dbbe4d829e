# SPDX-License-Identifier: MIT
"""Random moments, of a seed that is told, and waiting with an end."""
import os
import random
import select
import subprocess
import time

seed = int(os.environ.get('FAULTS_SEED', time.time_ns() % 2 ** 32))
chance = random.Random(seed)
PATIENCE_S = 60


def until(condition, step_s=0.02):
    """Raises TimeoutError where the condition does not come."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(step_s)


def first_line(process):
    """Of what a process writes; TimeoutError where nothing comes."""
    if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
        process.kill()
        raise TimeoutError
    return process.stdout.readline()


def output_of(command):
    """Of a command of the shell, which must succeed."""
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, timeout=PATIENCE_S).stdout
