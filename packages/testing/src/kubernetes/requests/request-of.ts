import { noSuchResource } from "../store/api-failure.ts";

/** What an HTTP request asks for: the pods of a namespace, one of them, or a stream of it. */
export interface ApiRequest {
  /** Such as `watch`. */
  readonly verb: string;
  /** Such as `pods/log`, as Roles name it. */
  readonly resource: string;
  readonly namespace: string;
  /** Undefined for all pods. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PATCH: "patch", DELETE: "delete" };

/** @throws {ApiFailure} 404 for a path that is of no pods */
export function requestOf(method: string, { pathname, searchParams: query }: URL): ApiRequest {
  const path = /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+)(\/\w+)?)?$/.exec(decodeURIComponent(pathname));
  if (path === null) throw noSuchResource();
  const [, namespace = "", name, subresource = ""] = path;
  return { verb: verbOf(method, name, query), resource: `pods${subresource}`, namespace, name, query };
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  if (method !== "GET") return VERBS[method] ?? method.toLowerCase();
  if (name !== undefined) return "get";
  return query.get("watch") === "true" ? "watch" : "list";
}

/** Makes a test of pods for the label that the query asks for, if it asks for one. */
export function selectorOf(query: URLSearchParams): (pod: Labelled) => boolean {
  const [key = "", value] = (query.get("labelSelector") ?? "").split("=");
  return ({ metadata: { labels = {} } }) =>
    key === "" || (value === undefined ? labels[key] !== undefined : labels[key] === value);
}

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}
