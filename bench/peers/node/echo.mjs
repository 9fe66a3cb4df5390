import { askBack } from "../node-common.mjs";
import { connect } from "./connection.mjs";

const connection = connect(process.stdin, process.stdout, {
  echo(params) {
    asked();
    return params;
  },
});
const asked = askBack((params, done) => connection.request("echo", params, done));
