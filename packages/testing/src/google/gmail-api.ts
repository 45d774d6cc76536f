import { type GmailMessage, type GoogleRequest, newGoogleId } from "./google-account.ts";
import { checkParameters, checkScopes, GoogleError, numberOf, objectOf } from "./google-error.ts";

/** Gmail's answer. @throws {GoogleError} @see https://developers.google.com/workspace/gmail/api/reference/rest */
export function gmailAnswer(request: GoogleRequest): unknown {
  const { account, scopes, method, url } = request;
  const [kind, id, more, attachment, ...rest] = url.pathname
    .slice("/gmail/v1/users/me/".length)
    .split("/")
    .map(decodeURIComponent);
  if (kind !== "messages" || rest.length > 0) throw new GoogleError(404, "notFound", "Not Found");
  if (method === "POST" && id === "send") return sent(request);
  if (method !== "GET") throw new GoogleError(404, "notFound", "Not Found");
  checkScopes(scopes, "gmail.readonly", "gmail.modify");
  if (id === undefined) return listed(request);
  const message = account.messages.find((one) => one.id === id);
  if (!/^[0-9a-f]{1,16}$/.test(id)) throw new GoogleError(400, "invalidArgument", "Invalid id value");
  if (message === undefined) throw new GoogleError(404, "notFound", "Requested entity was not found.");
  if (more === "attachments" && attachment !== undefined) {
    const data = message.attachments?.[attachment];
    if (data === undefined) throw new GoogleError(400, "invalidArgument", "Invalid attachment token");
    return { size: Buffer.from(data, "base64url").length, data };
  }
  return shown(message, url);
}

function listed({ account, url }: GoogleRequest): unknown {
  checkParameters(url, ["q", "maxResults", "pageToken"]);
  const most = numberOf(url, "maxResults", { least: 1, most: 500, otherwise: 100 });
  const start = Number(url.searchParams.get("pageToken") ?? 0);
  if (!Number.isInteger(start)) throw new GoogleError(400, "invalidArgument", "Invalid pageToken");
  const found = account.messages.filter((message) => matches(message, url.searchParams.get("q") ?? ""));
  if (found.length === 0) return { resultSizeEstimate: 0 };
  return {
    messages: found.slice(start, start + most).map(({ id, threadId }) => ({ id, threadId })),
    ...(start + most < found.length ? { nextPageToken: String(start + most) } : {}),
    resultSizeEstimate: found.length,
  };
}

/** It knows of Gmail's syntax only `from:`, `subject:`, `in:` and words of the snippet. */
function matches({ payload, snippet, labelIds }: GmailMessage, query: string): boolean {
  const header = (name: string): string => payload.headers.find((one) => one.name.toLowerCase() === name)?.value ?? "";
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((term) => {
      const [, operator, value = ""] = /^(from|subject|in):(.*)$/.exec(term) ?? [];
      if (operator === "in") return labelIds.some((label) => label.toLowerCase() === value);
      return (operator === undefined ? snippet : header(operator))
        .toLowerCase()
        .includes(operator === undefined ? term : value);
    });
}

function shown({ attachments: _, ...message }: GmailMessage, url: URL): unknown {
  checkParameters(url, ["format", "metadataHeaders"]);
  const format = url.searchParams.get("format") ?? "full";
  const sizeEstimate = JSON.stringify(message.payload).length;
  if (format === "full") return { ...message, sizeEstimate };
  if (format !== "metadata") throw new GoogleError(400, "invalidArgument", `Invalid value at 'format': "${format}"`);
  const wanted = url.searchParams.getAll("metadataHeaders").map((name) => name.toLowerCase());
  const headers = message.payload.headers.filter(
    ({ name }) => wanted.length === 0 || wanted.includes(name.toLowerCase()),
  );
  return { ...message, payload: { mimeType: message.payload.mimeType, headers }, sizeEstimate };
}

/**
 * A mail has one address at least, and one that is to be in a thread has to be an answer of that: both are rules of
 * Gmail.
 */
function sent({ account, scopes, url, body }: GoogleRequest): unknown {
  checkParameters(url, []);
  checkScopes(scopes, "gmail.send", "gmail.modify");
  const { raw, threadId, ...strange } = objectOf(body);
  if (Object.keys(strange).length > 0)
    throw new GoogleError(400, "badRequest", "Invalid JSON payload received. Unknown name.");
  if (typeof raw !== "string" || !/^[A-Za-z0-9_-]+={0,2}$/.test(raw))
    throw new GoogleError(400, "invalidArgument", "'raw' RFC822 payload message string is required.");
  const text = Buffer.from(raw, "base64url").toString("latin1");
  const head = text.slice(0, text.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]+/g, " ");
  const lines = head.split("\r\n");
  if (!text.includes("\r\n\r\n") || !lines.every((line) => /^[\x21-\x39\x3b-\x7e]+:[\x20-\x7e\t]*$/.test(line))) {
    throw new GoogleError(400, "invalidArgument", "Invalid RFC 5322 header");
  }
  const header = (name: string): string =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? "";
  if (!header("to").includes("@")) throw new GoogleError(400, "invalidArgument", "Recipient address required");
  if (threadId !== undefined) {
    const thread = account.messages.filter((one) => one.threadId === threadId);
    if (thread.length === 0) throw new GoogleError(404, "notFound", "Requested entity was not found.");
    if (!header("in-reply-to").startsWith("<") || !header("references").includes(header("in-reply-to"))) {
      throw new GoogleError(400, "invalidArgument", "a reply needs In-Reply-To and References");
    }
  }
  account.sent.push({ raw: text, threadId: threadId as string | undefined });
  const id = newGoogleId();
  return { id, threadId: threadId ?? id, labelIds: ["SENT"] };
}
