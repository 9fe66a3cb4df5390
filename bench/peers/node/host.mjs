import { fail, runHost, start } from "../node-common.mjs";
import { connect } from "./connection.mjs";

function open(command, args, asked) {
  const { child, end } = start(command, args);
  const connection = connect(child.stdout, child.stdin, {
    echo(params) {
      asked();
      return params;
    },
  });
  return {
    pid: child.pid,
    call: (params, done) => connection.request("echo", params, done),
    // The refusal of a method that the echo program does not have.
    ready: (done) => connection.request("ready", {}, (_, error) => (error ? done() : fail("a wrong answer"))),
    close: () => end(() => child.stdin.end()),
  };
}

runHost(open);
