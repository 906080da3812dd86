"""What the scripts of this folder share: where the server is, a database of their own, and how tests are run and counted.

A script is called as `python SCRIPT.py URL [--reference]`. Its tests are functions under `@test`, whose docstrings are their
names; `run` runs them in order. Each prints `ok` or `FAILED` with the reason; the last line is `N passed, M failed`, and the
exit code is 1 if any failed.
"""

import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import uuid

import requests
from ravendb import CreateDatabaseOperation, DocumentStore, GetDatabaseNamesOperation
from ravendb.serverwide.database_record import DatabaseRecord
from ravendb.serverwide.operations.common import DeleteDatabaseOperation

TEST_SECONDS_MAX = 60
SCRIPT = pathlib.Path(sys.argv[0]).stem
if len(sys.argv) < 2:
    sys.exit(f"usage: python {SCRIPT}.py URL [--reference]")

# The server, without a slash at the end.
URL = sys.argv[1].rstrip("/")
# Whether the server is RavenDB itself.
IS_REFERENCE = "--reference" in sys.argv
# A database that nobody else has.
DATABASE = f"{SCRIPT}-python-{uuid.uuid4().hex[:8]}"

TESTS = []
# The client writes a log of its changes socket where it is run.
FOLDER = tempfile.mkdtemp(prefix="rookery-conformance-")
os.chdir(FOLDER)


class Entity:
    def __init__(self, **fields):
        self.Id = None
        self.__dict__.update(fields)


def test(function):
    """Adds a test; its docstring is its name."""
    TESTS.append(function)
    return function


def test_unless_reference(function):
    """Adds a test that RavenDB 7.1.5 is known to fail: `--reference` leaves it out."""
    return function if IS_REFERENCE else test(function)


def open_store():
    opened = DocumentStore(URL, DATABASE)
    opened.initialize()
    return opened


STORE = open_store()


def create_northwind():
    """Creates the script's database, and puts the Northwind sample into it."""
    # Of RavenDB's two search engines, the one that has all of these queries.
    engine = {"Indexing.Auto.SearchEngineType": "Lucene", "Indexing.Static.SearchEngineType": "Lucene"}
    record = DatabaseRecord(DATABASE)
    if IS_REFERENCE:
        record.settings = engine
    STORE.maintenance.server.send(CreateDatabaseOperation(record))
    requests.post(f"{URL}/databases/{DATABASE}/studio/sample-data?operateOnTypes=Documents", timeout=TEST_SECONDS_MAX).raise_for_status()


def delete_database():
    """Deletes the script's database."""
    STORE.maintenance.server.send(DeleteDatabaseOperation(DATABASE, True))
    assert DATABASE not in STORE.maintenance.server.send(GetDatabaseNamesOperation(0, 1000))


def save(*pairs):
    """Stores documents, given as pairs of id and entity, in one batch."""
    with STORE.open_session() as session:
        for id, entity in pairs:
            session.store(entity, id)
        session.save_changes()


_loaded = {}


def documents(collection):
    """All documents of a collection by id, as dictionaries, loaded once."""
    if collection not in _loaded:
        with STORE.open_session() as session:
            stream = session.advanced.stream_starting_with(f"{collection.lower()}/", object_type=dict)
            _loaded[collection] = {item.key: item.document for item in stream}
    return _loaded[collection]


def ids(results):
    """The ids of results of a query as text or of dictionaries, in order of their texts."""
    return sorted(result["@metadata"]["@id"] for result in results)


def refused(call, *parts):
    """Asserts that `call` raises an error with all `parts` in its message.

    This client raises most errors of the server as RuntimeError with the server's type in the message."""
    try:
        call()
    except Exception as error:
        assert all(part in str(error) for part in parts), error
    else:
        raise AssertionError(f"an error with {parts} was expected")


def equal(actual, expected):
    assert actual == expected, f"{shown(actual)} instead of {shown(expected)}"


def near(actual, expected):
    """Asserts that two lists of numbers are alike but for rounding."""
    assert len(actual) == len(expected), f"{len(actual)} numbers instead of {len(expected)}"
    assert all(abs(a - b) < 0.001 for a, b in zip(actual, expected)), f"{shown(actual)} instead of {shown(expected)}"


def eventually(condition):
    """Waits until `condition` gives a true value, for ten seconds at most."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not become true within 10 s"
        time.sleep(0.02)


def shown(value):
    text = ascii(value)
    return text if len(text) <= 400 else text[:400] + "..."


def run():
    """Runs the tests and ends the process."""
    passed = failed = 0
    for function in TESTS:
        # A thread of its own, so that a call that never comes back fails its test and not the whole run.
        pool = concurrent.futures.ThreadPoolExecutor(1)
        try:
            pool.submit(function).result(timeout=TEST_SECONDS_MAX)
            passed += 1
            print(f"ok      python, {SCRIPT}: {function.__doc__}", flush=True)
        except concurrent.futures.TimeoutError:
            failed += 1
            reason = f"did not end within {TEST_SECONDS_MAX} s"
            print(f"FAILED  python, {SCRIPT}: {function.__doc__}\n        {reason}", flush=True)
        except Exception as error:
            failed += 1
            frames = traceback.extract_tb(error.__traceback__)
            lines = [str(frame.lineno) for frame in frames if pathlib.Path(frame.filename).stem == SCRIPT]
            reason = f"{type(error).__name__}: {error}".splitlines()[:8]
            name = f"{SCRIPT}: {function.__doc__} (lines {', '.join(lines)})"
            print(f"FAILED  python, {name}", *reason, sep="\n        ", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    # A client that waits for a thread of its own would keep the interpreter from ending.
    os._exit(0 if failed == 0 else 1)
