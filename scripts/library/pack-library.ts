import { statSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import type { Library } from "./build-library.ts";

export interface Tarball {
  /** Relative to the repository's root. */
  readonly file: string;
  readonly bytes: number;
}

/** Packs the library as npm does before it publishes. */
export async function packLibrary(root: string, { folder, name, version }: Library): Promise<Tarball> {
  await runTool(root, "npm", ["pack", join(root, folder), "--pack-destination", join(root, "dist/npm"), "--silent"]);
  const file = `dist/npm/${name}-${version}.tgz`;
  return { file, bytes: statSync(join(root, file)).size };
}
