import { printable } from "@rockbot/contracts";
import type { Rejected, RejectedServer, RejectedTool, Waiting, WaitingServer, WaitingTool } from "@rockbot/trust";
import { openApprovalSource } from "../../client/mcp/approval-source.ts";
import { CommandError } from "../../command-error.ts";
import { ExitCode } from "../../exit-code.ts";
import { isConfirmed } from "../../terminal/is-confirmed.ts";

export interface McpApproveOptions {
  readonly redis?: string;
  readonly lockFile?: string;
  readonly mcpConfig?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const MAX_LINE = 2_000;
const MAX_NAMES = 20;

const WHY: Readonly<Record<WaitingTool["reason"], string>> = {
  new: "has come since the server's tools were approved",
  changed: "has changed since it was approved",
  renamed: "was approved under another name",
  suspicious: "looks as if it was written to mislead a model",
  first_sight: "is offered as it was first seen, and marks what reads it until it is approved",
};

/**
 * The tools and servers that can be approved: those that wait, those that are rejected, and those that are offered as
 * they were first seen.
 */
interface Approvable extends Waiting {
  readonly firstSeen: readonly WaitingTool[];
  readonly rejected: Rejected;
}

/** `rockbot mcp approve`: shows what waits for an operator or was rejected, and approves exactly what it has shown. */
export async function approveMcp(
  server: string | undefined,
  tool: string | undefined,
  { redis, lockFile, mcpConfig, yes = false, json = false }: McpApproveOptions,
): Promise<void> {
  const { env } = process;
  await using source = await openApprovalSource({ redis, lockFile, mcpConfig, env });
  const { firstSeen = [], ...waiting } = await source.waiting();
  const rejected = await source.rejected();
  const all = { ...waiting, rejected, firstSeen };
  const shown =
    server === undefined
      ? { ...waiting, rejected: { tools: [], servers: [] }, firstSeen: [] }
      : chosen(all, server, tool);
  const tools = [...shown.tools, ...shown.rejected.tools, ...shown.firstSeen];
  const servers = [...shown.servers, ...shown.rejected.servers];
  const count = tools.length + servers.length;
  const refusals = rejected.tools.length + rejected.servers.length;
  if (json) console.log(JSON.stringify(server === undefined ? { ...shown, rejected } : shown, undefined, 2));
  else for (const line of described(shown)) console.log(printable(line, MAX_LINE));
  if (server === undefined) {
    const named = [...new Set([...rejected.tools, ...rejected.servers].map((one) => printable(one.server)))]
      .slice(0, MAX_NAMES)
      .join(", ");
    const refused = refusals === 0 ? "" : `, and ${refusals} ${refusals === 1 ? "is" : "are"} rejected (of ${named})`;
    const unseen = firstSeen.length === 0 ? "" : `. ${firstSeen.length} are offered as they were first seen`;
    console.error(
      `${count} wait for an approval${refused}, as ${source.where} has it${unseen}. To approve: rockbot mcp approve SERVER [TOOL]`,
    );
    return;
  }
  if (count === 0)
    throw new CommandError(
      `Nothing of ${named(server, tool)} waits for an approval, as ${source.where} has it: "rockbot mcp approve" lists what does`,
    );
  if (!yes && !(await isConfirmed(`Approve ${count === 1 ? "this" : `these ${count}`}?`))) {
    console.error("Nothing is approved. Add --yes to approve what is shown here");
    process.exitCode = ExitCode.Failed;
    return;
  }
  const { approved, stale } = await source.approve({ tools, servers });
  for (const name of approved) console.error(`approved ${printable(name)}`);
  for (const name of stale)
    console.error(`not approved, as it is not any more what was shown: ${printable(name)}. Look again`);
  for (const { server: name, agent } of servers)
    if (approved.includes(name))
      console.error(
        `"${printable(agent)}" has it once it asks for ${printable(name)} again, in the same words, within a day of the first time`,
      );
  process.exitCode = stale.length === 0 ? ExitCode.Ok : ExitCode.Failed;
}

/** A rejection is undone, and what was first seen approved, only where nothing of what is meant waits. */
function chosen(
  { tools, servers, rejected, firstSeen }: Approvable,
  server: string,
  tool: string | undefined,
): Approvable {
  const isOf = (one: { readonly server: string }): boolean => one.server.toLowerCase() === server.toLowerCase();
  const isMeant = (one: WaitingTool): boolean => isOf(one) && (tool === undefined || one.tool === tool);
  const areServersMeant = (one: { readonly server: string }): boolean => tool === undefined && isOf(one);
  const waiting = { tools: tools.filter(isMeant), servers: servers.filter(areServersMeant) };
  const isWaiting = waiting.tools.length + waiting.servers.length > 0;
  return {
    ...waiting,
    rejected: isWaiting
      ? { tools: [], servers: [] }
      : { tools: rejected.tools.filter(isMeant), servers: rejected.servers.filter(areServersMeant) },
    firstSeen: isWaiting ? [] : firstSeen.filter(isMeant),
  };
}

function described({ tools, servers, rejected, firstSeen }: Approvable): string[] {
  return [
    ...[...tools, ...firstSeen].flatMap(toolLines),
    ...servers.flatMap(serverLines),
    ...rejected.tools.flatMap(toolLines),
    ...rejected.servers.flatMap(rejectedLines),
  ];
}

export const toolLines = ({
  server,
  tool,
  reason,
  renamedFrom,
  suspicions,
  changes,
  at,
  rejectedBy,
}: WaitingTool & Partial<RejectedTool>): string[] => [
  `${server}: the tool ${JSON.stringify(tool)} ${WHY[reason]}${renamedFrom === undefined ? "" : `, ${JSON.stringify(renamedFrom)}`}; ${reason === "first_sight" ? "seen" : "held"} since ${at}${rejectedBy === undefined ? "" : `, and rejected by ${JSON.stringify(rejectedBy)}`}`,
  ...suspicions.map((suspicion) => `  ! ${suspicion}`),
  ...changes.map((change) => `  ${change}`),
];

const serverLines = ({ server, agent, lines, at }: WaitingServer): string[] => [
  `${server}: a server that the agent ${JSON.stringify(agent)} asks for since ${at}`,
  ...lines.map((line) => `  ${line}`),
];

const rejectedLines = ({ server, agent, rejectedBy, lines, at }: RejectedServer): string[] => [
  `${server}: a server that the agent ${JSON.stringify(agent)} may not have, as ${JSON.stringify(rejectedBy)} has rejected or removed it; for a day from ${at}`,
  ...lines.map((line) => `  ${line}`),
];

const named = (server: string, tool: string | undefined): string =>
  tool === undefined ? `"${server}"` : `"${tool}" of "${server}"`;
