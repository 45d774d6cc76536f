import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A document of the API, or a file as it is. A list is given page by page. */
export type GithubDocument = object | string;

/** What the next request gets instead of its document. */
export interface GithubFault {
  readonly status: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body in place of the API's own form of an error. */
  readonly body?: string;
}

export interface GithubServer extends AsyncDisposable {
  /** What to set as the API's address: it has a path, as that of GitHub Enterprise Server does. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /**
   * The API's documents by path, such as `/repos/o/r/issues/1`; files by `/repos/o/r/contents/PATH?ref=REF` and
   * `/repos/o/r/readme`.
   */
  readonly documents: Map<string, GithubDocument>;
  /** Repositories, as `o/r`, that only the token sees. */
  readonly privateRepositories: Set<string>;
  /** Repositories as `o/r`, and issues as `o/r/issues/1`, that have moved, each with the path of what it is now. */
  readonly moved: Map<string, string>;
  /** Faults for the next requests, first come first served. */
  readonly faults: GithubFault[];
}

const BASE = "/api/v3";

/**
 * A local server that speaks GitHub's REST API as documented, for reading. It refuses a request without a User-Agent,
 * one whose Accept is none of the API's media types, and one with an API version that there is not. What a token may
 * not see is not there: 404. Lists come by pages, with a Link header.
 * @see https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api
 */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startGithubServer({
  token = `github_pat_${randomUUID()}`,
}: {
  readonly token?: string;
} = {}): Promise<GithubServer> {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const faults: GithubFault[] = [];
  const documents = new Map<string, GithubDocument>();
  const privateRepositories = new Set<string>();
  const moved = new Map<string, string>();
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push({ path: path.slice(BASE.length), headers: request.headers });
    for (const [name, value] of Object.entries(rateHeaders())) response.setHeader(name, value);
    const fault = refusalOf(request, token) ?? faults.shift();
    if (fault !== undefined) fail(response, fault);
    else respond(response, path.slice(BASE.length), request.headers);
  });

  function respond(response: ServerResponse, path: string, { authorization, accept = "" }: IncomingHttpHeaders): void {
    const [, repository = ""] = /^\/repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
    const old = [path.slice("/repos/".length), repository].find((name) => moved.has(name));
    if (old !== undefined) {
      response.writeHead(301, { location: `${fake.url}${path.replace(`/repos/${old}`, moved.get(old) ?? "")}` }).end();
      return;
    }
    const url = new URL(path, "http://localhost");
    const isRepository = path === `/repos/${repository}`;
    const isPrivate = privateRepositories.has(repository);
    const document =
      documents.get(path) ??
      documents.get(url.pathname) ??
      (isRepository ? { full_name: repository, private: isPrivate } : undefined);
    if (document === undefined || (isPrivate && authorization === undefined))
      fail(response, { status: 404, message: "Not Found" });
    else if (typeof document === "string") file(response, document, accept);
    else if (Array.isArray(document)) list(response, url, document);
    else send(response, 200, document);
  }

  function list(response: ServerResponse, url: URL, items: readonly unknown[]): void {
    const perPage = Math.min(Number(url.searchParams.get("per_page") ?? 30), 100);
    const page = Number(url.searchParams.get("page") ?? 1);
    const pageUrl = (to: number): string => `${fake.url}${url.pathname}?per_page=${perPage}&page=${to}`;
    const last = Math.max(1, Math.ceil(items.length / perPage));
    if (page < last) response.setHeader("link", `<${pageUrl(page + 1)}>; rel="next", <${pageUrl(last)}>; rel="last"`);
    send(response, 200, items.slice((page - 1) * perPage, page * perPage));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: GithubServer = {
    url: `http://127.0.0.1:${port}${BASE}`,
    port,
    token,
    requests,
    documents,
    privateRepositories,
    moved,
    faults,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

/** Why the API would not look at a request at all. */
function refusalOf({ method, headers, url = "" }: IncomingMessage, token: string): GithubFault | undefined {
  if ((headers["user-agent"] ?? "") === "")
    return {
      status: 403,
      message: "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.",
    };
  if (!/^application\/vnd\.github\.?(v3)?(\.raw)?\+json$/.test(headers.accept ?? ""))
    return { status: 415, message: "Unsupported 'Accept' header." };
  if (headers["x-github-api-version"] !== "2022-11-28")
    return { status: 400, message: "The API version is missing or not supported." };
  if (headers.authorization !== undefined && headers.authorization !== `Bearer ${token}`)
    return { status: 401, message: "Bad credentials" };
  return method === "GET" && url.startsWith(`${BASE}/`) ? undefined : { status: 404, message: "Not Found" };
}

const rateHeaders = () => ({
  "x-ratelimit-limit": "5000",
  "x-ratelimit-remaining": "4999",
  "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 3600),
  "x-ratelimit-resource": "core",
});

function file(response: ServerResponse, content: string, accept: string): void {
  if (accept.includes(".raw"))
    response.writeHead(200, { "content-type": "application/vnd.github.raw+json; charset=utf-8" }).end(content);
  else send(response, 200, { encoding: "base64", content: Buffer.from(content).toString("base64") });
}

function fail(
  response: ServerResponse,
  { status, message = "Something is wrong.", headers = {}, body }: GithubFault,
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body !== undefined) response.writeHead(status).end(body);
  else send(response, status, { message, documentation_url: "https://docs.github.com/rest", status: String(status) });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}
