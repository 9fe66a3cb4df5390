// A client in the manner of the protocol's document: it starts "autohand --rpc", reads lines, and matches answers by their id.
// Nothing here comes from Duplex.
import { spawn } from "node:child_process";
import * as readline from "node:readline";

export class Client {
    constructor({ path, cwd, words = ["--rpc"] }) {
        this.autohand = spawn("autohand", words, { stdio: ["pipe", "pipe", "inherit"], cwd, env: { ...process.env, PATH: path } });
        this.exit = new Promise((resolve) => this.autohand.on("exit", (code, signal) => resolve(signal ?? code)));
        this.closed = new Promise((resolve) => this.autohand.stdout.on("close", resolve));
        this.requestId = 0;
        this.pendingRequests = new Map();
        this.log = [];
        this.notifications = [];
        this.handlers = {};
        const rl = readline.createInterface({ input: this.autohand.stdout, crlfDelay: Infinity });
        rl.on("line", (line) => this.take(JSON.parse(line)));
    }

    take(message) {
        if ("id" in message) {
            const pending = this.pendingRequests.get(message.id);
            if (!pending) throw new Error(`an answer to nothing: ${JSON.stringify(message)}`);
            this.pendingRequests.delete(message.id);
            if (message.error) pending.reject(message.error);
            else pending.resolve(message.result);
            return;
        }
        this.notifications.push(message);
        this.handleNotification(message.method, message.params);
        this.handlers[message.method]?.(message.params);
    }

    handleNotification(method, params) {
        switch (method) {
            case "autohand.toolStart":
                this.log.push(`Tool started: ${params.toolName}`);
                break;
            case "autohand.toolEnd":
                this.log.push(`Tool ended: ${params.toolName} (${params.success ? "success" : "failed"})`);
                break;
            case "autohand.hook.fileModified":
                this.log.push(`File ${params.changeType}: ${params.filePath}`);
                break;
        }
    }

    sendRequest(method, params) {
        return new Promise((resolve, reject) => {
            const id = ++this.requestId;
            this.pendingRequests.set(id, { resolve, reject });
            this.autohand.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params, id })}\n`);
        });
    }

    on(method, handler) {
        this.handlers[`autohand.${method}`] = handler;
    }

    once(method) {
        return new Promise((resolve) => this.on(method, resolve));
    }

    async leave() {
        this.autohand.stdin.end();
        const code = await this.exit;
        await this.closed;
        return code;
    }
}
