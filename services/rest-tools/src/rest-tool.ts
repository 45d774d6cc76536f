import { createHash } from "node:crypto";
import { saidBy, type ToolDefinition, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { describeUrl, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";
import { validatorOf } from "@rockbot/mcp/schema";
import { decodeText } from "@rockbot/page";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { defineTool, type Tool, type ToolCallContext, type ToolResult } from "@rockbot/tools";
import type { ClientTokens } from "./credentials/client-tokens.ts";
import { type SignedRequest, withCredentials } from "./credentials/credential.ts";
import type { PreparedRequest } from "./request/prepared-request.ts";
import { withFileBytes } from "./request/with-file-bytes.ts";
import { httpError } from "./response/http-error.ts";
import { keepAnswer } from "./response/keep-answer.ts";
import { readPages } from "./response/read-pages.ts";
import { jsonText, locationOf, type ResponseContent, readResponse } from "./response/read-response.ts";
import type { RestOperation } from "./rest-operation.ts";

export interface RestToolParts {
  readonly fetch: PublicFetch;
  readonly policy: PolicyHolder<Readers<"credentials">> | undefined;
  readonly tokens: ClientTokens;
  /** The bound for the items of all pages of one call; it is approximate. */
  readonly maxBytes: number;
}

/** An answer as it was read. */
interface Answer {
  readonly content: ResponseContent;
  readonly url: URL;
  readonly link: string | undefined;
}

type Context = Pick<ToolCallContext, "caller" | "files" | "progress" | "signal" | "toolCallId">;

const MAX_REDIRECTS = 3;
/**
 * These ask for the same request elsewhere, and what has effects is not repeated. Others say where the outcome stands.
 * @see RFC 9110, section 15.4
 */
const MOVED: ReadonlySet<number> = new Set([301, 307, 308]);
/** The bound for the body of an error. */
const MAX_ERROR_BYTES = 20_000;

/** An operation as a tool of the bus. Its results are labelled as a stranger's. */
export function restTool(operation: RestOperation, parts: RestToolParts): Tool {
  const { toolName: name, description, inputSchema, isReadOnly, cacheSeconds, idempotencyKey } = operation;
  const definition: ToolDefinition<Record<string, unknown>> = {
    name,
    description,
    inputSchema,
    trust: operation.trust,
    readOnly: isReadOnly,
    idempotent: isReadOnly,
    ...(isReadOnly && cacheSeconds !== undefined ? { cacheSeconds } : {}),
    validateInput: validatorOf(inputSchema),
  };
  // With the same key at each attempt, the server carries a call out once.
  return defineTool(definition, (input, context) => call(operation, input, context, parts), {
    isResumable: idempotencyKey !== undefined && !isReadOnly,
  });
}

/** Makes one call. @throws {ToolError} */
export async function call(
  operation: RestOperation,
  input: Readonly<Record<string, unknown>>,
  context: Context,
  parts: RestToolParts,
): Promise<ToolResult<unknown>> {
  const { idempotencyKey, paging, select } = operation;
  const request = operation.prepare(await withFileBytes(input, operation.inputSchema, context));
  if (idempotencyKey !== undefined) request.headers[idempotencyKey.toLowerCase()] = keyOf(context);
  const trust = saidBy(describeUrl(request.url));
  const { content, ...first } = await send(request, operation, context, parts);
  if (content.kind === "text") return { content: content.text, trust };
  if (content.kind === "bytes") return { ...(await keepAnswer(content, first.url, context.files)), trust };
  if (paging === undefined) return { content: jsonText(selected(content.value, select)), trust };
  const { items, pages, more } = await readPages(
    paging,
    { ...first, value: content.value },
    async (url, read) => {
      context.progress({ message: `Read ${read} pages`, progress: read });
      const page = await send({ ...request, url }, operation, context, parts);
      return page.content.kind === "json" ? { ...page, value: page.content.value } : undefined;
    },
    { origin: request.url.origin, maxLength: parts.maxBytes },
  );
  const notes = {
    here: `(There are more pages: ${pages} were read.)`,
    elsewhere: `(There may be more pages: ${pages} were read. The next one is at another origin than the first, where it is not read.)`,
    unknown: `(Further pages could not be found: ${pages} were read. The server's answer does not show where the next one is, in the form that the file names.)`,
  };
  return { content: `${jsonText(selected(items, select))}${more === undefined ? "" : `\n\n${notes[more]}`}`, trust };
}

const selected = (value: unknown, select: RestOperation["select"]): unknown =>
  select === undefined ? value : (select(value) ?? null);

/** The same for every attempt of one call, and for no other caller's. */
const keyOf = ({ caller, toolCallId }: Context): string =>
  createHash("sha256").update(`${caller}\0${toolCallId}`).digest("base64url");

/** Signs a request as the caller's, and sends it. */
async function send(
  request: PreparedRequest,
  { isReadOnly, credentials }: RestOperation,
  context: Context,
  parts: RestToolParts,
): Promise<Answer> {
  const { caller, progress, signal } = context;
  const what = `${request.method} ${request.url.pathname.slice(0, 300)}`; // its host is the operator's, who knows it
  progress({ message: what });
  const sign = (stale?: ReadonlySet<string>): Promise<SignedRequest> =>
    withCredentials(request, credentials, { ...parts, caller, signal, stale });
  const signed = await sign();
  const first = await deliver(signed, signal, parts.fetch);
  // A token may end before its time. What was refused for it was not carried out.
  const isRenewed = first.status === 401 && signed.tokens.size > 0;
  if (isRenewed) await first[Symbol.asyncDispose]();
  await using response = isRenewed ? await deliver(await sign(signed.tokens), signal, parts.fetch) : first;
  const { status, retryAfterMs } = response;
  if (status >= 400) {
    const { bytes } = await response.body().catch(() => ({ bytes: new Uint8Array() }));
    const text = bytes.length > MAX_ERROR_BYTES ? undefined : decodeText(bytes, response.header("content-type"));
    throw httpError({ what, status, retryAfterMs, text, hasEffects: !isReadOnly });
  }
  const location = locationOf(response);
  if (!isReadOnly && MOVED.has(status))
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `"${what}" was answered with status ${status}, so nothing was carried out: it has moved${location === undefined ? "" : ` to ${location}`}. The operator of the tool has to correct its address.`,
      { details: { status }, ...(location === undefined ? {} : { trust: saidBy(what) }) },
    );
  const named =
    location === undefined
      ? "names no address to go on at, and its content is not shown"
      : `names another address, ${location}, which is not followed`;
  const content: ResponseContent =
    status >= 300
      ? { kind: "text", text: `(Status ${status}. The answer ${named}.)` }
      : await readResponse(response, progress);
  return { content, url: response.url, link: response.listHeader("link") };
}

const deliver = (
  { method, url, headers, body }: PreparedRequest,
  signal: AbortSignal,
  fetch: PublicFetch,
): Promise<PublicResponse> =>
  fetch(url.href, {
    signal,
    method: method as "GET",
    headers: { accept: "application/json, text/*;q=0.9, */*;q=0.5", ...headers },
    body,
    maxRedirects: MAX_REDIRECTS,
  });
