// An agent in the manner of the protocol's document, and of nothing else: it knows one trick. Nothing here comes from Duplex.
// It writes the file that the prompt names, after it has asked; what the client says goes to the file that is its argument.
import { appendFileSync, writeFileSync } from "node:fs";
import * as readline from "node:readline";

const journal = process.argv[2];
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tell = (method, params) => send({ method: `autohand.${method}`, params: { ...params, timestamp: new Date().toISOString() } });
const sessionId = "session-of-node";
let turn = null;
let batch = null;

function begin(id, { message }) {
    turn = { id, name: message.split(" ").pop(), text: `${message}\n` };
    tell("turnStart", { turnId: "t1", sessionId, instruction: message });
    tell("messageStart", { messageId: "m1", turnId: "t1" });
    tell("changesBatchStart", { batchId: "b1", turnId: "t1" });
    tell("hook.prePrompt", { instruction: message, mentionedFiles: [] });
    tell("messageUpdate", { messageId: "m1", delta: "I write. ", thought: "A file." });
    tell("hook.preTool", { toolId: "c1", toolName: "write_file", args: { path: turn.name } });
    tell("permissionRequest", { requestId: "p1", tool: "write_file", description: `Write ${turn.name}?`, context: { path: turn.name } });
}

function decided(allowed) {
    const { id, name, text } = turn;
    if (allowed) {
        tell("toolStart", { toolId: "c1", toolName: "write_file", args: { path: name } });
        tell("toolUpdate", { toolId: "c1", output: "writing", stream: "stdout" });
        batch = { name, text };
        const change = { id: "x1", filePath: name, changeType: "create", originalContent: "", proposedContent: text, description: `Create ${name}` };
        tell("changesBatchUpdate", { batchId: "b1", change: { ...change, toolId: "c1", toolName: "write_file" } });
        tell("toolEnd", { toolId: "c1", toolName: "write_file", success: true, output: "done" });
    } else {
        tell("error", { code: -32001, message: "denied", recoverable: true });
    }
    tell("changesBatchEnd", { batchId: "b1", changeCount: allowed ? 1 : 0 });
    tell("messageUpdate", { messageId: "m1", delta: "Done." });
    tell("messageEnd", { messageId: "m1", content: "I write. Done." });
    tell("turnEnd", { turnId: "t1", sessionId, stats: { tokensUsed: 7, duration: 5, contextPercent: 90 } });
    send({ result: { success: true }, id });
}

function decide({ action }) {
    const applied = action !== "reject_all" && batch;
    if (applied) {
        writeFileSync(batch.name, batch.text);
        tell("hook.fileModified", { filePath: batch.name, changeType: "create", toolId: "c1" });
    }
    batch = null;
    return { success: true, appliedCount: applied ? 1 : 0, skippedCount: applied ? 0 : 1 };
}

const methods = {
    "autohand.getState": () => ({ status: turn ? "processing" : "idle", sessionId, model: "node", workspace: process.cwd(), contextPercent: 95, messageCount: 1 }),
    "autohand.getMessages": () => ({ messages: [] }),
    "autohand.permissionAcknowledged": () => ({ success: true }),
    "autohand.changesDecision": decide,
};

tell("agentStart", { sessionId, model: "node", workspace: process.cwd(), contextPercent: 95 });
readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    appendFileSync(journal, `${JSON.stringify({ method, params })}\n`);
    if (method === "autohand.prompt") {
        begin(id, params);
    } else if (method === "autohand.permissionResponse") {
        send({ result: { success: true }, id });
        decided(params.allowed);
    } else if (methods[method]) {
        send({ result: methods[method](params), id });
    } else {
        send({ error: { code: -32601, message: `Method not found: ${method}` }, id });
    }
}).on("close", () => {
    tell("agentEnd", { sessionId, reason: "completed" });
});
