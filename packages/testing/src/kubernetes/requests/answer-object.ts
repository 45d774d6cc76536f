import type { IncomingHttpHeaders } from "node:http";
import { ApiFailure } from "../store/api-failure.ts";
import type { ObjectStore } from "../store/object-store.ts";
import type { KubeObject } from "../store/objects.ts";
import { asTable, wantsTable } from "./as-table.ts";
import { asList, asSent, readPage } from "./read-objects.ts";
import type { ApiRequest } from "./request-of.ts";
import { applyPatch, createObject, deleteObject } from "./write-objects.ts";

export interface AnswerObjectOptions {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** Put on each new pod. */
  readonly podFinalizers: readonly string[];
}

export interface ObjectAnswer {
  readonly code: number;
  readonly body: object;
}

/** Does what a request asks for, and says what to answer. @throws {ApiFailure} */
export function answerObject(
  store: ObjectStore,
  request: ApiRequest,
  { headers, body, podFinalizers }: AnswerObjectOptions,
): ObjectAnswer {
  const { act, resource } = request;
  const isTable = wantsTable(headers.accept);
  const one = (object: KubeObject): object =>
    isTable ? asTable(resource.kind, [object], String(store.version)) : asSent(resource, object);
  switch (act.verb) {
    case "list": {
      const page = readPage(store, request);
      return {
        code: 200,
        body: isTable ? asTable(resource.kind, page.items, page.resourceVersion) : asList(resource, page),
      };
    }
    case "get":
      return { code: 200, body: one(store.get(act.resource, act.namespace, act.name ?? "")) };
    case "create":
      return { code: 201, body: one(createObject(store, request, body, podFinalizers)) };
    case "patch":
      return { code: 200, body: one(applyPatch(store, request, headers["content-type"] ?? "", body)) };
    case "delete":
      return { code: 200, body: asSent(resource, deleteObject(store, request, body)) };
    default:
      throw new ApiFailure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  }
}
