import type { StoredResult } from "../store/turn-store.ts";

const MAX_LENGTH = 200;

/**
 * How a call failed, in the form that the playbooks of definitions know, before what that leaves out. A stranger's
 * words stay in their fence.
 */
export function outcomeText(result: StoredResult, text: string): string {
  const line = outcomeLine(result);
  const said = line.slice("(tool failed: ".length, -1);
  return !result.isUntrusted && text.endsWith(`: ${said}`) ? line : `${line}\n${text}`;
}

function outcomeLine({ content, isUntrusted }: StoredResult): string {
  const [, code, message = content] = /^([a-z_]+): (.*)/s.exec(content) ?? [];
  const why =
    code === "timeout" ? code : isUntrusted ? "its own words follow" : (message.split(/(?<=[.!?])\s|\n/, 1)[0] ?? "");
  return `(tool failed: ${why.length > MAX_LENGTH ? `${why.slice(0, MAX_LENGTH - 1)}…` : why})`;
}
