import type { Act } from "../rights.ts";
import { noSuchResource } from "../store/api-failure.ts";
import { type Resource, resourceNamed } from "../store/resources.ts";

/** What an HTTP request asks for, of a resource. */
export interface ApiRequest {
  readonly act: Act;
  readonly resource: Resource;
  readonly query: URLSearchParams;
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/**
 * Undefined for a path that is of no resource, such as `/version`.
 * @throws {ApiFailure} 404 for a resource that the server has not
 */
export function requestOf(method: string, url: URL): ApiRequest | undefined {
  const parts = url.pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const [group, rest] = parts[0] === "api" ? ["", parts.slice(2)] : [parts[1] ?? "", parts.slice(3)];
  if ((parts[0] !== "api" && parts[0] !== "apis") || rest.length === 0) return undefined;
  const isInside = rest[0] === "namespaces" && rest.length > 2;
  const [name = "", object, subresource = ""] = isInside ? rest.slice(2) : rest;
  const resource = resourceNamed(group, name);
  if (resource === undefined) throw noSuchResource();
  const namespace = isInside ? rest[1] : undefined;
  const act: Act = {
    verb: verbOf(method, object, url.searchParams),
    group,
    resource: name,
    subresource,
    namespace,
    name: object,
  };
  return { act, resource, query: url.searchParams };
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  if (method === "DELETE" && name === undefined) return "deletecollection";
  if (method !== "GET") return VERBS[method] ?? method.toLowerCase();
  if (name !== undefined) return "get";
  return ["true", "1"].includes(query.get("watch") ?? "") ? "watch" : "list";
}
