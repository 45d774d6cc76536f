import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createEnvelope, Header, toWire } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { parse } from "yaml";

type Described = Readonly<
  Record<string, { readonly headers?: { readonly properties: Readonly<Record<string, unknown>> } }>
>;

interface AsyncApi {
  readonly components: { readonly messages: Described; readonly messageTraits: Described };
}

test("each header that we write is described in the AsyncAPI document, by its name on the wire", () => {
  const { components } = parse(
    readFileSync(join(dirname(import.meta.dirname), "packages/contracts/asyncapi.yaml"), "utf8"),
  ) as AsyncApi;
  const described = new Set(
    Object.values(components.messages).flatMap(({ headers }) => Object.keys(headers?.properties ?? {})),
  );
  const { ContentTrust: _, ToolProvider: __, ...written } = Header; // the original's, which we do not write
  expect([...described].sort()).toEqual(
    Object.values(written)
      .map((name) => `rb-${name}`)
      .sort(),
  );
});

test("each header that every message has, or may have, is described in the document", () => {
  const { components } = parse(
    readFileSync(join(dirname(import.meta.dirname), "packages/contracts/asyncapi.yaml"), "utf8"),
  ) as AsyncApi;
  const always = Object.keys(
    toWire(createEnvelope({ topic: "t", type: "t", source: "s", destination: "d", body: new Uint8Array() })).headers,
  );
  expect(Object.keys(components.messageTraits["all"]?.headers?.properties ?? {})).toEqual([
    ...always,
    "rb-traceparent",
    "rb-tracestate",
  ]);
});
