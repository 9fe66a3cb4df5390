import { fail, runHost } from "../node-common.mjs";
import { EchoRequestSchema, EchoResultSchema, implementation, maxBufferSize, options, require } from "./echo-schema.mjs";

const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

async function open(command, args, asked) {
  const client = new Client(implementation);
  const transport = new StdioClientTransport({ command, args, maxBufferSize });
  client.onerror = fail;
  client.onclose = () => fail("the echo program left");
  client.setRequestHandler(EchoRequestSchema, (request) => {
    asked();
    return request.params;
  });
  // connect() makes the handshake.
  await client.connect(transport, options);
  return {
    pid: transport.pid,
    call: (params, done) => client.request({ method: "echo", params }, EchoResultSchema, options).then(done, fail),
    ready: (done) => client.ping(options).then(done, fail),
    close() {
      client.onclose = undefined;
      return client.close();
    },
  };
}

runHost(open);
