import type { ServerResponse } from "node:http";
import type { ApiFault } from "../faults.ts";
import { type ApiFailure, expired } from "../store/api-failure.ts";
import type { Change, ObjectStore } from "../store/object-store.ts";
import type { KubeObject } from "../store/objects.ts";
import { apiVersionOf } from "../store/resources.ts";
import { selectorOf } from "../store/selectors.ts";
import { asSent } from "./read-objects.ts";
import type { ApiRequest } from "./request-of.ts";

const BOOKMARK_EVERY_MS = 60_000;
const LONGEST_S = 1_800;
/** What a client may leave unread before the server lets go of it. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** A watch that a test can do things to. */
export interface OpenWatch {
  close(): void;
  /** Sends nothing any more, and stays open. */
  silence(): void;
  bookmark(): void;
}

/**
 * Sends what happens to the objects that are asked for, one event a line, until the client leaves or its time is over:
 * from the given version on, or else first all that are there now. One that comes to fit the selectors is added, one
 * that ceases to is deleted.
 */
// Long because: the steps of a watch share whether it is silent, broken off or over
export function answerWatch(
  store: ObjectStore,
  request: ApiRequest,
  response: ServerResponse,
  fault: ApiFault | undefined,
): OpenWatch {
  const { act, resource, query } = request;
  const isSelected = selectorOf(query);
  const isMeant = (object: KubeObject): boolean =>
    (act.namespace === undefined || object.metadata.namespace === act.namespace) && isSelected(object);
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  let events = 0;
  let isSilent = fault?.kind === "silent";
  let unlisten = (): void => {};

  const send = (type: string, object: object): void => {
    if (isSilent || response.writableEnded) return;
    const line = `${JSON.stringify({ type, object })}\n`;
    if (fault !== undefined && "afterEvents" in fault && events++ >= fault.afterEvents) {
      breakOff(fault, line);
      return;
    }
    response.write(line);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  };
  const breakOff = ({ kind }: ApiFault, line: string): void => {
    unlisten();
    if (kind === "halfLine") response.write(line.slice(0, line.length / 2));
    if (kind === "expired")
      response.write(
        `${JSON.stringify({ type: "ERROR", object: expired("too old resource version: 1 (2)").status })}\n`,
      );
    response.end();
  };
  const tell = ({ before, object, isRemoved }: Change): void => {
    const wasMeant = before !== undefined && isMeant(before);
    const isMeantNow = !isRemoved && isMeant(object);
    if (isMeantNow) send(wasMeant ? "MODIFIED" : "ADDED", asSent(resource, object));
    else if (wasMeant)
      send(
        "DELETED",
        asSent(resource, isRemoved ? object : { ...before, metadata: { ...before.metadata, ...versionOf(object) } }),
      );
  };
  const bookmark = (): void =>
    send("BOOKMARK", {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: { resourceVersion: String(store.version) },
    });

  const asked = query.get("resourceVersion") ?? "";
  try {
    if (asked === "" || asked === "0")
      for (const object of store.list(act.resource, act.namespace).filter(isMeant))
        send("ADDED", asSent(resource, object));
    else for (const change of store.changesSince(Number(asked), act.resource)) tell(change);
  } catch (error) {
    send("ERROR", (error as ApiFailure).status);
    response.end();
  }
  unlisten = store.onChange((change) => {
    if (change.resource === act.resource) tell(change);
  });
  const hasBookmarks = query.get("allowWatchBookmarks") === "true";
  const bookmarks = setInterval(() => hasBookmarks && bookmark(), BOOKMARK_EVERY_MS);
  const close = (): void => {
    unlisten();
    if (!response.writableEnded) response.end();
  };
  const timeout = setTimeout(
    () => {
      if (hasBookmarks) bookmark();
      if (!isSilent) close();
    },
    Number(query.get("timeoutSeconds") ?? LONGEST_S) * 1_000,
  );
  response.once("close", () => {
    unlisten();
    clearInterval(bookmarks);
    clearTimeout(timeout);
  });
  return {
    close,
    silence() {
      isSilent = true;
    },
    bookmark: () => hasBookmarks && bookmark(),
  };
}

const versionOf = ({ metadata }: KubeObject): object => ({ resourceVersion: metadata.resourceVersion });
