/**
 * Builds the documents as a static site into dist/site, and fails on a link that leads nowhere: `npm run site`.
 * `SITE_REPOSITORY_URL` is where links to source files lead. What it needs is installed into scripts/site, apart from
 * all else.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { installApart } from "./apart/install-apart.ts";
import { checkLinks } from "./check/docs/check-links.ts";

const root = dirname(import.meta.dirname);
const folder = join(import.meta.dirname, "site");
console.error(await checkLinks(root));
await installApart(folder);
const { status } = spawnSync(
  process.execPath,
  [join(folder, "node_modules/vitepress/bin/vitepress.js"), "build", folder],
  { stdio: "inherit" },
);
process.exitCode = status ?? 1;
