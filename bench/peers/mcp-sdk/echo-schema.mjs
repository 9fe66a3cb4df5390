// The request `echo` and what both sides need around it.
import { createRequire } from "node:module";

export const require = createRequire(new URL("../../../tests/interop/package.json", import.meta.url));
const { z } = require("zod/v4");

export const EchoRequestSchema = z.object({ method: z.literal("echo"), params: z.looseObject({}) });
export const EchoResultSchema = z.looseObject({});

export const implementation = { name: "bench", version: "1.0.0" };

// The SDK adds a listener for each message that waits for a full pipe; Node's warning about it is no failure.
process.removeAllListeners("warning");

// The longest that a timer can take: nothing in a benchmark may time out.
export const options = { timeout: 2 ** 31 - 1 };

// The document is larger than the SDK's default limit.
export const maxBufferSize = Infinity;
