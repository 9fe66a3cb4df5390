import { askBack, fail } from "../node-common.mjs";
import { EchoRequestSchema, EchoResultSchema, implementation, maxBufferSize, options, require } from "./echo-schema.mjs";

const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");

const server = new Server(implementation);
const asked = askBack((params, done) =>
  server.request({ method: "echo", params }, EchoResultSchema, options).then(done, fail),
);
server.onerror = fail;
server.setRequestHandler(EchoRequestSchema, (request) => {
  asked();
  return request.params;
});
await server.connect(new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize }));
