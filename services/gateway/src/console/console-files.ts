import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Context, MiddlewareHandler } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { CONSOLE_PATH } from "./console-path.ts";

/** Names of files there have a hash of their content in them. */
const ASSETS_PATH = `${CONSOLE_PATH}assets/`;
const INDEX = "index.html";
const FOR_EVER = "public, max-age=31536000, immutable";
const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>RockBot</title>
<p>The page of the console is not part of this installation. Its API is there all the same.
`;

/**
 * Serves the files of the built page. Every path without a file is the page itself, which knows its own paths.
 * @param files the folder of the build; undefined if there is none
 */
export function consoleFiles(files: string | undefined): MiddlewareHandler<GatewayEnv> {
  if (files === undefined) return async (c) => c.html(NOT_BUILT, 503);
  const serve = serveStatic<GatewayEnv>({
    root: files,
    rewriteRequestPath: (path) => path.slice(CONSOLE_PATH.length),
    precompressed: true,
  });
  const page = serveStatic<GatewayEnv>({ root: files, path: INDEX, precompressed: true });
  return async (c) => {
    const isFile = await isInside(files, c.req.path.slice(CONSOLE_PATH.length));
    if (isFile && c.req.path.startsWith(ASSETS_PATH)) c.header("cache-control", FOR_EVER);
    return (await answerOf(isFile ? serve : page, c)) ?? c.html(NOT_BUILT, 503);
  };
}

/** What the handler of files answers; undefined if it has no such file. */
async function answerOf(serve: MiddlewareHandler<GatewayEnv>, c: Context<GatewayEnv>): Promise<Response | undefined> {
  return (await serve(c, async () => {})) ?? undefined;
}

/**
 * Tells whether the name is that of something in the folder, and no link leads out. It is taken as it stands: names of
 * the build have nothing to decode.
 */
async function isInside(folder: string, name: string): Promise<boolean> {
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(name)) return false;
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, name))]);
    return file.startsWith(root + sep);
  } catch {
    return false; // there is none
  }
}
