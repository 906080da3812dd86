"""Commands of a gate: run with a time limit, each line of output printed with the gate's name and shown to who counts."""

import os
import pathlib
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The commands that run now, of all gates: `interrupt` ends them.
running = set()
is_interrupted = threading.Event()


def interrupt():
    """Ends all commands, and has those that follow fail at once."""
    is_interrupted.set()
    for process in list(running):
        kill(process)


def kill(process):
    """Ends a command with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


class Runner:
    """Runs the commands of one gate.

    * `name`: of the gate; each line of output begins with it.
    * `minutes`: what all commands of the gate may take together. One that runs on is killed.
    """

    def __init__(self, name, minutes):
        self.name = name
        self.minutes = minutes
        self.deadline = time.monotonic() + 60 * minutes

    def say(self, line):
        print(f"{self.name:>13} | {line}", flush=True)

    def stream(self, command, watch=lambda line: None, cwd=ROOT, **environment):
        """The exit code of a command, whose lines are printed and shown to `watch`; None if it could not run or was stopped."""
        if is_interrupted.is_set():
            return None
        try:
            process = subprocess.Popen(
                list(map(str, command)),
                cwd=cwd,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # A group of its own, so that what it has started ends with it.
                start_new_session=True,
            )
        except OSError as error:
            self.say(f"{command[0]} cannot be run: {error.strerror}")
            return None
        running.add(process)
        if is_interrupted.is_set():
            kill(process)
        is_late = threading.Event()

        def stop():
            is_late.set()
            kill(process)

        timer = threading.Timer(max(0, self.deadline - time.monotonic()), stop)
        timer.start()
        try:
            for line in process.stdout:
                line = line.rstrip("\n")
                if watch(line) is not HIDDEN:
                    self.say(line)
            code = process.wait()
        finally:
            timer.cancel()
            running.discard(process)
            if process.poll() is None:
                kill(process)
        if is_late.is_set():
            self.say(f"STOPPED: the gate took longer than {self.minutes:g} minutes, in: {' '.join(map(str, command))}")
            return None
        return None if is_interrupted.is_set() else code


# What `watch` returns for a line that is not to be printed.
HIDDEN = object()
