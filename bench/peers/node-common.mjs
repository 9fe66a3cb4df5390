// What the hosts and echo programs in JavaScript share: the workloads of ../README.md over any peer.
//
// A host gives runHost() a function open(command, args, asked) that starts the echo program and returns, or promises,
//   call(params, done)   makes the request `echo`, done(result) gets its answer
//   ready(done)          calls done() as soon as the echo program has answered anything, which is not yet the first `echo`
//   close()              closes the input of the echo program, promises its end
//   pid                  the process of the echo program
// and that calls asked() for every request `echo` that comes the other way.

// Node's modules are loaded where they are used: an echo program loads this file too, and would pay for them at its start.
const { getBuiltinModule } = process;

export function fail(error) {
  process.stderr.write(`${String(error?.message ?? error).split("\n", 1)[0]}\n`);
  process.exit(1);
}

// Starts a program with its standard input and output as pipes. end() waits for it, and it must leave with 0, not before.
export function start(command, args) {
  const { spawn } = getBuiltinModule("node:child_process");
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  let closing = false;
  const left = new Promise((resolve) => {
    child.on("error", fail);
    child.stdin.on("error", fail);
    child.on("exit", (code, signal) => {
      if (!closing || code !== 0) fail(`the echo program left with ${code ?? signal}`);
      resolve();
    });
  });
  const end = (closeInput) => {
    closing = true;
    closeInput();
    return left;
  };
  return { child, end };
}

function paramsOf(size) {
  const params = { line: 12, ok: true, text: "" };
  const bare = JSON.stringify({ jsonrpc: "2.0", id: 100000, method: "echo", params }).length;
  if (size < bare) fail(`a request has at least ${bare} bytes`);
  params.text = "a".repeat(size - bare);
  return params;
}

function check(result, params) {
  if (result?.line !== params.line || result.text?.length !== params.text.length) fail("a wrong answer");
}

// Makes count requests, inflight of them at a time: each answer makes the next request.
function flood(call, count, inflight, params, done) {
  let made = 0;
  let answered = 0;
  const answer = (result) => {
    check(result, params);
    if (made < count) {
      made++;
      call(params, answer);
    }
    if (++answered === count) done();
  };
  if (count === 0) done();
  while (made < count && made < inflight) {
    made++;
    call(params, answer);
  }
}

// Makes requests one at a time, count of them after warm that do not count. Promises the milliseconds of each and of all.
function sequence(call, params, warm, count, checkAnswer) {
  return new Promise((resolve) => {
    const times = new Float64Array(count);
    let n = -warm;
    let first = 0;
    let begin = 0;
    const next = () => {
      begin = performance.now();
      if (n === 0) first = begin;
      call(params, answer);
    };
    const answer = (result) => {
      const now = performance.now();
      if (n >= 0) times[n] = now - begin;
      checkAnswer(result, params);
      if (++n < count) next();
      else resolve({ times: times.sort(), total: now - first });
    };
    next();
  });
}

// The value below which the part q of the sorted values lies; the median with 0.5.
function percentile(sorted, q) {
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

const median = (values) => percentile(Float64Array.from(values).sort(), 0.5);

const readText = (file) => getBuiltinModule("node:fs").readFileSync(file, "utf8");

const rssKib = (pid) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))[1]);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const numbers = (args) =>
  args.map((text) => (/^[1-9]\d*$/.test(text) ? Number(text) : fail(`${text} is not a count`)));

// What the handler of an echo program calls at each request: with `both`, the first one sets our own requests off.
export function askBack(call) {
  const [word, ...rest] = process.argv.slice(2);
  if (word === undefined) return () => {};
  if (word !== "both" || rest.length !== 3) fail("usage: echo [both COUNT INFLIGHT SIZE]");
  const [count, inflight, size] = numbers(rest);
  let begun = false;
  let all = false;
  process.on("exit", () => {
    if (begun && !all) process.exitCode = 1;
  });
  return () => {
    if (begun) return;
    begun = true;
    flood(call, count, inflight, paramsOf(size), () => (all = true));
  };
}

const workloads = {
  async latency(open, command, args, [count, size]) {
    const peer = await open(command, args, () => {});
    const { times, total } = await sequence(peer.call, paramsOf(size), Math.floor(count / 10), count, check);
    await peer.close();
    return { seconds: total / 1e3, p50_us: percentile(times, 0.5) * 1e3, p99_us: percentile(times, 0.99) * 1e3 };
  },

  async flood(open, command, args, [count, inflight, size]) {
    const peer = await open(command, args, () => {});
    const params = paramsOf(size);
    await new Promise(peer.ready);
    const begin = performance.now();
    await new Promise((resolve) => flood(peer.call, count, inflight, params, resolve));
    const seconds = (performance.now() - begin) / 1e3;
    await peer.close();
    return { seconds };
  },

  async document(open, command, args, [times, file]) {
    const params = JSON.parse(readText(file));
    if (params === null || typeof params !== "object" || Array.isArray(params)) fail("the document is not an object");
    const keys = Object.keys(params).length;
    let last;
    const peer = await open(command, args, () => {});
    const measured = await sequence(peer.call, params, 1, times, (result) => {
      if (Object.keys(result).length !== keys) fail("a wrong answer");
      last = result;
    });
    // All of it is compared where it costs no measured time.
    if (!getBuiltinModule("node:util").isDeepStrictEqual(last, params)) fail("a wrong answer");
    await peer.close();
    return { seconds: measured.total / 1e3, ms: percentile(measured.times, 0.5) };
  },

  async children(open, command, args, [n, count, inflight, size]) {
    const params = paramsOf(size);
    const peers = await Promise.all(Array.from({ length: n }, () => open(command, args, () => {})));
    await Promise.all(peers.map((peer) => new Promise((resolve) => flood(peer.call, 1, 1, params, resolve))));
    const begin = performance.now();
    await new Promise((resolve) => {
      let left = n;
      const done = () => {
        if (--left === 0) resolve();
      };
      peers.forEach((peer, i) => flood(peer.call, Math.floor((count + i) / n), inflight, params, done));
    });
    const seconds = (performance.now() - begin) / 1e3;
    const rss_kib = rssKib("self");
    await Promise.all(peers.map((peer) => peer.close()));
    return { seconds, rss_kib };
  },

  async start(open, command, args, [times]) {
    const params = paramsOf(100);
    const ms = [];
    const idle = [];
    for (let i = 0; i < times; i++) {
      const begin = performance.now();
      const peer = await open(command, args, () => {});
      await new Promise((resolve) => flood(peer.call, 1, 1, params, resolve));
      ms.push(performance.now() - begin);
      await pause(100);
      idle.push(rssKib(peer.pid));
      await peer.close();
    }
    return { ms: median(ms), idle_kib: Math.round(median(idle)) };
  },

  async both(open, command, args, [count, inflight, size]) {
    const params = paramsOf(size);
    let asked = 0;
    let ours = false;
    let finish;
    const settle = () => {
      if (ours && asked === count) finish();
    };
    const peer = await open(command, args, () => {
      asked++;
      settle();
    });
    await new Promise(peer.ready);
    const begin = performance.now();
    await new Promise((resolve) => {
      finish = resolve;
      flood(peer.call, count, inflight, params, () => {
        ours = true;
        settle();
      });
    });
    // One more answer, to a request behind our last answer, shows that the echo program has got all of its own.
    await new Promise(setImmediate);
    await new Promise(peer.ready);
    const seconds = (performance.now() - begin) / 1e3;
    if (asked !== count) fail("the echo program asked too often");
    await peer.close();
    return { seconds };
  },
};

const operands = { latency: 2, flood: 3, document: 2, children: 4, start: 1, both: 3 };

export async function runHost(open) {
  process.on("uncaughtException", fail);
  const dashes = process.argv.indexOf("--");
  const [name, ...rest] = process.argv.slice(2, dashes);
  const [command, ...args] = process.argv.slice(dashes + 1);
  if (dashes < 0 || command === undefined || !Object.hasOwn(operands, name) || rest.length !== operands[name])
    fail("usage: host WORKLOAD ARGUMENTS... -- ECHO ARGUMENTS...");
  const values = name === "document" ? [...numbers(rest.slice(1)), rest[0]] : numbers(rest);
  console.log(JSON.stringify(await workloads[name](open, command, args, values)));
}
