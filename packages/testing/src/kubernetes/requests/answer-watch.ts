import type { ServerResponse } from "node:http";
import type { ApiFault } from "../faults.ts";
import { type ApiFailure, expired } from "../store/api-failure.ts";
import type { Change, PodStore } from "../store/pod-store.ts";
import { asSent } from "./answer-pods.ts";
import { type ApiRequest, selectorOf } from "./request-of.ts";

const BOOKMARK_EVERY_MS = 60_000;
const LONGEST_S = 1_800;
/** What a client may leave unread before the server lets go of it. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** A watch that a test can do things to. */
export interface OpenWatch {
  close(): void;
  /** Sends nothing any more, and stays open. */
  silence(): void;
}

/**
 * Sends what happens to the pods of a namespace from the given version on, one event a line, until the client leaves or
 * its time is over. The label that it selects by is one that pods keep.
 */
export function answerWatch(
  store: PodStore,
  { namespace, query }: ApiRequest,
  response: ServerResponse,
  fault: ApiFault | undefined,
): OpenWatch {
  const isSelected = selectorOf(query);
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  let events = 0;
  let isSilent = fault?.kind === "silent";
  let unlisten = (): void => {};

  const send = (type: string, object: object): void => {
    if (isSilent || response.writableEnded) return;
    const line = `${JSON.stringify({ type, object })}\n`;
    if (fault !== undefined && "afterEvents" in fault && events++ >= fault.afterEvents) {
      unlisten();
      response.end(lastWordsOf(fault, line));
      return;
    }
    response.write(line);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  };
  const tell = ({ before, pod, isRemoved }: Change): void => {
    if (pod.metadata.namespace !== namespace || !isSelected(pod)) return;
    send(isRemoved ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED", asSent(pod));
  };
  const bookmark = (): void => {
    const metadata = { resourceVersion: String(store.version) };
    if (query.get("allowWatchBookmarks") === "true") send("BOOKMARK", { kind: "Pod", apiVersion: "v1", metadata });
  };

  try {
    for (const change of store.changesSince(Number(query.get("resourceVersion")))) tell(change);
  } catch (error) {
    send("ERROR", (error as ApiFailure).status);
    response.end();
  }
  unlisten = store.onChange(tell);
  const bookmarks = setInterval(bookmark, BOOKMARK_EVERY_MS);
  const close = (): void => {
    unlisten();
    if (!response.writableEnded) response.end();
  };
  const timeout = setTimeout(() => !isSilent && close(), Number(query.get("timeoutSeconds") ?? LONGEST_S) * 1_000);
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
  };
}

/** What a watch that a fault befalls still says of an event. */
function lastWordsOf({ kind }: ApiFault, line: string): string {
  if (kind === "halfLine") return line.slice(0, line.length / 2);
  return kind === "expired"
    ? `${JSON.stringify({ type: "ERROR", object: expired("too old resource version: 1 (2)").status })}\n`
    : "";
}
