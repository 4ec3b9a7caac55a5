"""Connects to the server that the first argument names, and does what each line of input says."""

import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


def transport(server):
    if "url" in server:
        headers = {"Authorization": f"Bearer {server['key']}"}
        http = httpx2.AsyncClient(headers=headers, timeout=120)
        return streamable_http_client(server["url"], http_client=http)
    return stdio_client(
        StdioServerParameters(
            command=server["command"], args=server["arguments"], env=server["environment"]
        )
    )


async def answer(client, asked):
    if asked["do"] == "describe":
        return {
            "protocol": str(client.protocol_version),
            "name": client.server_info.name,
            "instructions": client.instructions,
        }
    if asked["do"] == "list":
        listed = await client.list_tools()
        return {"tools": [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools]}
    try:
        called = await client.call_tool(asked["tool"], asked["arguments"])
    except MCPError as error:
        return {"is_error": True, "text": error.message, "structured": None}
    return {
        "is_error": bool(called.is_error),
        "text": "".join(part.text for part in called.content),
        "structured": called.structured_content,
    }


async def main():
    async with Client(transport(json.loads(sys.argv[1])), mode=sys.argv[2]) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(client, json.loads(line))), flush=True)


asyncio.run(main())
