import { printable } from "@rockbot/contracts";
import type { BridgedServerHealth } from "@rockbot/mcp-bridge";
import type { Finding } from "@rockbot/process";
import { StoreUnavailableError } from "@rockbot/records";
import type { RunningService } from "@rockbot/services";
import type { OperatorApprovals } from "@rockbot/trust";

const MAX_REASON = 400;

export interface RunningParts {
  /** The running services by their names. */
  readonly running: ReadonlyMap<string, RunningService>;
  /** The servers of the bridge, if there is one. */
  readonly servers: readonly BridgedServerHealth[] | undefined;
  readonly approvals: OperatorApprovals | undefined;
}

/** For `rockbot doctor`: what of the strangers' servers does not work now, and what waits for an approval. */
export async function examineRunning({ running, servers = [], approvals }: RunningParts): Promise<readonly Finding[]> {
  const faults = [...running].flatMap(([what, { faults: found = [] }]) =>
    found.map((message): Finding => ({ what, state: "broken", message: printable(message, MAX_REASON) })),
  );
  return [...serverFindings(servers), ...faults, ...(await waiting(approvals))];
}

function serverFindings(servers: readonly BridgedServerHealth[]): Finding[] {
  if (servers.length === 0) return [];
  const away = servers.filter(({ state }) => state !== "ready" && state !== "busy");
  const broken = away.filter(({ failures }) => failures > 0); // the others are being connected for the first time
  return [
    {
      what: "MCP servers",
      state: broken.length === 0 ? "ok" : "broken",
      message: `${servers.length - away.length} of ${servers.length} are ready: "rockbot mcp ls" shows each`,
    },
    ...broken.map(
      (server): Finding => ({
        what: "MCP server",
        state: "broken",
        message: `"${printable(server.name)}" ${failureWords(server)}`,
      }),
    ),
  ];
}

/** Without what its program wrote, which may hold anything: people pass on what `doctor` says. */
const failureWords = ({ failures, ...server }: BridgedServerHealth): string =>
  `has failed ${failures === 1 ? "once" : `${failures} times in a row`}: ${firstReason(server)}`;

/** Why the last attempt or connection failed, without what the server's program wrote. */
export function firstReason({ lastFailure = "" }: Pick<BridgedServerHealth, "lastFailure">): string {
  const [reason = ""] = lastFailure.split("\n", 1);
  return printable(reason, MAX_REASON);
}

async function waiting(approvals: OperatorApprovals | undefined): Promise<readonly Finding[]> {
  const what = "held tools";
  try {
    const { tools = [], servers = [] } = (await approvals?.waiting()) ?? {};
    const held = Map.groupBy(tools, ({ server }) => server);
    return [
      ...[...held].map(
        ([server, { length }]): Finding => ({
          what,
          state: "off",
          message: `${length} of ${JSON.stringify(printable(server))}, until an operator approves: rockbot mcp approve`,
        }),
      ),
      ...servers.map(
        ({ server, agent }): Finding => ({
          what: "MCP server",
          state: "off",
          message: `the agent "${printable(agent)}" asks for the MCP server "${printable(server)}": rockbot mcp approve`,
        }),
      ),
    ];
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return [{ what, state: "broken", message: error.message }];
  }
}
