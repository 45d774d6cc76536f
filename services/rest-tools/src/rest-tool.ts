import { createHash } from "node:crypto";
import type { ToolDefinition } from "@rockbot/contracts";
import { describeUrl, type PublicFetch } from "@rockbot/edge/outbound";
import { validatorOf } from "@rockbot/mcp/schema";
import { decodeText } from "@rockbot/page";
import type { PolicyHolder } from "@rockbot/policy";
import { defineTool, type Tool, type ToolCallContext, type ToolResult } from "@rockbot/tools";
import { applyCredentials } from "./credentials/credential.ts";
import type { PreparedRequest } from "./request/prepared-request.ts";
import { httpError } from "./response/http-error.ts";
import { nextPage } from "./response/next-page.ts";
import { jsonText, type ResponseContent, readResponse } from "./response/read-response.ts";
import type { RestOperation } from "./rest-operation.ts";

export interface RestToolParts {
  readonly fetch: PublicFetch;
  readonly policy: PolicyHolder | undefined;
}

/** A page as it was read. */
interface Answer {
  readonly content: ResponseContent;
  readonly url: URL;
  readonly link: string | undefined;
}

type Context = Pick<ToolCallContext, "caller" | "progress" | "signal" | "toolCallId">;

const MAX_REDIRECTS = 3;
/** Of the body of an error. */
const MAX_ERROR_BYTES = 20_000;

/** An operation as a tool of the bus. Its results are labelled as a stranger's. */
export function restTool(operation: RestOperation, parts: RestToolParts): Tool {
  const { toolName: name, description, inputSchema, isReadOnly, cacheSeconds, idempotencyKey } = operation;
  const definition: ToolDefinition<Record<string, unknown>> = {
    name,
    description,
    inputSchema,
    readOnly: isReadOnly,
    idempotent: isReadOnly,
    ...(isReadOnly && cacheSeconds !== undefined ? { cacheSeconds } : {}),
    validateInput: validatorOf(inputSchema),
  };
  // With the same key at each attempt, the server carries a call out once.
  return defineTool(definition, (input, context) => call(operation, input, context, parts), { isResumable: idempotencyKey !== undefined && !isReadOnly });
}

/** Makes one call. @throws {ToolError} */
export async function call(
  operation: RestOperation,
  input: Readonly<Record<string, unknown>>,
  context: Context,
  { fetch, policy }: RestToolParts,
): Promise<ToolResult<unknown>> {
  const { credentials, idempotencyKey, paging, select } = operation;
  const request = await operation.prepare(input);
  if (idempotencyKey !== undefined) request.headers[idempotencyKey.toLowerCase()] = keyOf(context);
  const what = describeUrl(request.url);
  applyCredentials(request, credentials, { caller: context.caller, policy });
  const first = await send(request, operation, context, fetch);
  const trust = { level: "untrusted", origin: what } as const;
  if (first.content.kind === "text") return { content: first.content.text, trust };
  if (paging === undefined) return { content: jsonText(selected(first.content.value, select)), trust };
  const inQuery = credentials.filter(({ place }) => place.in === "query");
  const items: unknown[] = [];
  let page: Answer | undefined = first;
  let next: URL | undefined;
  for (let index = 0; page !== undefined && page.content.kind === "json"; index++) {
    const { value }: { readonly value: unknown } = page.content;
    const found: unknown = paging.items === undefined ? value : paging.items(value);
    const list: readonly unknown[] = Array.isArray(found) ? found : [found];
    items.push(...list);
    next = nextPage(paging, { url: page.url, link: page.link, value, index, count: list.length });
    if (next === undefined || index + 1 >= paging.maxPages) break;
    context.progress({ message: `Read ${index + 1} pages`, progress: index + 1 });
    const following = { ...request, url: next };
    applyCredentials(following, inQuery, { caller: context.caller, policy }); // the server's address of a page does not have it
    page = await send(following, operation, context, fetch);
  }
  return { content: `${jsonText(selected(items, select))}${next === undefined ? "" : `\n\n(There are more pages: ${paging.maxPages} were read.)`}`, trust };
}

const selected = (value: unknown, select: RestOperation["select"]): unknown => (select === undefined ? value : (select(value) ?? null));

/** The same for every attempt of one call, and for no other caller's. */
const keyOf = ({ caller, toolCallId }: Context): string => createHash("sha256").update(`${caller}\0${toolCallId}`).digest("base64url");

async function send({ method, url, headers, body }: PreparedRequest, { isReadOnly }: RestOperation, context: Context, fetch: PublicFetch): Promise<Answer> {
  const what = `${method} ${describeUrl(url)}`;
  context.progress({ message: what });
  await using response = await fetch(url.href, {
    signal: context.signal,
    method: method as "GET",
    headers: { accept: "application/json, text/*;q=0.9, */*;q=0.5", ...headers },
    body,
    maxRedirects: MAX_REDIRECTS,
  });
  const { status, retryAfterMs } = response;
  if (status >= 400) {
    const { bytes } = await response.body().catch(() => ({ bytes: new Uint8Array() }));
    const text = bytes.length > MAX_ERROR_BYTES ? undefined : decodeText(bytes, response.header("content-type"));
    throw httpError({ what, status, retryAfterMs, text, hasEffects: !isReadOnly });
  }
  const content: ResponseContent =
    status >= 300
      ? { kind: "text", text: `(Status ${status}. The answer names another address, which is not followed.)` }
      : await readResponse(response, context.progress);
  return { content, url: response.url, link: response.header("link") };
}
