import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream";

/** A name that no machine has: the folder is reached through the gate only. */
export const WHEELS_HOST = "wheels.rockbot.invalid";

/** More than anybody keeps in one folder. */
const MAX_WHEELS = 20_000;

/**
 * Answers for the wheels of a folder: at `/` a page with links to them, below it each by its name. Nothing else of the
 * folder is served.
 */
export async function serveWheelFolder(
  folder: string,
  method: string,
  path: string,
  outgoing: ServerResponse,
): Promise<void> {
  try {
    const wheels = (await readdir(folder)).filter((name) => /^[A-Za-z0-9_.+!-]+\.whl$/.test(name)).slice(0, MAX_WHEELS);
    if (path === "/") {
      outgoing.writeHead(200, { "content-type": "text/html" });
      outgoing.end(
        method === "HEAD"
          ? undefined
          : wheels.map((name) => `<a href="/${encodeURIComponent(name)}">${name}</a>\n`).join(""),
      );
      return;
    }
    const name = wheels.find((wheel) => path === `/${encodeURIComponent(wheel)}` || path === `/${wheel}`);
    if (name === undefined) return void outgoing.writeHead(404).end();
    const { size } = await stat(join(folder, name));
    outgoing.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
    if (method === "HEAD") outgoing.end();
    else pipeline(createReadStream(join(folder, name)), outgoing, () => {});
  } catch {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(500).end();
  }
}
