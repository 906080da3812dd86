#!/usr/bin/env python3
"""Make northwind.ravendbdump.zst: the Northwind sample as a dump, one item per line.

    northwind.py SERVER_URL [OUTPUT]        default: northwind.ravendbdump.zst beside this script

SERVER_URL is a server with the endpoint `POST /databases/{name}/studio/sample-data`. The script makes a
database there, has the server fill it, exports it, and deletes it again. Taken over are documents,
revisions, counters and compare-exchange values. Texts of items are kept as they came, byte for byte
(numbers such as 34.8000 keep their zeros); the `@metadata` of a document is reduced to `@collection`,
`@id` and keys of users. Attachments have the names that they have there, and the pictures of
`northwind-pictures`. Time series are left out. Needs `zstd`.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys
import urllib.request
import uuid

# The eight hi-lo documents belong to the sample: with them, a client that stores a new order after the
# sample was loaded gets an id above those of the sample.
COUNTS = {
    "@hilo": 8,
    "Categories": 8,
    "Companies": 91,
    "Employees": 9,
    "Orders": 830,
    "Products": 77,
    "Regions": 4,
    "Shippers": 3,
    "Suppliers": 29,
}
OTHER_COUNTS = {"RevisionDocuments": 5475, "CounterGroups": 77, "CompareExchange": 77}
# Metadata that a server writes itself, or that describes what is left out here.
OF_THE_SERVER = {"@change-vector", "@last-modified", "@flags", "@attachments", "@counters", "@timeseries"}
PICTURES = pathlib.Path(__file__).with_name("northwind-pictures")


def request(method, url, body=None, content_type="application/json"):
    message = urllib.request.Request(url, data=body, method=method, headers={"Content-Type": content_type})
    with urllib.request.urlopen(message) as answer:
        return answer.read()


def exported(server, name):
    """The dump of a database, unpacked."""
    boundary = uuid.uuid4().hex
    options = {"OperateOnTypes": "Documents,RevisionDocuments,Attachments,CounterGroups,CompareExchange", "CompressionAlgorithm": "Gzip"}
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="downloadOptions"\r\n\r\n{json.dumps(options)}\r\n--{boundary}--\r\n'
    url = f"{server}/databases/{name}/smuggler/export"
    data = request("POST", url, part.encode(), f"multipart/form-data; boundary={boundary}")
    return gzip.decompress(data)


def items(dump, part):
    """The items of a part of a dump: each as its own text and as its parsed value. Contents behind an item are passed over."""
    decoder = json.JSONDecoder()
    # A character for each byte, so that sizes count both.
    text = dump.decode("latin-1")
    at = text.index(f'"{part}":[') + len(part) + 4
    while text[at] != "]":
        if text[at] == ",":
            at += 1
            continue
        _, end = decoder.raw_decode(text, at)
        own = text[at:end].encode("latin-1").decode("utf-8")
        value = json.loads(own)
        at = end + (value["Size"] if "Hash" in value and "Size" in value else 0)
        yield own, value


def attachment_line(picture, name):
    """A content as dumps have it, and what the document's metadata say of it."""
    content = (PICTURES / picture).read_bytes()
    digest = base64.b64encode(hashlib.blake2b(content, digest_size=32).digest()).decode()
    element = {"@metadata": {"@export-type": "Attachment"}, "Hash": digest, "Size": len(content), "Tag": name}
    of_document = {"Name": name, "Hash": digest, "ContentType": "image/jpeg", "Size": len(content)}
    return json.dumps(element, separators=(",", ":")).encode() + content, of_document


def document_lines(text, value):
    """(collection, lines): the document with its metadata reduced, the rest of its text untouched, behind its attachments."""
    metadata = {key: item for key, item in value["@metadata"].items() if key not in OF_THE_SERVER}
    lines = []
    for attachment in value["@metadata"].get("@attachments", []):
        kind, number = metadata["@id"].removesuffix("-A").split("/")
        line, of_document = attachment_line(f"{kind}-{number}.jpg", attachment["Name"])
        lines.append(line)
        metadata.setdefault("@attachments", []).append(of_document)
    before = text[: text.rindex('"@metadata":')]
    line = before + '"@metadata":' + json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) + "}"
    # The metadata comes last in its document, and nothing else was changed.
    assert list(value)[-1] == "@metadata" and json.loads(line) == {**value, "@metadata": metadata}
    assert "\n" not in line
    return metadata["@collection"], [*lines, line.encode()]


def counter_line(text, value):
    """The counters of a document, with the same change vector in every run: the highest change of their values."""
    database = value["Values"]["@dbIds"][0]
    etag = max(etag for _, etag in value["Values"]["@vals"].values())
    return text.replace(value["ChangeVector"], f"A:{etag}-{database}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    server = sys.argv[1].rstrip("/")
    default = pathlib.Path(__file__).with_name("northwind.ravendbdump.zst")
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else default
    name = f"northwind-{uuid.uuid4().hex[:8]}"
    request("PUT", f"{server}/admin/databases?name={name}&replicationFactor=1", json.dumps({"DatabaseName": name}).encode())
    try:
        request("POST", f"{server}/databases/{name}/studio/sample-data")
        dump = exported(server, name)
    finally:
        names = json.dumps({"DatabaseNames": [name], "HardDelete": True}).encode()
        request("DELETE", f"{server}/admin/databases", names)

    counts, documents = {}, []
    for text, value in items(dump, "Docs"):
        if value["@metadata"].get("@export-type") == "Attachment":
            continue
        collection, lines = document_lines(text, value)
        counts[collection] = counts.get(collection, 0) + 1
        documents += lines
    if counts != COUNTS:
        sys.exit(f"unexpected documents per collection: {counts}")
    parts = [b'"Docs":[\n' + b",\n".join(documents) + b"]"]
    for part, count in OTHER_COUNTS.items():
        lines = [counter_line(*item) if part == "CounterGroups" else item[0] for item in items(dump, part)]
        if len(lines) != count:
            sys.exit(f"{len(lines)} items of {part}, {count} expected")
        parts.append(f'"{part}":[\n'.encode() + ",\n".join(lines).encode() + b"]")
    data = b'{"BuildVersion":70000,\n' + b",\n".join(parts) + b"}\n"
    packed = subprocess.run(["zstd", "-19", "--ultra", "--quiet", "-"], input=data, stdout=subprocess.PIPE, check=True).stdout
    output.write_bytes(packed)
    print(f"{output}: {sum(counts.values())} documents, {len(data)} bytes, {len(packed)} packed")


if __name__ == "__main__":
    main()
