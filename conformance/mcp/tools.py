"""What assistants do over the Model Context Protocol, with the published SDK for Python, over HTTP and over standard input.

    python tools.py URL [BINARY]

Without BINARY the tests of `rookery mcp` are left out, which a line says. Each test prints `ok` or `FAILED` with the reason; the last line
is `N passed, M failed`, and the exit code is 1 if any failed.
"""

import asyncio
import json
import sys
import urllib.request
import uuid

from mcp import Client, StdioServerParameters

TEST_SECONDS_MAX = 60
URL = sys.argv[1].rstrip("/")
BINARY = sys.argv[2] if len(sys.argv) > 2 else None
# A database that nobody else has.
DATABASE = f"mcp-{uuid.uuid4().hex[:8]}"
READING = {
    "list_databases", "list_collections", "describe_collection", "get_document", "query", "explain_query", "list_indexes", "get_index",
    "index_errors", "slow_requests", "search_documentation", "read_documentation",
}


def send(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=TEST_SECONDS_MAX) as answer:
        answer.read()


async def called(client, tool, **arguments):
    """(the JSON that a tool gives, its notes)."""
    result = await client.call_tool(tool, arguments)
    texts = [block.text for block in result.content]
    assert not result.is_error, texts
    return json.loads(texts[0]), texts[1:]


async def tools(client):
    """the tools are those that read"""
    found = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(found) == READING, set(found) ^ READING
    assert all(tool.annotations.read_only_hint for tool in found.values())


async def looks(client):
    """from databases to the shape of a collection"""
    names = [database["name"] for database in (await called(client, "list_databases", limit=1000))[0]["databases"]]
    assert DATABASE in names
    collections = (await called(client, "list_collections", database=DATABASE))[0]["collections"]
    assert {"name": "Orders", "documents": 830} in collections, collections
    shape = (await called(client, "describe_collection", database=DATABASE, collection="orders", sample=20))[0]
    fields = {field["path"]: field for field in shape["fields"]}
    assert shape["sampled"] == 20 and fields["ShipTo.City"]["types"] == {"string": 20}, fields
    assert fields["OrderedAt"]["types"] == {"date": 20} and "object" in fields["Lines[]"]["types"]


async def asks(client):
    """a query has rows, a limit and a plan"""
    rql = "from Orders where ShipTo.Country = $country select Company"
    found, notes = await called(
        client, "query", database=DATABASE, rql=rql, parameters={"country": "Norway"}, limit=2, wait_until_fresh=True
    )
    assert len(found["rows"]) == 2 and found["total"] == 6 and notes[0].startswith("cut at 2 rows of 6"), (found, notes)
    plan = (await called(client, "explain_query", database=DATABASE, rql=rql, parameters={"country": "Norway"}, run=True))[0]
    assert plan["total"] == 6 and plan["plan"]["Operator"] == "project", plan
    assert (await called(client, "list_indexes", database=DATABASE))[0]["indexes"]


async def fails(client):
    """a mistake is an error of the tool, in words"""
    result = await client.call_tool("query", {"database": DATABASE, "rql": "select 1"})
    assert result.is_error and "from" in result.content[0].text, result
    result = await client.call_tool("put_document", {"database": DATABASE, "id": "a", "document": {}})
    assert result.is_error and "Mcp.WritesAllowed" in result.content[0].text, result


async def reads_documentation(client):
    """the manual is searched"""
    found = (await called(client, "search_documentation", query="group by in RQL"))[0]["sections"]
    assert any(section["page"] == "docs/rql.md" for section in found), [section["page"] for section in found]


async def at_once(client):
    """several calls at the same time"""
    calls = [called(client, "get_document", database=DATABASE, id=f"orders/{number}-A") for number in range(1, 21)]
    found = await asyncio.gather(*calls)
    assert [document["@metadata"]["@id"] for document, _ in found] == [f"orders/{number}-A" for number in range(1, 21)]


async def run(name, server, mode):
    passed = failed = 0
    for test in (tools, looks, asks, fails, reads_documentation, at_once):
        title = f"mcp, {name}: {test.__doc__}"
        try:
            async with asyncio.timeout(TEST_SECONDS_MAX):
                async with Client(server, mode=mode) as client:
                    await test(client)
            passed += 1
            print(f"ok      {title}", flush=True)
        except Exception as error:
            failed += 1
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            print(f"FAILED  {title}\n        {type(error).__name__}: {error}"[:2000], flush=True)
    return passed, failed


async def main():
    totals = [await run("HTTP", f"{URL}/mcp", "auto"), await run("HTTP with a handshake", f"{URL}/mcp", "legacy")]
    if BINARY:
        command = StdioServerParameters(command=BINARY, args=["mcp", "--url", URL])
        totals.append(await run("standard input", command, "auto"))
    else:
        print("mcp: the tests of `rookery mcp` are left out: no binary was given")
    return tuple(map(sum, zip(*totals)))


send("PUT", f"/admin/databases?name={DATABASE}", {"DatabaseName": DATABASE})
send("POST", f"/databases/{DATABASE}/studio/sample-data?operateOnTypes=Documents")
try:
    passed, failed = asyncio.run(main())
finally:
    send("DELETE", "/admin/databases", {"DatabaseNames": [DATABASE], "HardDelete": True})
print(f"{passed} passed, {failed} failed")
sys.exit(0 if failed == 0 else 1)
