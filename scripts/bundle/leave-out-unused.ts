import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Leaves out of a bundle what libraries always bring along and nothing of ours uses. zod exports its messages in some
 * fifty languages as a namespace, and ours are in English. Both MCP SDKs hold a copy of Ajv for those who give them no
 * validator of JSON Schemas, and all of ours is given one.
 */
export const leaveOutUnused: Plugin = {
  name: "leave-out-unused",
  setup({ onLoad }) {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      loader: "js",
    }));
    onLoad({ filter: /\/@modelcontextprotocol\/(client|server)\/dist\/shimsNode\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: source.replace(AJV, NO_AJV), loader: "js" };
    });
  },
};

const AJV = /^import \{ \w+ as AjvJsonSchemaValidator \} from "[^"]+";$/m;
const NO_AJV =
  'class AjvJsonSchemaValidator { constructor() { throw new Error("Cannot check by a JSON Schema: pass a jsonSchemaValidator, as there is no Ajv"); } }';
