"""mcp-arguments.py [FLAG...]: an MCP server whose tools say what arguments they got, digit by digit, and which
requests came before. Flags: nolist (tools/list fails), hidden (no tool is in the list), sleepy (tools/list is
never answered)."""

import json
import re
import sys

flags = sys.argv[1:]
DEFS = {"count": {"type": "integer", "minimum": 1}, "node": {"$ref": "#/$defs/count"}}
PROPERTIES = {
    "days": {"type": "number"},
    "count": {"type": "integer", "minimum": 10},
    "on": {"type": "boolean"},
    "none": {"type": "null"},
    "name": {"type": "string"},
    "either": {"type": ["number", "string"]},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "auto": {"anyOf": [{"type": "string", "enum": ["auto"]}, {"type": "integer"}]},
    "level": {"enum": [1, 2, 3]},
    "mixed": {"enum": ["1", 2, True]},
    "colour": {"type": "string", "enum": ["red", "green"]},
    "ref": {"$ref": "#/$defs/node"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "sizes": {"type": "array", "items": {"type": "integer"}},
    "at": {"type": "object", "properties": {"x": {"type": "integer"}}},
    "a/b~c": {"type": "integer"},
    "pattern": {"type": "string", "pattern": "^[a-z]+$"},
    "any": {},
    "fives": {"type": "integer", "multipleOf": 5},
    "low": {"type": "integer", "exclusiveMaximum": 0},
    "many": {"anyOf": [{"type": "integer", "minimum": 10}, {"type": "null"}]},
    "odd": {"type": "integer", "not": {"type": "integer"}},
    "my key": {"type": "integer"},
    "$k": {"type": "array", "items": {"type": "string"}},
}
TOOLS = [
    {"name": "types", "inputSchema": {"type": "object", "properties": PROPERTIES, "$defs": DEFS}},
    {"name": "book", "description": "Books a room", "inputSchema": {
        "type": "object", "properties": {"days": {"type": "integer"}, "room": {"type": "string"},
                                         "late": {"type": "boolean"}, "kind": {"enum": ["single", "double"]},
                                         "tags": {"type": "array"}, "at": {"type": "object"}},
        "required": ["days", "room"], "additionalProperties": False}},
    {"name": "empty", "inputSchema": {"type": "object"}},
    {"name": "patterns", "inputSchema": {"type": "object", "properties": {"days": {"type": "number"}},
                                         "patternProperties": {"^x-": {}}}},
    {"name": "more", "inputSchema": {"type": "object", "properties": {"days": {"type": "number"}},
                                     "additionalProperties": True}},
    {"name": "closed", "inputSchema": {"type": "object", "additionalProperties": False}},
    {"name": "broken", "inputSchema": {"type": "object", "properties": {"days": {"type": "number", "pattern": "("}}}},
    {"name": "whole", "inputSchema": {"$ref": "#/$defs/args", "type": "object", "$defs": {
        "args": {"type": "object", "properties": {"days": {"type": "number"}}, "required": ["days"]}}}},
]
seen = []
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    seen.append(method)
    error = None
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "arguments", "version": "1"}}
    elif method == "tools/list" and "sleepy" in flags:
        continue
    elif method == "tools/list" and "nolist" in flags:
        error = {"code": -32603, "message": "no list today"}
    elif method == "tools/list":
        result = {"tools": [] if "hidden" in flags else TOOLS}
    elif message["params"]["name"] not in [tool["name"] for tool in TOOLS]:
        error = {"code": -32602, "message": "what?"}
    else:
        given = re.search(r'"arguments":(\{.*\})\}\}$', line)
        text = (given[1] if given else "nothing") + " after " + " ".join(seen[1:])
        result = {"content": [{"type": "text", "text": text}]}
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    answer.update({"error": error} if error else {"result": result})
    print(json.dumps(answer), flush=True)
