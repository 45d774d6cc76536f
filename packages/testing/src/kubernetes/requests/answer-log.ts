import type { ServerResponse } from "node:http";
import type { RunningContainer } from "../kubelet/pod-worker.ts";
import type { TestNode } from "../kubelet/test-node.ts";
import { ApiFailure, badRequest } from "../store/api-failure.ts";
import type { Pod } from "../store/objects.ts";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/**
 * The container that a request of a log or of its streams means: the only one, or the one that it names.
 * @throws {ApiFailure} 400
 */
export function containerNamed(pod: Pod, name: string | null): string {
  const names = pod.spec.containers.map((container) => container.name);
  if (name !== null && name !== "") {
    if (!names.includes(name)) throw badRequest(`container ${name} is not valid for pod ${pod.metadata.name}`);
    return name;
  }
  if (names.length > 1)
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(" ")}]`,
    );
  return names[0] ?? "";
}

/** A log that is followed, and that a test can do things to. */
export interface OpenLog {
  /** Sends nothing any more, and stays open. */
  silence(): void;
}

/**
 * Sends what a container has written, and on request what it writes from then on, until it ends.
 * @returns undefined if that was all
 * @throws {ApiFailure}
 */
export function answerLog(
  nodes: readonly TestNode[],
  pod: Pod,
  query: URLSearchParams,
  response: ServerResponse,
): OpenLog | undefined {
  const name = containerNamed(pod, query.get("container"));
  const limitBytes = positive(query, "limitBytes") ?? Number.POSITIVE_INFINITY;
  const tailLines = query.has("tailLines") ? Number(query.get("tailLines")) : undefined;
  const since = sinceIn(query);
  if (query.get("timestamps") === "true" || query.get("previous") === "true")
    throw badRequest("the test API server keeps no times of lines and no previous containers");
  if (pod.spec.nodeName === undefined) {
    response.writeHead(200, { "content-type": "text/plain" }).end();
    return undefined;
  }
  const { log } = runningContainer(nodes, pod, name);
  response.writeHead(200, { "content-type": "text/plain" });
  let left = limitBytes;
  const send = (data: Buffer): void => {
    response.write(data.subarray(0, Math.min(left, data.length)));
    left -= data.length;
    if (left <= 0) response.end();
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  };
  const kept = log.read({ tailLines, since });
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

function runningContainer(nodes: readonly TestNode[], pod: Pod, name: string): RunningContainer {
  const node = nodes.find((one) => one.name === pod.spec.nodeName);
  if (node === undefined || node.isLost)
    throw new ApiFailure(
      500,
      "InternalError",
      `Get "https://${pod.spec.nodeName}:10250/containerLogs/${pod.metadata.namespace}/${pod.metadata.name}/${name}": dial tcp: i/o timeout`,
    );
  const container = node.container(pod, name);
  if (container === undefined || (container.state.waiting !== undefined && container.log.read().length === 0))
    throw badRequest(
      `container "${name}" in pod "${pod.metadata.name}" is waiting to start: ${container?.state.waiting?.reason ?? "ContainerCreating"}`,
    );
  return container;
}

function positive(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!(Number(text) >= 1))
    throw new ApiFailure(
      422,
      "Invalid",
      `PodLogOptions "" is invalid: ${name}: Invalid value: ${text}: must be greater than 0`,
    );
  return Number(text);
}

function sinceIn(query: URLSearchParams): Date | undefined {
  const seconds = positive(query, "sinceSeconds");
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1_000);
  const time = query.get("sinceTime");
  return time === null ? undefined : new Date(time);
}
