import { createRequire } from "node:module";
import { join } from "node:path";
import { valueAt } from "@rockbot/contracts";
import { createPublicFetch } from "@rockbot/edge/outbound";
import { type RecordedRequest, startRecordingServer } from "@rockbot/testing";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { installApart } from "../../scripts/apart/install-apart.ts";
import { ClientTokens } from "../../services/rest-tools/src/credentials/client-tokens.ts";
import { importOperations } from "../../services/rest-tools/src/openapi/import-operations.ts";
import { readOpenApiDocument } from "../../services/rest-tools/src/openapi/open-api-document.ts";
import { call } from "../../services/rest-tools/src/rest-tool.ts";
import { publicDocuments } from "./openapi-documents.ts";
import { sampleArguments } from "./sample-arguments.ts";

type Json = Record<string, unknown>;

/** The client of Swagger UI: what it would send is what the document says. */
interface ReferenceClient {
  /** @returns with a FormData as the body, where the type is that of several parts */
  buildRequest(options: Json): {
    readonly url: string;
    readonly method: string;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
  };
}

const CLIENT = join(import.meta.dirname, "reference-client");
const fetchedAll = await Promise.all([publicDocuments(), installApart(CLIENT)]).then(
  ([documents]) => ({ documents, whyNot: undefined }),
  (error: unknown) => ({ documents: [], whyNot: `npm's registry cannot be reached: ${String(error).slice(0, 200)}` }),
);
const { documents, whyNot } = fetchedAll;
if (whyNot !== undefined) console.error(`skipped, because ${whyNot}`);

describe.skipIf(whyNot !== undefined)("documents of public services", () => {
  let server: Awaited<ReturnType<typeof startRecordingServer>>;
  let client: ReferenceClient;
  beforeAll(async () => {
    server = await startRecordingServer();
    const loaded = createRequire(join(CLIENT, "package.json"))("swagger-client") as {
      readonly default?: ReferenceClient;
    };
    client = loaded.default ?? (loaded as unknown as ReferenceClient);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("there are 12 of them, with every operation as a tool of a name of its own, whose schema compiles", {
    timeout: 120_000,
  }, async () => {
    const names = new Set<string>();
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    let count = 0;
    for (const { name, text } of documents) {
      const { operations, leftOut } = await importDocument(name, text, "https://api.example");
      expect([name, leftOut]).toEqual([name, []]);
      expect(operations.length).toBe(operationsIn(rawOf(text)));
      for (const { operation } of operations) {
        count++;
        names.add(operation.toolName.toLowerCase());
        expect(operation.toolName).toMatch(/^rest__[A-Za-z0-9_-]{1,58}$/);
        ajv.compile(operation.inputSchema);
      }
    }
    expect([documents.length, names.size]).toEqual([12, count]);
    expect(count).toBeGreaterThan(1_900);
  });

  test.each(documents.map((document) => [document.name, document] as const))(
    "every operation of %s is called as its document says",
    { timeout: 120_000 },
    async (_, { name, text }) => {
      const base = `${server.url}/base`;
      const raw = rawOf(text);
      const { operations } = await importDocument(name, text, base);
      // Made after the long work, during which the server closes idle connections.
      await using fetch = createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`] });
      for (const { operation, seen, id } of operations) {
        const args = sampleArguments(operation.inputSchema);
        await call(
          operation,
          args,
          { caller: "tester", toolCallId: id, signal: new AbortController().signal, progress: () => {} },
          { fetch, policy: undefined, tokens: new ClientTokens(fetch), maxBytes: 1_000_000 },
        );
        const [request, ...more] = server.take();
        expect([id, more.length]).toEqual([id, 0]);
        const expected = client.buildRequest(referenceRequest(raw, id, { base, args, plan: seen.annotations as Plan }));
        expect({ id, ...(await sentIn(request as RecordedRequest)) }).toEqual({
          id,
          ...(await expectedIn(expected, server.url)),
        });
      }
    },
  );
});

/** All operations of a document, called at this address. */
function importDocument(name: string, text: string, server: string) {
  const from = {
    name,
    document: name,
    folder: "/",
    prefix: `${name}_`,
    naming: "prefixed",
    server,
    credential: undefined,
    credentials: new Map(),
    operations: new Map(),
  } as const;
  return importOperations(readOpenApiDocument(text), from, undefined);
}

const rawOf = (text: string): Json => parsed(text.replace(/^\ufeff/, ""));
const parsed = (text: string): Json => (text.startsWith("{") ? JSON.parse(text) : parse(text)) as Json;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

function operationsIn(raw: Json): number {
  return Object.values(raw["paths"] as Record<string, Json>).reduce(
    (sum, item) => sum + METHODS.filter((method) => method in item).length,
    0,
  );
}

interface Plan {
  /** Argument, place, name. */
  readonly parameters: readonly (readonly [string, string, string])[];
  readonly body: readonly [argument: string, contentType: string] | null;
}

/** One operation as a document of its own, without references, which is what the client takes. */
function referenceRequest(
  raw: Json,
  id: string,
  { base, args, plan }: { readonly base: string; readonly args: Json; readonly plan: Plan },
): Json {
  const resolved = (value: unknown): Json => {
    const { $ref } = (value ?? {}) as { readonly $ref?: string };
    return $ref === undefined ? ((value ?? {}) as Json) : resolved(valueAt(raw, decodeURIComponent($ref.slice(1))));
  };
  const [method = "", path = ""] = id.split(" ");
  const item = (raw["paths"] as Record<string, Json>)[path] as Json;
  const entry = item[method.toLowerCase()] as Json;
  const [own, shared] = [entry, item].map(({ parameters = [] }) => (parameters as unknown[]).map(resolved)) as [
    Json[],
    Json[],
  ];
  const all = [
    ...shared.filter((one) => !own.some((other) => other["name"] === one["name"] && other["in"] === one["in"])),
    ...own,
  ];
  const parameters = all.map((one) => ({ ...one, schema: resolved(one["schema"]), required: false }));
  const requestBody = entry["requestBody"] === undefined ? {} : { requestBody: resolved(entry["requestBody"]) };
  const operation = { operationId: "op", responses: {}, parameters, ...requestBody };
  return {
    spec: {
      openapi: raw["openapi"],
      info: { title: "x", version: "1" },
      servers: [{ url: base }],
      paths: { [path]: { [method.toLowerCase()]: operation } },
    },
    operationId: "op",
    parameters: Object.fromEntries(
      plan.parameters
        .filter(([argument]) => args[argument] !== undefined)
        .map(([argument, place, name]) => [`${place}.${name}`, args[argument]]),
    ),
    ...(plan.body === null || args[plan.body[0]] === undefined
      ? {}
      : { requestBody: withFiles(args[plan.body[0]]), requestContentType: plan.body[1] }),
  };
}

/** What the tool takes as a file's bytes, as the client takes it. */
function withFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFiles);
  if (typeof value !== "object" || value === null) return value;
  const { base64, filename } = value as { readonly base64?: string; readonly filename?: string };
  if (base64 !== undefined) return new File([Buffer.from(base64, "base64")], filename ?? "file");
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withFiles(inner)]));
}

/** Headers that are the connection's matter, or each client's own. */
const OWN = new Set([
  "host",
  "connection",
  "accept",
  "accept-encoding",
  "accept-language",
  "user-agent",
  "content-length",
  "content-type",
  "transfer-encoding",
]);

async function sentIn({ method, target, headers, body }: RecordedRequest) {
  return {
    method,
    target,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name))),
    ...(await contentOf(headers["content-type"] ?? "", body)),
  };
}

async function expectedIn(
  { url, method, headers = {}, body }: ReturnType<ReferenceClient["buildRequest"]>,
  origin: string,
) {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  const contentType = String(headers["Content-Type"] ?? headers["content-type"] ?? "");
  const text =
    body === undefined
      ? ""
      : typeof body === "string"
        ? body
        : contentType.includes("json")
          ? JSON.stringify(body)
          : "(bytes)";
  return {
    method,
    target: url.slice(origin.length),
    headers: Object.fromEntries(named.filter(([name]) => !OWN.has(name))),
    ...(await contentOf(contentType, body instanceof FormData ? body : Buffer.from(text))),
  };
}

/**
 * The type, and JSON as a value, a form as it is, and parts by name with their texts; of bytes each client has its own
 * writing.
 */
async function contentOf(
  contentType: string,
  body: Buffer | FormData,
): Promise<{ readonly type?: string | undefined; readonly body?: unknown }> {
  if (!(body instanceof FormData) && body.length === 0) return {};
  const type = contentType.split(";")[0];
  if (type?.startsWith("multipart/")) return { type, body: await partsOf(contentType, body) };
  const text = body.toString();
  return {
    type,
    body: contentType.includes("json") ? JSON.parse(text) : contentType.includes("urlencoded") ? text : "(bytes)",
  };
}

async function partsOf(contentType: string, body: Buffer | FormData): Promise<unknown> {
  const form =
    body instanceof FormData
      ? body
      : await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  return Promise.all(
    [...form].map(async ([name, part]) => [name, typeof part === "string" ? part : await part.text()]),
  );
}
