"""What documents have beside their contents, in dumps and backups of both servers: attachments, counters, revisions.

`dumps` runs the tests of `TESTS`. Each takes RavenDB and this server as nodes.
"""

import base64
import hashlib
import json
import os
import pathlib
import tempfile
import time
import urllib.parse

from two_servers import Skipped, same

# RavenDB drops `HasCounters` with the next PUT of a document, and this server does not.
COMPARED_FLAGS = {"Revision", "DeleteRevision", "HasRevisions", "HasAttachments"}
# RavenDB without a licence has no default configuration, and keeps two revisions where their number is bounded.
CONFIGURATION = {
    "Default": None,
    "Collections": {
        "As": {"Disabled": False},
        "Bs": {"Disabled": False, "MinimumRevisionsToKeep": 2, "PurgeOnDelete": True},
    },
}
EVERYTHING = (
    "DatabaseRecord,Documents,RevisionDocuments,Attachments,CounterGroups,Tombstones,"
    "CompareExchange,CompareExchangeTombstones,Identities,Indexes"
)


def quoted(**parameters):
    return urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)


def attach(database, id, name, content, content_type=""):
    path = f"{database.path}/attachments?{quoted(id=id, name=name, contentType=content_type)}"
    database.node.send("PUT", path, content, "application/octet-stream")


def detach(database, id, name):
    database.node.send("DELETE", f"{database.path}/attachments?{quoted(id=id, name=name)}")


def count(database, id, name, delta):
    """Raises a counter; `None` deletes it."""
    kind = "Delete" if delta is None else "Increment"
    operation = {"Type": kind, "CounterName": name, "Delta": delta}
    body = {"Documents": [{"DocumentId": id, "Operations": [operation]}]}
    database.node.send("POST", f"{database.path}/counters", json.dumps(body).encode())


def delete(database, id):
    database.node.send("DELETE", f"{database.path}/docs?{quoted(id=id)}")


def metadata(database):
    """Of each document."""
    found = json.loads(database.node.send("GET", f"{database.path}/streams/docs"))["Results"]
    return {document["@metadata"]["@id"]: document["@metadata"] for document in found}


def attachments(database):
    """By document and name: what the document says of it, and its content."""
    found = {}
    for id, properties in metadata(database).items():
        for listed in properties.get("@attachments", []):
            content = database.node.send("GET", f"{database.path}/attachments?{quoted(id=id, name=listed['Name'])}")
            said = {key: listed[key] for key in ("Name", "Hash", "ContentType", "Size")}
            assert len(content) == listed["Size"], (id, listed, len(content))
            found[id, listed["Name"]] = said, content
    return found


def counters(database):
    """By document: the names that it lists, and the values."""
    found = {}
    for id, properties in metadata(database).items():
        if names := properties.get("@counters"):
            values = database.node.json(f"{database.path}/counters?{quoted(docId=id)}")["Counters"]
            found[id] = sorted(names), {value["CounterName"]: value["TotalValue"] for value in values}
    return found


def check_content(database, id, change_vector, name, hash):
    """Reads the content of an attachment of a revision, which has to have the hash that the revision lists."""
    body = json.dumps({"Type": "Revision", "ChangeVector": change_vector}).encode()
    content = database.node.send("POST", f"{database.path}/attachments?{quoted(id=id, name=name)}", body)
    found = base64.b64encode(hashlib.blake2b(content, digest_size=32).digest()).decode()
    assert found == hash, f"the content of '{name}' of '{id}' at {change_vector} is another one: {content[:80]!r}"


def revisions(database):
    """By document and change vector, those of a document with the newest first: contents, flags and dates."""
    deleted = database.node.json(f"{database.path}/revisions/bin?start=0&pageSize=1000")["Results"]
    ids = [id for id, properties in metadata(database).items() if "HasRevisions" in properties.get("@flags", "")]
    found = {}
    for id in ids + [revision["@metadata"]["@id"] for revision in deleted]:
        for revision in database.node.json(f"{database.path}/revisions?{quoted(id=id)}")["Results"]:
            properties = revision["@metadata"]
            flags = set(properties["@flags"].split(", ")) & COMPARED_FLAGS
            listed = [(x["Name"], x["Hash"], x["ContentType"], x["Size"]) for x in properties.get("@attachments", [])]
            left = {k: v for k, v in properties.items() if k not in ("@attachments", "@flags", "@timeseries-snapshot")}
            left |= {"@flags": flags, "@attachments": listed}
            for name, hash, _, _ in listed:
                check_content(database, id, properties["@change-vector"], name, hash)
            found[id, properties["@change-vector"]] = {**revision, "@metadata": left}
    return found


def undated(database):
    """The documents by id, without their dates."""
    found = database.documents()
    for document in found.values():
        del document["@metadata"]["@last-modified"]
    return found


def compare(source, target, is_order_kept=True):
    """Fails with the first difference of documents, attachments, counters or revisions."""
    # RavenDB's import of counters gives their documents new dates, and may make one more revision of each.
    is_exact = target.node.name != "RavenDB"
    same("documents", source.documents(is_exact), target.documents(is_exact))
    same("attachments", attachments(source), attachments(target))
    same("counters", counters(source), counters(target))
    expected, found = revisions(source), revisions(target)
    if not is_exact:
        found = {key: revision for key, revision in found.items() if key in expected}
    same("revisions", expected, found)
    if is_order_kept:
        orders = [{id: [vector for of, vector in side if of == id] for id, _ in side} for side in (expected, found)]
        same("orders of revisions", *orders)
    left, right = (database.node.json(f"{database.path}/stats") for database in (source, target))
    assert not is_exact or left["CountOfRevisionDocuments"] == right["CountOfRevisionDocuments"] > 0, (left, right)


def kinds(node):
    """A database with some of every kind."""
    database = node.database()
    node.send("POST", f"{database.path}/admin/revisions/config", json.dumps(CONFIGURATION).encode())
    for id in ["a/1", "a/2", "a/3", "b/1", "ä/Ö 1"]:
        database.put(id, {"n": 1, "@metadata": {"@collection": "Bs" if id == "b/1" else "As", "@refresh": "2099-01-02T03:04:05.0000000Z"}})
    # Two documents have one content, one has it twice.
    attach(database, "a/1", "Ärger.TXT", "grüße".encode(), "text/plain")
    attach(database, "a/1", "again", "grüße".encode(), "Text/HTML; charset=UTF-8")
    attach(database, "a/2", "日本 “x”", "grüße".encode(), "text/plain")
    attach(database, "a/2", "leer", b"")
    attach(database, "ä/Ö 1", "LEER.bin", b"", "application/x-empty")
    attach(database, "a/3", "gone", b"kept by a revision alone")
    detach(database, "a/3", "gone")
    attach(database, "b/1", "large", os.urandom(3_000_000) + b'"}],{"@metadata"')
    for name, delta in [("Likes", 5), ("likes", 2), ("Über", 1 - 2**63), ("large", 2**63 - 1), ("⭐⭐", 1), ("zero", 0)]:
        count(database, "a/1", name, delta)
    for name, delta in [("gone", 1), ("gone", None), ("back", 7), ("back", None), ("back", 3)]:
        count(database, "ä/Ö 1", name, delta)
    for number in range(300):
        count(database, "plain/1", f"counter {number}", number) if number else database.put("plain/1", {})
    for number in range(2, 6):
        database.put("a/1", {"n": number, "@metadata": {"@collection": "As", "own": [number]}})
        database.put("b/1", {"n": number, "@metadata": {"@collection": "Bs"}})
    database.put("a/4", {"n": 1, "@metadata": {"@collection": "As"}})
    delete(database, "a/4")
    delete(database, "a/2")
    database.put("a/2", {"made again": True, "@metadata": {"@collection": "As"}})
    return database


def change(database):
    """Deletes some of every kind, and changes some."""
    detach(database, "a/1", "AGAIN")
    detach(database, "ä/Ö 1", "leer.bin")
    attach(database, "a/1", "Ärger.TXT", "andere Grüße".encode(), "text/x-other")
    attach(database, "a/3", "new", "grüße".encode())
    count(database, "a/1", "LIKES", None)
    count(database, "a/1", "zero", -4)
    count(database, "a/3", "new", 4)
    count(database, "plain/1", "counter 7", None)
    delete(database, "ä/Ö 1")
    database.put("a/3", {"n": "changed", "@metadata": {"@collection": "As"}})


def compare_changed(source, target):
    """The same after `change`, but for revisions and for dates, since a deletion gives the document of an attachment a new one."""
    same("documents", undated(source), undated(target))
    same("attachments", attachments(source), attachments(target))
    same("counters", counters(source), counters(target))


def other(node, reference, ours):
    return ours if node is reference else reference


def a_dump_gives_the_other_every_kind(reference, ours):
    """attachments, counters and revisions of a dump of each server are equal on the other, and after the way back"""
    for node in (reference, ours):
        source = kinds(node)
        target = other(node, reference, ours).database()
        target.take(source.export())
        compare(source, target)
        # A second time nothing changes.
        target.take(source.export())
        compare(source, target)
        back = node.database()
        back.take(target.export())
        # The revisions that RavenDB adds are its last ones, and here they have their place by date.
        compare(target, back, is_order_kept=False)


def deletions_of_kinds_go_along(reference, ours):
    """a later dump with tombstones deletes attachments, counters and documents of the other server"""
    for node in (reference, ours):
        source = kinds(node)
        target = other(node, reference, ours).database()
        target.take(source.export())
        change(source)
        target.take(source.export(OperateOnTypes=EVERYTHING), OperateOnTypes=EVERYTHING)
        compare_changed(source, target)


def backups_of_kinds_are_restored_by_the_other(reference, ours):
    """a full backup of each server restores every kind on the other"""
    for node in (reference, ours):
        source = kinds(node)
        with tempfile.TemporaryDirectory() as folder:
            restored = other(node, reference, ours).database().restore(source.back_up(folder))
        compare(source, restored)


def incremental_backups(source, folder, rounds):
    """Makes a full backup, and after each round of changes an incremental one."""
    task = {"Name": "kinds", "BackupType": "Backup", "FullBackupFrequency": "0 2 1 1 *", "LocalSettings": {"FolderPath": folder}}
    try:
        made = json.loads(source.node.send("POST", f"{source.path}/admin/periodic-backup", json.dumps(task).encode()))
    except AssertionError as error:
        if "answers 402" in str(error):
            raise Skipped("RavenDB's licence allows no task that makes backups") from None
        raise
    for number, work in enumerate([None, *rounds]):
        if work:
            # Files are named by the second.
            time.sleep(1.1)
            work(source)
        path = f"{source.path}/admin/backup/database?isFullBackup={'false' if number else 'true'}&taskId={made['TaskId']}"
        source.wait(f"{source.path}/operations/state", json.loads(source.node.send("POST", path)))
    return max(entry.path for entry in os.scandir(folder))


# A counter that was deleted is made again.
ROUNDS = [change, lambda database: count(database, "a/1", "Likes", 9)]


def incremental_backups_of_this_server(reference, ours):
    """incremental backups of this server delete attachments and counters, restored here and by RavenDB"""
    source = kinds(ours)
    with tempfile.TemporaryDirectory() as folder:
        made = incremental_backups(source, folder, ROUNDS)
        here, there = ours.database().restore(made), reference.database()
        # RavenDB without a licence restores no record with a task that makes backups; the files of a backup are dumps.
        # Beside them stands the mark of the task.
        files = (file for file in os.scandir(made) if file.name.endswith("-backup"))
        for file in sorted(files, key=lambda file: file.name):
            there.take(pathlib.Path(file).read_bytes(), OperateOnTypes=EVERYTHING.replace("DatabaseRecord,", ""))
    compare(source, here)
    compare_changed(source, there)


def incremental_backups_of_ravendb(reference, ours):
    """incremental backups of RavenDB delete attachments and counters when they are restored here"""
    source = kinds(reference)
    with tempfile.TemporaryDirectory() as folder:
        restored = ours.database().restore(incremental_backups(source, folder, ROUNDS))
    compare(source, restored)


def subscriptions(database):
    """By name: query, archived documents, and what RavenDB's import leaves out: change vector, whether it is disabled, and its node."""
    found = database.node.json(f"{database.path}/subscriptions?start=0&pageSize=100")["Results"]
    return {
        one["SubscriptionName"]: (
            one["Query"], one["ArchivedDataProcessingBehavior"],
            one["ChangeVectorForNextBatchStartingPoint"], one["Disabled"], one["MentorNode"], one["PinToMentorNode"],
        )
        for one in found
    }


def subscriptions_along(source, ours, reference):
    """Takes subscriptions to the other server, by a dump and by a full backup."""
    source.put("b/1", {"n": 1, "@metadata": {"@collection": "Bs"}})
    # RavenDB without a licence imports three at most.
    for one in (
        {"Name": "all", "Query": "from Bs"},
        {"Name": "Überall", "Query": 'from Bs where n > 1 and Name = "é"', "ArchivedDataProcessingBehavior": "IncludeArchived"},
        {
            "Name": "later", "Query": "from Bs include counters('likes')", "Disabled": True, "ChangeVector": "LastDocument",
            "MentorNode": "A", "PinToMentorNode": True,
        },
    ):
        source.node.send("PUT", f"{source.path}/subscriptions", json.dumps(one).encode())
    expected = subscriptions(source)
    assert expected["later"][2:] != (None, False, None, False), expected
    target = other(source.node, reference, ours).database()
    target.take(source.export())
    with tempfile.TemporaryDirectory() as folder:
        restored = other(source.node, reference, ours).database().restore(source.back_up(folder))
    for database in (target, restored):
        found = subscriptions(database)
        if database.node is reference:
            expected = {name: one[:2] for name, one in expected.items()}
            found = {name: one[:2] for name, one in found.items()}
        same("subscriptions", expected, found)
    return target, expected


def subscriptions_come_along(reference, ours):
    """subscriptions of a dump and of a full backup of RavenDB are here, and a second import changes nothing"""
    source = reference.database()
    target, expected = subscriptions_along(source, ours, reference)
    target.take(source.export())
    same("subscriptions after a second import", expected, subscriptions(target))


def subscriptions_go_along(reference, ours):
    """subscriptions of a dump and of a full backup of this server are at RavenDB"""
    try:
        subscriptions_along(ours.database(), ours, reference)
    except AssertionError as error:
        if "answers 402" in str(error):
            raise Skipped("RavenDB's licence allows no more subscriptions") from None
        raise


TESTS = [
    subscriptions_come_along, subscriptions_go_along, a_dump_gives_the_other_every_kind, deletions_of_kinds_go_along, backups_of_kinds_are_restored_by_the_other,
    incremental_backups_of_this_server, incremental_backups_of_ravendb,
]
