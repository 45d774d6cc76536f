import { printable } from "@rockbot/contracts";
import type { WaitingTool, WithdrawalOutcome } from "@rockbot/trust";
import { type ApprovalSource, openApprovalSource } from "../../client/mcp/approval-source.ts";
import { CommandError } from "../../command-error.ts";
import { ExitCode } from "../../exit-code.ts";
import { isConfirmed } from "../../terminal/is-confirmed.ts";
import { toolLines } from "./mcp-approve.ts";

export interface McpWithdrawOptions {
  readonly redis?: string;
  readonly lockFile?: string;
  readonly mcpConfig?: string;
  readonly yes?: boolean;
}

/** A server with what the operator is shown of it. */
interface ShownServer {
  readonly server: string;
  readonly digest: string;
  readonly agent: string;
  readonly at: string;
  readonly lines: readonly string[];
}

/** The subject of a decision. */
interface Shown {
  readonly tools: readonly WaitingTool[];
  readonly servers: readonly ShownServer[];
}

interface Withdrawal {
  readonly verb: "reject" | "remove";
  readonly past: "rejected" | "removed";
  /** What the agent has done, as in: a server that the agent … */
  readonly standing: string;
  read(source: ApprovalSource): Promise<Shown>;
  decide(source: ApprovalSource, shown: Shown): Promise<WithdrawalOutcome>;
  /** The rule that holds from now on, for a server or a tool of the name. */
  consequence(name: string): string;
}

const MAX_LINE = 2_000;

/** `rockbot mcp reject`: refuses servers that agents ask for, and definitions of tools that are held. */
export const rejectMcp = (server: string, tool: string | undefined, options: McpWithdrawOptions): Promise<void> =>
  withdraw(server, tool, options, {
    verb: "reject",
    past: "rejected",
    standing: "asks for",
    read: (source) => source.waiting(),
    decide: (source, shown) => source.reject(shown),
    consequence: (name) =>
      name.includes(": ")
        ? "it stays held, and waits again if the server changes it; to approve it after all: rockbot mcp approve SERVER TOOL"
        : `the agent may ask for the same again in a day, or once it is approved after all: rockbot mcp approve ${name}`,
  });

/** `rockbot mcp remove`: takes away servers that agents have registered. */
export const removeMcp = (server: string, options: McpWithdrawOptions): Promise<void> =>
  withdraw(server, undefined, options, {
    verb: "remove",
    past: "removed",
    standing: "has registered",
    read: async (source) => ({ tools: [], servers: await source.registered() }),
    decide: (source, { servers }) => source.remove(servers),
    consequence: (name) =>
      `the agent may ask for the same again in a day, or once it is approved after all: rockbot mcp approve ${name}`,
  });

async function withdraw(
  server: string,
  tool: string | undefined,
  { redis, lockFile, mcpConfig, yes = false }: McpWithdrawOptions,
  { verb, past, standing, read, decide, consequence }: Withdrawal,
): Promise<void> {
  const { env } = process;
  await using source = await openApprovalSource({ redis, lockFile, mcpConfig, env });
  const all = await read(source);
  const isOf = (one: { readonly server: string }): boolean => one.server.toLowerCase() === server.toLowerCase();
  const tools = all.tools.filter((one) => isOf(one) && (tool === undefined || one.tool === tool));
  const servers = tool === undefined ? all.servers.filter(isOf) : [];
  const count = tools.length + servers.length;
  if (count === 0) {
    const names = [...new Set([...all.servers, ...all.tools].map((one) => one.server))]
      .slice(0, 20)
      .map((name) => printable(name));
    const why =
      tool === undefined
        ? `no agent ${standing} it${verb === "reject" ? ", and no tool of it is held" : ""}`
        : `its tool "${tool}" does not wait for an approval`;
    throw new CommandError(
      `Cannot ${verb} "${server}": ${why}, as ${source.where} has it. There are: ${names.join(", ") || "none"}`,
    );
  }
  const lines = servers.flatMap(({ server: name, agent, at, lines: said }) => [
    `${name}: a server that the agent ${JSON.stringify(agent)} ${standing}, since ${at}`,
    ...said.map((text) => `  ${text}`),
  ]);
  for (const line of [...tools.flatMap(toolLines), ...lines]) console.log(printable(line, MAX_LINE));
  if (
    !yes &&
    !(await isConfirmed(`${verb === "reject" ? "Reject" : "Remove"} ${count === 1 ? "this" : `these ${count}`}?`))
  ) {
    console.error(`Nothing is ${past}. Add --yes to ${verb} what is shown here`);
    process.exitCode = ExitCode.Failed;
    return;
  }
  const { done, stale } = await decide(source, { tools, servers });
  for (const name of done) console.error(`${past} ${printable(name)}; ${consequence(printable(name))}`);
  for (const name of stale)
    console.error(`not ${past}, as it is not there any more as it was shown: ${printable(name)}. Look again`);
  process.exitCode = stale.length === 0 ? ExitCode.Ok : ExitCode.Failed;
}
