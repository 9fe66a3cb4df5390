// The tutorial that needs eslint, prettier and markdownlint: its commands run as pasted, as check-tutorials.sh runs those of the
// others.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "..", "..");
const missing = ["clang-format", "cppcheck", "git", "python3"].filter((tool) => spawnSync(tool, ["--version"]).status !== 0);

test("a monorepo is linted and formatted as the tutorial says", { skip: missing.length > 0 && `not installed: ${missing}` }, (t) => {
    const root = folder(t);
    const clone = join(root, "clone");
    for (const name of ["clone", "home", "tmp"]) mkdirSync(join(root, name));
    for (const name of ["dev", "README.md"]) copyFileSync(join(source, name), join(clone, name));
    symlinkSync(process.env.BUILD, join(clone, "build"));
    symlinkSync(join(source, "systems"), join(clone, "systems"));
    const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
    const env = {
        ...who,
        PATH: `${join(here, "node_modules", ".bin")}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
        LC_ALL: "C.UTF-8",
        TERM: "xterm",
        HOME: join(root, "home"),
        TMPDIR: join(root, "tmp"),
    };
    const words = [join(source, "tests", "check", "tutorial.py"), clone, join(source, "docs", "tutorial", "monorepo.md")];
    const { status, stdout, stderr } = spawnSync("python3", words, { env, encoding: "utf8" });
    t.diagnostic(stdout.trim());
    assert.equal(status, 0, stdout + stderr);
});
