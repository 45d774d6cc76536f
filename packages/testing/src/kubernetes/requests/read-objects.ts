import { badRequest, expired } from "../store/api-failure.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { KubeObject } from "../store/objects.ts";
import { apiVersionOf, type Resource } from "../store/resources.ts";
import { selectorOf } from "../store/selectors.ts";
import type { ApiRequest } from "./request-of.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Asks for what comes after it. */
  readonly next: string | undefined;
  readonly left: number;
}

/** An object as it is sent by itself. */
export const asSent = (resource: Resource, object: KubeObject): object => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  ...object,
});

/**
 * One page of the objects that are asked for. A later page is read from what is there then, not as it was at the first.
 * @throws {ApiFailure} 400, or 410 if the later page is of a version that has been compacted
 */
export function readPage(store: ObjectStore, { act, query }: ApiRequest): Page {
  const isSelected = selectorOf(query);
  const token = tokenOf(query.get("continue"));
  if (token !== undefined && isCompacted(store, token.version, act.resource))
    throw expired("The provided continue parameter is too old to display a consistent list result.");
  const all = store.list(act.resource, act.namespace).filter(isSelected);
  const rest = token === undefined ? all : all.filter((object) => keyOf(object) > token.after);
  const limit = Number(query.get("limit") ?? 0);
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const left = rest.length - items.length;
  const version = token?.version ?? store.version;
  return {
    items,
    resourceVersion: String(version),
    next:
      left === 0 || last === undefined
        ? undefined
        : Buffer.from(JSON.stringify({ version, after: keyOf(last) })).toString("base64url"),
    left,
  };
}

export const asList = ({ kind, ...resource }: Resource, { items, resourceVersion, next, left }: Page): object => ({
  kind: `${kind}List`,
  apiVersion: apiVersionOf({ kind, ...resource }),
  metadata: { resourceVersion, ...(next === undefined ? {} : { continue: next, remainingItemCount: left }) },
  items,
});

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function tokenOf(text: string | null): { readonly version: number; readonly after: string } | undefined {
  if (text === null || text === "") return undefined;
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString()) as { version: number; after: string };
  } catch {
    throw badRequest("continue key is not valid: invalid character");
  }
}

function isCompacted(store: ObjectStore, version: number, resource: string): boolean {
  try {
    store.changesSince(version, resource);
    return false;
  } catch {
    return true;
  }
}
