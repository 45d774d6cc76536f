import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { leaveOutUnused } from "./leave-out-unused.ts";

/** Bundles a module as a file of packages/mcp would import what it names, and runs it. */
async function bundled(contents: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: join(import.meta.dirname, "../../packages/mcp") },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    plugins: [leaveOutUnused],
  });
  const exports: unknown = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? "")}`);
  return { exports, files: Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)) };
}

test("a bundle of zod says its faults in English, and holds no other language", async () => {
  const { exports, files } = await bundled(
    'import * as z from "zod/v4"; export { z }; export const fault = z.string().safeParse(1).error.issues[0].message;',
  );

  expect(exports).toMatchObject({ fault: "Invalid input: expected string, received number" });
  expect(files.flatMap((file) => /locales\/(.*)[.]js$/.exec(file)?.[1] ?? [])).toEqual(expect.arrayContaining(["en"]));
  expect(files.filter((file) => /locales\/(?!en[.]|index[.])/.test(file))).toEqual([]);
});

test.for(["client", "server"])(
  "a bundle of the MCP SDK's %s holds no Ajv, and makes one with a validator that it is given",
  async (side) => {
    const name = side === "client" ? "Client" : "McpServer";
    const { exports, files } = await bundled(
      `import { ${name} } from "@modelcontextprotocol/${side}"; const info = { name: "a", version: "1" };
    export const made = typeof new ${name}(info, { jsonSchemaValidator: { getValidator: () => () => ({}) } });`,
    );

    expect(exports).toMatchObject({ made: "object" });
    expect(files.filter((file) => /ajv/i.test(file))).toEqual([]);
  },
);
