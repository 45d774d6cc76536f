import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// The package's own entrance also loads a crawler, which is not installed here.
const native = join(dirname(fileURLToPath(import.meta.resolve("contextractor"))), "native/index.cjs");
const { extract } = createRequire(import.meta.url)(native);

/** @type {import("../contenders.ts").Convert} */
export const convert = (html, url) => extract(html, { url, format: "markdown", config }).content;

// As contextractor itself has it.
const config = {
  includeComments: true,
  includeTables: true,
  includeImages: false,
  includeFormatting: true,
  includeLinks: true,
};
