import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Header } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { parse } from "yaml";

interface AsyncApi {
  readonly components: { readonly messages: Readonly<Record<string, { readonly headers?: { readonly properties: Readonly<Record<string, unknown>> } }>> };
}

test("each header that we write is described in the AsyncAPI document, by its name on the wire", () => {
  const { components } = parse(readFileSync(join(dirname(import.meta.dirname), "packages/contracts/asyncapi.yaml"), "utf8")) as AsyncApi;
  const described = new Set(Object.values(components.messages).flatMap(({ headers }) => Object.keys(headers?.properties ?? {})));
  const { ContentTrust: _, ToolProvider: __, ...written } = Header; // the original's, which we do not write
  expect([...described].sort()).toEqual(
    Object.values(written)
      .map((name) => `rb-${name}`)
      .sort(),
  );
});
