import type { ServerResponse } from "node:http";
import type { TestNode } from "../kubelet/test-node.ts";
import { ApiFailure, badRequest } from "../store/api-failure.ts";
import type { Pod } from "../store/objects.ts";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** A log that is followed, and that a test can do things to. */
export interface OpenLog {
  /** Sends nothing any more, and stays open. */
  silence(): void;
}

/**
 * Sends what a pod's container has written, and on request what it writes from then on, until it ends.
 * @returns undefined if that was all
 * @throws {ApiFailure}
 */
export function answerLog(
  node: TestNode,
  pod: Pod,
  query: URLSearchParams,
  response: ServerResponse,
): OpenLog | undefined {
  if (node.isLost)
    throw new ApiFailure(500, "InternalError", `Get "https://${node.name}:10250/containerLogs": dial tcp: i/o timeout`);
  const container = node.container(pod);
  if (container === undefined || container.state.waiting !== undefined)
    throw badRequest(`container in pod "${pod.metadata.name}" is waiting to start: ContainerCreating`);
  response.writeHead(200, { "content-type": "text/plain" });
  const { log } = container;
  let left = Number(query.get("limitBytes") ?? Number.POSITIVE_INFINITY);
  const send = (data: Buffer): void => {
    response.write(data.subarray(0, Math.min(left, data.length)));
    left -= data.length;
    if (left <= 0) response.end();
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  };
  const kept = log.read();
  if (kept.length > 0) send(kept);
  else response.flushHeaders();
  if (query.get("follow") !== "true" || log.isEnded || left <= 0) {
    response.end();
    return undefined;
  }
  const stop = log.follow(
    (data) => left > 0 && send(data),
    () => response.end(),
  );
  response.once("close", stop);
  return { silence: stop };
}
