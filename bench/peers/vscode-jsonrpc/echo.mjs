import { createRequire } from "node:module";
import { askBack, fail } from "../node-common.mjs";

const require = createRequire(new URL("../../../tests/interop/package.json", import.meta.url));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-jsonrpc/node");

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
const asked = askBack((params, done) => connection.sendRequest("echo", params).then(done, fail));
connection.onError(([error]) => fail(error));
connection.onRequest("echo", (params) => {
  asked();
  return params;
});
connection.listen();
