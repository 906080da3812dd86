"""The machine's own clocks: who uses the processor while something is measured, and waiting until nobody else does."""

import os
import resource
import time

HZ = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """CPU time that all processes together have used."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _wait, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / HZ


def own_seconds():
    """CPU time of this process and of the load generators that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class Account:
    """CPU time from its making on: of the servers, of the load, of everybody else."""

    def __init__(self, servers):
        self._servers = servers
        self._start = self._now()

    def _now(self):
        servers = sum(server.cpu_seconds() for server in self._servers)
        return time.perf_counter(), busy_seconds(), own_seconds(), servers

    def foreign_cores(self):
        wall, busy, own, servers = (now - then for now, then in zip(self._now(), self._start))
        return max(0.0, busy - own - servers) / wall


def settle(servers, foreign_max, patience_seconds=60):
    """Waits until others, and the servers, leave the machine mostly alone for a moment; not for ever."""
    end, calm = time.monotonic() + patience_seconds, 0
    while time.monotonic() < end and calm < 3:
        account, before = Account(servers), sum(server.cpu_seconds() for server in servers)
        time.sleep(0.5)
        is_calm = sum(server.cpu_seconds() for server in servers) - before < 0.1
        calm = calm + 1 if is_calm and account.foreign_cores() <= foreign_max else 0
