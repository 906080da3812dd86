#!/usr/bin/env python3
"""Make northwind.jsonl.zst: the Northwind sample as documents, one per line.

    northwind.py SERVER_URL [OUTPUT]        default: northwind.jsonl.zst beside this script

SERVER_URL is a server with the endpoint `POST /databases/{name}/studio/sample-data`. The script makes a
database there, has the server fill it, reads every document through `streams/docs`, and deletes the
database again. Bodies are kept as they came, byte for byte (numbers such as 34.8000 keep their zeros);
`@metadata` is reduced to `@collection`, `@id` and keys of users. Attachments, counters, time series and
revisions of the sample are left out. Needs `zstd` for an output that ends in `.zst`.
"""

import json
import pathlib
import re
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
# Metadata that a server writes itself, or that describes what is left out here.
OF_THE_SERVER = {"@change-vector", "@last-modified", "@flags", "@attachments", "@counters", "@timeseries"}


def request(method, url, body=None):
    data = None if body is None else json.dumps(body).encode("utf-8")
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method)) as answer:
        return answer.read().decode("utf-8")


def results(text):
    """The documents of a `Results` array: each as its own text and as its parsed value."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    while True:
        at = re.compile(r"[\s,]*").match(text, at).end()
        if text[at] == "]":
            return
        value, end = decoder.raw_decode(text, at)
        yield text[at:end], value
        at = end


def reduced(text, value):
    """(collection, id, line): the document with its metadata reduced, the rest of its text untouched."""
    metadata = {key: item for key, item in value["@metadata"].items() if key not in OF_THE_SERVER}
    before = text[: text.rindex('"@metadata":')]
    line = before + '"@metadata":' + json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) + "}"
    # The metadata comes last in its document, and nothing else was changed.
    assert list(value)[-1] == "@metadata" and json.loads(line) == {**value, "@metadata": metadata}
    assert "\n" not in line
    return metadata["@collection"], metadata["@id"], line


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    server = sys.argv[1].rstrip("/")
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("northwind.jsonl.zst")
    name = f"northwind-{uuid.uuid4().hex[:8]}"
    request("PUT", f"{server}/admin/databases?name={name}&replicationFactor=1", {"DatabaseName": name})
    try:
        request("POST", f"{server}/databases/{name}/studio/sample-data")
        text = request("GET", f"{server}/databases/{name}/streams/docs")
    finally:
        request("DELETE", f"{server}/admin/databases", {"DatabaseNames": [name], "HardDelete": True})

    # `streams/docs` gives the last written first. The order of writing is kept, since it is the one in which a query
    # of a collection gives its documents.
    documents = [reduced(*result) for result in results(text)][::-1]
    counts = {}
    for collection, _, _ in documents:
        counts[collection] = counts.get(collection, 0) + 1
    if counts != COUNTS:
        sys.exit(f"unexpected documents per collection: {counts}")

    data = "".join(line + "\n" for _, _, line in documents).encode("utf-8")
    if output.suffix == ".zst":
        data = subprocess.run(["zstd", "-19", "--quiet", "-"], input=data, stdout=subprocess.PIPE, check=True).stdout
    output.write_bytes(data)
    print(f"{output}: {len(documents)} documents, {len(data)} bytes")


if __name__ == "__main__":
    main()
