import type { Logger } from "@rockbot/bus";
import type { EngineApi } from "./engine-api.ts";
import { removeContainer } from "./remove-container.ts";

/** What containers for scripts are known by. */
export const label = {
  /** The same for all of them. */
  Role: "rockbot.dev/role",
  /** The name of the scripts manager that made it. */
  Owner: "rockbot.dev/owner",
  /** Another one each time that manager starts. */
  Process: "rockbot.dev/process",
  /** When nobody can want it any more, in seconds since 1970. */
  Deadline: "rockbot.dev/deadline",
} as const;
export const ROLE = "script-sandbox";

/** The longest between a container's making and its start. */
const LONGEST_START_SECONDS = 30;

export interface ContainerOwner {
  readonly owner: string;
  readonly process: string;
  /** The names of the containers that this process has in use. */
  readonly live: ReadonlySet<string>;
}

interface ListedContainer {
  readonly Names: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly State: string;
  /** The time in seconds since 1970. */
  readonly Created: number;
}

/**
 * Removes containers for scripts that nobody will: those of the same owner that are not in use, and of any owner those
 * past their deadline, or made and not started. One that ran when its manager was killed has ended by itself already.
 * @throws as `EngineApi.call`
 */
export async function reapContainers(
  api: EngineApi,
  own: ContainerOwner,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  const filters = JSON.stringify({ label: [`${label.Role}=${ROLE}`] });
  const listed = (await api.call({
    method: "GET",
    path: "/containers/json",
    query: { all: "true", filters },
    signal,
  })) as readonly ListedContainer[];
  const now = Date.now() / 1000;
  for (const container of listed) {
    const name = container.Names[0]?.replace(/^\//, "");
    if (name === undefined || own.live.has(name) || !isAbandoned(container, own, now)) continue;
    log.info({ name, owner: container.Labels[label.Owner] }, "removes an orphaned container");
    await removeContainer(api, name, log);
  }
}

function isAbandoned(
  { Labels: labels, State: state, Created: created }: ListedContainer,
  { owner, process }: ContainerOwner,
  now: number,
): boolean {
  const deadline = Number(labels[label.Deadline]);
  if (!(now < deadline)) return true;
  const isStarted = now > created + LONGEST_START_SECONDS;
  if (labels[label.Owner] === owner && (labels[label.Process] !== process || isStarted)) return true;
  return isStarted && state !== "running" && state !== "removing";
}
