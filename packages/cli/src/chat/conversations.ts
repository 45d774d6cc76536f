import { counted, printable, tools } from "@rockbot/contracts";
import { type AskToolOptions, askClient, askTool } from "../client/ask-tool.ts";
import type { ToolClient } from "../client/tool-client.ts";
import { CommandError } from "../command-error.ts";
import { printTable } from "../terminal/print-table.ts";

/** `rockbot chat --list`: the conversations that the user has had with the agent. */
export async function listConversations(json: boolean, options: AskToolOptions): Promise<void> {
  const { structured, where } = await askTool(tools.agentFamily, {}, options);
  const all = sessionsOf(structured);
  if (json) return console.log(JSON.stringify(all, undefined, 2));
  printTable(
    [{ title: "you spoke" }, { title: "session" }, { title: "and said", least: 20 }],
    all.map((each) => [each.said_at, each.session_id, each.said]),
  );
  console.error(
    `${counted(all.length, "conversation")} with the agent in ${where}. To go on with one: rockbot chat --session SESSION, or --continue`,
  );
}

/** The conversation in which the user has spoken last. @throws {CommandError} if there is none */
export async function lastConversation(client: Pick<ToolClient, "call" | "where">): Promise<string> {
  const [last] = sessionsOf((await askClient(client, tools.agentFamily.name, {})).structured);
  if (last === undefined)
    throw new CommandError(
      `You have no conversation with the agent in ${client.where} to continue: rockbot chat begins one`,
    );
  console.error(
    `session ${printable(last.session_id)}, where you said at ${last.said_at}: ${printable(last.said.replaceAll(/\s+/g, " "))}`,
  );
  return last.session_id;
}

const sessionsOf = (structured: unknown) =>
  (
    structured as {
      readonly sessions: readonly { readonly session_id: string; readonly said_at: string; readonly said: string }[];
    }
  ).sessions;
