import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sourceFiles } from "./check-functions.ts";

/** What opens an emitter whose error ends the process if nobody listens, by the module that it comes from. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  "node:child_process": ["spawn", "fork"],
  "node:fs": ["watch", "createReadStream", "createWriteStream"],
  "node:http": ["createServer", "request", "get"],
  "node:https": ["createServer", "request", "get"],
  "node:net": ["connect", "createConnection", "createServer", "Socket"],
  "node:tls": ["connect", "createServer"],
  "node:worker_threads": ["Worker"],
  amqplib: ["connect"],
  ioredis: ["Redis", "Cluster"],
  pg: ["Pool", "Client"],
  ws: ["WebSocket", "WebSocketServer"],
};
const CHANNELS = String.raw`\.(?:createChannel|createConfirmChannel)`;
const IMPORT = /^import (?!type)[^;]*?\{([^}]*)\} from "([^"]+)";/gm;
/**
 * For as long as the emitter is held: behind `once` the second error ends the process. `listened` is a function of the
 * file that adds the listener.
 */
const LISTENER = /\.on\(\s*"error"|\.then\(listened\)/g;
/** These hear the errors of what they read or write. */
const HEARS = /\bpipeline\(|\bfor await\b/;

/** Our own programs, without tests and what is for tests only. */
const isOfProduct = (file: string): boolean =>
  /^(packages|services)\//.test(file) && !/\.test\.ts$|\/test-[^/]+\.ts$|^packages\/testing\//.test(file);

/**
 * The lines of a source in which an emitter is opened that nobody else hears, if it has more of these than listeners
 * for errors.
 */
export function unheardEmitters(text: string): readonly number[] {
  const names = [...text.matchAll(IMPORT)].flatMap(([, list = "", from = ""]) =>
    list.split(",").flatMap((item) => {
      const [name = "", alias = name] = item.trim().split(" as ");
      return OPENERS[from]?.includes(name) ? [String.raw`(?<![.\w"])(?:new )?${alias}`] : [];
    }),
  );
  const opening = new RegExp(`(?:${[...names, CHANNELS].join("|")})\\(`);
  const lines = text
    .split("\n")
    .flatMap((line, index) =>
      opening.test(line) && !HEARS.test(line) && !/^\s*(\/\/|\*)/.test(line) ? [index + 1] : [],
    );
  return lines.length > [...text.matchAll(LISTENER)].length ? lines : [];
}

/**
 * Each client, socket, server, stream, worker and child process of a library is listened to for errors for as long as
 * we hold it: by `.on("error", …)` in the file that opens it, or by what reads it.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each file
 */
export async function checkEmitters(root: string): Promise<string> {
  const files = sourceFiles(root).filter(isOfProduct);
  const found = await Promise.all(
    files.map(async (file) => ({ file, lines: unheardEmitters(await readFile(join(root, file), "utf8")) })),
  );
  const faults = found.filter(({ lines }) => lines.length > 0);
  if (faults.length > 0) {
    throw new Error(
      faults
        .map(
          ({ file, lines }) => `${file}:${lines.join(", ")}: opens ${lines.length}, and has fewer of .on("error", …)`,
        )
        .join("\n"),
    );
  }
  return `${files.length} files`;
}
