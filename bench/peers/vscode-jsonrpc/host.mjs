import { createRequire } from "node:module";
import { fail, runHost, start } from "../node-common.mjs";

const require = createRequire(new URL("../../../tests/interop/package.json", import.meta.url));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-jsonrpc/node");

function open(command, args, asked) {
  const { child, end } = start(command, args);
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.onError(([error]) => fail(error));
  connection.onRequest("echo", (params) => {
    asked();
    return params;
  });
  connection.listen();
  return {
    pid: child.pid,
    call: (params, done) => connection.sendRequest("echo", params).then(done, fail),
    // The refusal of a method that the echo program does not have.
    ready: (done) => connection.sendRequest("ready").then(() => fail("a wrong answer"), done),
    close: () => end(() => connection.end()),
  };
}

runHost(open);
