// An editor that a test talks to: `duplex hermes host --json` with its console on a pipe.
import { spawn } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { duplex } from "../duplex.mjs";

const fits = (event, wanted) =>
    Object.entries(wanted).every(([key, value]) =>
        value instanceof RegExp ? value.test(event[key]) : isDeepStrictEqual(event[key], value),
    );

export class Editor {
    events = [];
    #at = 0;
    #wake = () => {};
    #rest = "";
    #err = [];

    constructor(t, options, { env = process.env } = {}) {
        this.child = spawn(duplex, ["hermes", "host", "--json", ...options], { env, stdio: "pipe" });
        t.after(() => this.child.kill("SIGKILL"));
        this.child.stdout.setEncoding("utf8").on("data", (text) => this.#take(text));
        this.child.stderr.setEncoding("utf8").on("data", (text) => this.#err.push(text));
        this.child.stdin.on("error", () => {});
        this.ended = new Promise((resolve) => this.child.on("close", (code, signal) => {
            this.gone = true;
            this.#wake();
            resolve(signal ?? code);
        }));
    }

    get err() {
        return this.#err.join("");
    }

    #take(text) {
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop();
        this.events.push(...lines.map((line) => JSON.parse(line)));
        this.#wake();
    }

    say(line) {
        this.child.stdin.write(`${line}\n`);
    }

    // The next event with these members, behind the last one that was waited for.
    async next(wanted, limit = 15000) {
        for (const end = Date.now() + limit; ; ) {
            const found = this.events.findIndex((event, index) => index >= this.#at && fits(event, wanted));
            if (found >= 0) {
                this.#at = found + 1;
                return this.events[found];
            }
            if (this.gone || Date.now() > end) {
                const seen = this.events.map((event) => JSON.stringify(event).slice(0, 300)).join("\n");
                throw new Error(`no ${JSON.stringify(wanted)} behind ${this.#at} in:\n${seen}\n${this.err}`);
            }
            await new Promise((resolve) => {
                const timer = setTimeout(resolve, 100);
                this.#wake = () => {
                    clearTimeout(timer);
                    resolve();
                };
            });
        }
    }

    all(wanted) {
        return this.events.filter((event) => fits(event, wanted));
    }

    // The message, as it was last told.
    get text() {
        return this.all({ event: "message" }).at(-1)?.text;
    }

    // A console command and its result.
    async do(line) {
        this.say(line);
        return this.next({ event: "result", command: line.split(" ")[0] });
    }

    async ready(count = 1) {
        for (let i = 0; i < count; i++) await this.next({ event: "state", state: "running" });
    }

    async quit() {
        this.child.stdin.end();
        return this.ended;
    }
}
