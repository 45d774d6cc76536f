/**
 * Prints the names that the running `rockbot up` knows, a line each: `tools`, `services` or `guides`. A completion
 * script starts this by itself. Without an answer in time it prints nothing, as a person waits at the Tab key.
 */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { ownSocket } from "../runtime/own-socket.ts";

/** Counted from the start of the process. */
const ANSWER_MS = 300;

const [kind] = process.argv.slice(2);
try {
  const names = await namesOf(kind);
  if (names.length > 0) console.log([...new Set(names)].sort().join("\n"));
} catch {} // no system runs, or it is busy

async function namesOf(kind: string | undefined): Promise<readonly string[]> {
  if (kind === "guides")
    return ((await get("/v1/guides")) as { readonly guides: readonly { readonly name: string }[] }).guides.map(
      ({ name }) => name,
    );
  const { tools } = (await get("/v1/tools")) as {
    readonly tools: readonly { readonly name: string; readonly source: string }[];
  };
  return kind === "tools"
    ? tools.map(({ name }) => name)
    : kind === "services"
      ? tools.map(({ source }) => source).filter((source) => source !== "local")
      : [];
}

async function get(path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const signal = AbortSignal.timeout(Math.max(1, Math.round(ANSWER_MS - performance.now())));
  request({ socketPath: ownSocket(process.env).path, path, signal }, (response) => text(response).then(resolve, reject))
    .on("error", reject)
    .end();
  return JSON.parse(await promise);
}
