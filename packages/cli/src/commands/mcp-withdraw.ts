import { printable } from "@rockbot/contracts";
import type { ShownServers, WithdrawalOutcome } from "@rockbot/mcp-trust";
import { type ApprovalSource, openApprovalSource } from "../client/approval-source.ts";
import { chooseMcpConfig } from "../client/choose-mcp-config.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { isConfirmed } from "./is-confirmed.ts";

export interface McpWithdrawOptions {
  readonly redis?: string;
  readonly mcpConfig?: string;
  readonly yes?: boolean;
}

/** A server with what the operator is shown of it. */
interface Shown {
  readonly server: string;
  readonly digest: string;
  readonly agent: string;
  readonly at: string;
  readonly lines: readonly string[];
}

interface Withdrawal {
  readonly verb: "reject" | "remove";
  readonly past: "rejected" | "removed";
  /** What the agent has done, as in: a server that the agent … */
  readonly standing: string;
  read(source: ApprovalSource): Promise<readonly Shown[]>;
  decide(source: ApprovalSource, servers: ShownServers): Promise<WithdrawalOutcome>;
}

const MAX_LINE = 2_000;

/** `rockbot mcp reject`: refuses servers that agents ask for. */
export const rejectMcp = (server: string, options: McpWithdrawOptions): Promise<void> =>
  withdraw(server, options, {
    verb: "reject",
    past: "rejected",
    standing: "asks for",
    read: async (source) => (await source.waiting()).servers,
    decide: (source, servers) => source.reject(servers),
  });

/** `rockbot mcp remove`: takes away servers that agents have registered. */
export const removeMcp = (server: string, options: McpWithdrawOptions): Promise<void> =>
  withdraw(server, options, {
    verb: "remove",
    past: "removed",
    standing: "has registered",
    read: (source) => source.registered(),
    decide: (source, servers) => source.remove(servers),
  });

async function withdraw(
  server: string,
  { redis, mcpConfig, yes = false }: McpWithdrawOptions,
  { verb, past, standing, read, decide }: Withdrawal,
): Promise<void> {
  const { env } = process;
  await using source = await openApprovalSource({ redis, mcpConfig: chooseMcpConfig(mcpConfig, env), env });
  const all = await read(source);
  const chosen = all.filter((one) => one.server.toLowerCase() === server.toLowerCase());
  if (chosen.length === 0) {
    const names = [...new Set(all.map((one) => one.server))].slice(0, 20).map((name) => printable(name));
    throw new CommandError(`Cannot ${verb} "${server}": no agent ${standing} it, as ${source.where} has it. There are: ${names.join(", ") || "none"}`);
  }
  for (const { server: name, agent, at, lines } of chosen)
    for (const line of [`${name}: a server that the agent ${JSON.stringify(agent)} ${standing}, since ${at}`, ...lines.map((text) => `  ${text}`)])
      console.log(printable(line, MAX_LINE));
  if (!yes && !(await isConfirmed(`${verb === "reject" ? "Reject" : "Remove"} ${chosen.length === 1 ? "this" : `these ${chosen.length}`}?`))) {
    console.error(`Nothing is ${past}. Add --yes to ${verb} what is shown here`);
    process.exitCode = ExitCode.Failed;
    return;
  }
  const { done, stale } = await decide(source, chosen);
  for (const name of done)
    console.error(
      `${past} ${printable(name)}; the agent may ask for the same again in a day, or once it is approved after all: rockbot mcp approve ${printable(name)}`,
    );
  for (const name of stale) console.error(`not ${past}, as it is not there any more as it was shown: ${printable(name)}. Look again`);
  process.exitCode = stale.length === 0 ? ExitCode.Ok : ExitCode.Failed;
}
