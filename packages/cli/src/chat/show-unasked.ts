import type { WriteStream } from "node:tty";
import type { ToolClient } from "../client/tool-client.ts";
import { terminalText } from "../terminal/terminal-text.ts";

/**
 * Shows the answers of a session's turns that were not asked for here, each once its turn has ended: one comes after a
 * call that has waited for a person. Ends with the signal, or with what the client can follow.
 */
export async function showUnasked(
  client: Pick<ToolClient, "follow">,
  sessionId: string,
  options: {
    readonly isAsked: (turnId: string) => boolean;
    readonly out: Pick<WriteStream, "write" | "isTTY">;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { isAsked, out, signal } = options;
  const since = new Date().toISOString();
  const texts = new Map<string, string>();
  for await (const { turnId, kind, at, text, dropsText } of await client.follow(sessionId, undefined, signal)) {
    if (isAsked(turnId) || at < since) continue;
    if (kind === "turn_started" || dropsText) texts.set(turnId, "");
    if (kind === "text") texts.set(turnId, `${texts.get(turnId) ?? ""}${text}`);
    if (kind !== "turn_finished") continue;
    out.write(`\n${terminalText(texts.get(turnId) ?? "", out)}\n> `);
    texts.delete(turnId);
  }
}
