"""What the benchmarks promise about themselves, without measuring: `python3 -m unittest bench.tests` in the root.

Every bar is measured by something that prints a figure of its name, and verdicts follow from figures.
"""

import re
import tempfile
import unittest
from unittest import mock

from bench import verdict
from bench.bars import BARS, GROUPS, HTTP, OURS, Bar, choose
from bench.figures import CannotMeasure, Figures
from bench.http import copies, indexing, phases, secure, workloads
from bench.measure import engine, micro, server  # noqa: F401: all that bench/run imports
from bench.settings import ROOT, Settings

COMPARE = ROOT / "bench" / "compare" / "src"
MICRO = ROOT / "bench" / "micro" / "src"


def judged(ours, theirs, **bound):
    """The verdict on a bar with a peer, from lists of figures."""
    bar = Bar("x1", "engine", "x", figure="f", peer="lmdb", **bound)
    figures = Figures()
    for value in ours:
        figures.add(OURS, "f", value)
    for value in theirs:
        figures.add("lmdb", "f", value)
    return verdict.row(bar, figures)


class Verdicts(unittest.TestCase):
    def test_the_median_is_compared_with_the_bound(self):
        row = judged([1, 50, 2], [4, 4, 4], at_most=0.5)
        self.assertEqual((row["ours"], row["ratio"], row["verdict"]), (2, 0.5, verdict.HOLDS))
        self.assertEqual(judged([2.01], [4], at_most=0.5)["verdict"], verdict.MISSES)
        self.assertEqual(judged([10], [4], at_least=2.5)["verdict"], verdict.HOLDS)
        self.assertEqual(judged([9], [4], at_least=2.5)["verdict"], verdict.MISSES)

    def test_what_is_missing_is_no_verdict(self):
        self.assertEqual(judged([], [4], at_most=1)["verdict"], f"no figure of {OURS}")
        self.assertEqual(judged([1], [], at_most=1)["verdict"], "no figure of lmdb")
        self.assertEqual(judged([1], [0], at_most=1)["verdict"], "lmdb has zero")
        figures = Figures()
        figures.lacks("rocksdb", "needs librocksdb-dev", "engine")
        figures.add(OURS, "b 1/tx 16 threads direct durable", 1.0)
        self.assertEqual(verdict.row(choose(["b3"])[0], figures)["verdict"], "needs librocksdb-dev")

    def test_the_spread_is_half_the_range_in_parts_of_the_median(self):
        self.assertEqual(verdict.spread([8, 10, 12]), 0.2)
        self.assertIsNone(verdict.spread([8]))


class Table(unittest.TestCase):
    def test_each_bar_has_one_bound_and_rows_differ(self):
        for bar in BARS:
            self.assertNotEqual(bar.at_most is None, bar.at_least is None, bar.name)
        names = [(bar.name, bar.peer) for bar in BARS]
        self.assertEqual(len(names), len(set(names)))

    def test_bars_are_chosen_by_id_beginning_and_group(self):
        self.assertEqual({bar.id for bar in choose(["d1", "e1"])}, {"d1", "e1"})
        self.assertEqual({bar.id for bar in choose(["http-put"])}, {"http-put-1", "http-put-16", "http-put-64"})
        self.assertEqual(choose(GROUPS), BARS)
        self.assertRaises(ValueError, choose, ["d"])

    def test_the_engine_program_prints_what_its_bars_want(self):
        printed = printed_by([COMPARE / name for name in ("main.rs", "journal.rs", "duel.rs", "contents.rs")], "[a-j] ")
        for bar in (bar for bar in BARS if bar.group == "engine"):
            for figure in filter(None, [bar.figure, bar.peer_figure]):
                figure = re.sub(r"^duel | p50$", "", figure) if bar.step == "duel" else figure
                self.assertTrue(any(one.fullmatch(figure) for one in printed), figure)

    def test_the_micro_programs_print_what_their_bars_want(self):
        printed = printed_by([*MICRO.glob("*.rs"), *MICRO.glob("bin/*.rs")], "")
        for bar in (bar for bar in BARS if bar.group in ("micro", "bulk")):
            for figure in filter(None, [bar.figure, bar.peer_figure]):
                figure = figure.removesuffix(" allocations")
                self.assertTrue(any(one.fullmatch(figure) for one in printed), figure)

    def test_only_the_peers_and_parts_that_are_wanted_run(self):
        steps = list(engine.plan(choose(["b2", "b3", "c2", "e1"]), ["lmdb", "fjall", "rocksdb"], []))
        self.assertEqual(steps, [("tx", [OURS, "rocksdb"], ["b"]), ("load", [OURS, "lmdb"], ["c", "e"])])

    def test_the_phases_give_what_the_bars_of_http_want(self):
        figures, bars = Figures(), [bar for bar in BARS if bar.group == "http" and not bar.not_yet]
        loads = {"rate": 1.0, "cpu": 1.0, "p50": 1.0, "p99": 1.0}
        server = mock.Mock(cpu_seconds=lambda: 0.0, memory=lambda: (1.0, 1.0, 1.0), disk=lambda: 1.0, process=None)
        server.name, server.start.return_value, server.document_count.side_effect = OURS, 1.0, lambda name: COUNTS[name]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        settings = Settings({"QUICK": "1", "DIR": folder.name})
        COUNTS = {"bench-bulk": phases.STREAMED, "bench-client": phases.BY_CLIENT, "bench": phases.DOCUMENTS}
        COUNTS |= {workloads.USERS: indexing.DOCUMENTS, workloads.PLACES: indexing.DOCUMENTS}
        COUNTS |= {name: copies.DOCUMENTS for name in (copies.DATABASE, copies.IMPORTED, copies.RESTORED)}
        COUNTS = {name: settings.count(count) for name, count in COUNTS.items()}
        server.ask.side_effect = self.answer
        plain = mock.Mock(cpu_seconds=lambda: 0.0, **{"document_count.side_effect": server.document_count.side_effect})
        plain.name = HTTP
        with mock.patch.multiple(
            copies,
            pieces_of_dump=lambda _: [b"{}"],
            import_dump=lambda *_: None,
            export_by_command=lambda *_: None,
            make_backup=lambda _server, _kind, folder: (folder / "backup").mkdir(parents=True),
            restore=lambda *_: None,
        ), mock.patch.object(secure.Secure, "servers", lambda _: (plain, server, server, None)), mock.patch.multiple(
            phases.load,
            wrk=lambda *_, **__: loads,
            stream=lambda *_: b"",
            bulk_insert=lambda *_: loads,
            client_insert=lambda *_: loads,
            install_client=mock.Mock(side_effect=[None, CannotMeasure("needs node and npm")]),
        ), mock.patch("time.sleep"), mock.patch.object(phases.freshness, "measure", lambda _: loads), mock.patch("builtins.print"), mock.patch.object(workloads, "QUESTIONS", 1):
            phases.Run([server], [bar.step for bar in bars], settings, figures, "rookery").all()
            lacking = Figures()
            phases.Run([server], ["client"], settings, lacking, "rookery").all()
        self.assertEqual([bar.name for bar in bars if not figures.values(OURS, bar.figure)], [])
        self.assertEqual(verdict.row(choose(["http-client"])[0], lacking)["verdict"], "needs node and npm")

    @staticmethod
    def answer(_method, path, body=None, **_):
        """What a server says to the phases of indexes: each has all documents, each query finds one."""
        is_copy = f"/{copies.DATABASE}/" in path or f"/{copies.RESTORED}/" in path
        everything = Settings({"QUICK": "1"}).count(copies.DOCUMENTS if is_copy else indexing.DOCUMENTS)
        entries = 0
        if "/stats?" in path:
            step = path.split("name=")[1].split("%2F")[0]
            entries = workloads.BUILDS[step][2](everything) if step in workloads.BUILDS else everything
        return {"IsStale": False, "Results": [{"EntriesCount": entries}] if entries or body else [], "TotalResults": 1}


def printed_by(files, begin):
    """Patterns of the figures that programs print: their literals that begin so, and are more than a placeholder."""
    patterns = []
    for file in files:
        for literal in re.findall(rf'"({begin}[^"\n]+)"', file.read_text()):
            if not literal.startswith("{"):
                pattern = re.sub(r"\\\{\w+\\\}", ".*", re.escape(literal))
                patterns.append(re.compile(pattern + "(, cpu per op)?"))
    return patterns


if __name__ == "__main__":
    unittest.main()
