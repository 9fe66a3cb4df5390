// JSON-RPC with one message to a line, by hand: what one turn of the event loop produces is one write.
export function connect(input, output, handlers) {
  const pending = new Map();
  let nextId = 1;
  let partial = "";
  let out = "";

  const flush = () => {
    const text = out;
    out = "";
    output.write(text);
  };
  const send = (message) => {
    if (out === "") process.nextTick(flush);
    out += JSON.stringify(message) + "\n";
  };
  const receive = (line) => {
    const message = JSON.parse(line);
    const { id, method } = message;
    if (method === undefined) {
      const done = pending.get(id);
      if (done === undefined) throw new Error(`an answer to no request: ${id}`);
      pending.delete(id);
      done(message.result, message.error);
      return;
    }
    const handler = handlers[method];
    if (handler !== undefined) send({ jsonrpc: "2.0", id, result: handler(message.params) });
    else send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  };

  input.setEncoding("utf8");
  input.on("data", (chunk) => {
    let begin = 0;
    let end = chunk.indexOf("\n");
    while (end >= 0) {
      const line = chunk.slice(begin, end);
      if (partial === "") receive(line);
      else {
        const whole = partial + line;
        partial = "";
        receive(whole);
      }
      begin = end + 1;
      end = chunk.indexOf("\n", begin);
    }
    if (begin < chunk.length) partial += chunk.slice(begin);
  });

  return {
    request(method, params, done) {
      const id = nextId++;
      pending.set(id, done);
      send({ jsonrpc: "2.0", id, method, params });
    },
  };
}
