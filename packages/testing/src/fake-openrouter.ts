import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the next request gets instead of its answer. */
export type OpenRouterFault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "silent" }
  | { readonly kind: "reset" }
  | { readonly kind: "huge"; readonly bytes: number }
  | { readonly kind: "raw"; readonly body: string };

export interface FakeOpenRouter extends AsyncDisposable {
  /** What to set as the API's base URL, `/api/v1` included. */
  readonly url: string;
  readonly managementKey: string;
  /** A key that may ask models, not for the account. */
  readonly inferenceKey: string;
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
  }[];
  /** Keys that the account has; given out 100 at a time. */
  readonly keys: { readonly hash: string; readonly name: string }[];
  readonly generations: { readonly id: string; readonly model: string }[];
  /** Faults for the next requests, first come first served. */
  readonly faults: OpenRouterFault[];
}

const PAGE = 100;

/**
 * A local server that speaks the reading part of the OpenRouter API as documented: bearer keys, of which a management
 * key alone may ask for credits and keys, answers under `data`, and errors as `{ error: { code, message } }` with the
 * same HTTP status.
 * @see https://openrouter.ai/docs/api/reference/overview
 */
export async function startFakeOpenRouter(): Promise<FakeOpenRouter> {
  const requests: { method: string; path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    const { method = "", url: path = "/", headers } = request;
    requests.push({ method, path, headers });
    const fault = fake.faults.shift();
    if (fault !== undefined) misbehave(response, fault);
    else if (method !== "GET") fail(response, 405, "Method not allowed");
    else answer(response, new URL(path, "http://localhost"), headers.authorization);
  });

  function answer(response: ServerResponse, { pathname, searchParams }: URL, authorization: string | undefined): void {
    const found = lookUp(pathname, searchParams, authorization?.replace(/^Bearer /, ""));
    if ("data" in found) send(response, found.data);
    else fail(response, found.status, found.message);
  }

  function lookUp(
    pathname: string,
    query: URLSearchParams,
    key: string | undefined,
  ): { readonly data: unknown } | { readonly status: number; readonly message: string } {
    const isManagement = key === fake.managementKey;
    if (!isManagement && key !== fake.inferenceKey) return { status: 401, message: "No cookie auth credentials found" };
    const [resource, hash] = pathname.replace(/^\/api\/v1\//, "").split("/");
    if ((resource === "credits" || resource === "keys") && !isManagement)
      return { status: 403, message: "Only management keys can perform this operation" };
    switch (resource) {
      case "credits":
        return { data: { total_credits: 100.5, total_usage: 25.75 } };
      case "key":
        return {
          data: {
            label: "sk-or-v1-0e6...c96",
            limit: null,
            usage: 25.75,
            limit_remaining: null,
            is_free_tier: false,
            is_management_key: isManagement,
          },
        };
      case "models":
        return {
          data: [
            {
              id: "maker/model",
              name: "Maker: Model",
              context_length: 128_000,
              pricing: { prompt: "0.00003", completion: "0.00006" },
            },
          ],
        };
      case "keys":
        return hash === undefined
          ? { data: pageOf(fake.keys, Number(query.get("offset") ?? 0)) }
          : one(fake.keys, (known) => known.hash === hash, asKey, "API key not found");
      case "generation":
        return one(fake.generations, ({ id }) => id === query.get("id"), asGeneration, "Generation not found");
      default:
        return { status: 404, message: "Not Found" };
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: FakeOpenRouter = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    managementKey: `sk-or-v1-management-${randomUUID()}`,
    inferenceKey: `sk-or-v1-inference-${randomUUID()}`,
    requests,
    keys: [],
    generations: [],
    faults: [],
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

const pageOf = (keys: FakeOpenRouter["keys"], offset: number): readonly object[] =>
  keys.slice(offset, offset + PAGE).map(asKey);

function one<T>(all: readonly T[], isIt: (item: T) => boolean, shape: (item: T) => object, missing: string) {
  const found = all.find(isIt);
  return found === undefined ? { status: 404, message: missing } : { data: shape(found) };
}

const asKey = ({ hash, name }: { readonly hash: string; readonly name: string }): object => ({
  hash,
  name,
  label: "sk-or-v1-0e6...c96",
  disabled: false,
  limit: 100,
  limit_remaining: 74.5,
  limit_reset: "monthly",
  include_byok_in_limit: false,
  usage: 25.5,
  created_at: "2026-08-24T10:30:00Z",
  updated_at: null,
});

const asGeneration = ({ id, model }: { readonly id: string; readonly model: string }): object => ({
  id,
  model,
  total_cost: 0.0015,
  tokens_prompt: 10,
  tokens_completion: 25,
  native_tokens_prompt: 10,
  native_tokens_completion: 25,
  finish_reason: "stop",
  latency: 1250,
  created_at: "2026-08-24T10:30:00Z",
});

function misbehave(response: ServerResponse, fault: OpenRouterFault): void {
  if (fault.kind === "status") {
    for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
    fail(response, fault.status, fault.message ?? "Something is wrong");
  } else if (fault.kind === "reset") response.destroy();
  else if (fault.kind !== "silent") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(fault.kind === "raw" ? fault.body : `{"data":"${"x".repeat(fault.bytes)}"}`);
  }
}

function send(response: ServerResponse, data: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }, undefined, 2));
}

function fail(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { code: status, message } }));
}
