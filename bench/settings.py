"""What a run is given by its environment, with the defaults."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Settings:
    """Numbers and folders. `QUICK=1` is one small repetition of all, to try whether it works."""

    def __init__(self, environment=os.environ):
        def given(name, kind, default, quick):
            text = environment.get(name)
            return kind(text) if text else quick if self.quick else default

        self.quick = bool(environment.get("QUICK"))
        self.reps = given("REPS", int, 5, 1)
        self.scale = given("SCALE", float, 1.0, 0.02)
        self.seconds = given("LOAD_SECONDS", int, 5, 1)
        self.warm_seconds = given("WARM_SECONDS", int, 10, 1)
        self.foreign_max = given("FOREIGN_MAX", float, 0.25, 99.0)
        self.tries = given("TRIES", int, 4, 1)
        self.reference = environment.get("REFERENCE") or None
        self.binary = environment.get("ROOKERY") or None
        self.more_peers = [peer for peer in environment.get("PEERS", "").split(",") if peer]
        self.results = pathlib.Path(environment.get("RESULTS") or ROOT / "bench" / "results").resolve()
        self.work = pathlib.Path(environment.get("DIR") or self.results / "data.tmp").resolve()
        self.target = pathlib.Path(environment.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()

    def count(self, full):
        """A number of documents or operations, scaled."""
        return max(1, int(full * self.scale))

    def shown(self):
        """What the file of results says about them."""
        names = ("reps", "scale", "seconds", "warm_seconds", "foreign_max", "tries")
        return {name: getattr(self, name) for name in names}
