// relay.mjs METHOD TOOL COMMAND...: stands between a client and a server, and calls a tool of the server itself once
// a request of that METHOD was answered; the client does not hear of the answer. So something happens in the
// client's own session while all it does is to listen.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [method, tool, command, ...words] = process.argv.slice(2);
const server = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
server.stdin.on("error", () => {});
server.on("close", () => process.exit(0));
process.on("SIGTERM", () => server.kill("SIGKILL"));

let waited;
createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === method) waited = message.id;
    server.stdin.write(`${line}\n`);
}).on("close", () => server.kill("SIGKILL"));

createInterface({ input: server.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id === "relay") return;
    process.stdout.write(`${line}\n`);
    if (waited === undefined || message.id !== waited || message.method) return;
    waited = undefined;
    const params = { name: tool, arguments: {} };
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: "relay", method: "tools/call", params })}\n`);
});
