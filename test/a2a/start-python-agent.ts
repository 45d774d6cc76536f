import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "vitest";

/** The agent of python_agent.py, as it is started. */
export interface PythonAgent extends AsyncDisposable {
  readonly url: string;
  readonly said: () => string;
}

/** @param python that has the SDK @param binding of the agent's card: "JSONRPC" or "HTTP+JSON" */
export async function startPythonAgent(python: string, binding: string): Promise<PythonAgent> {
  const child: ChildProcess = spawn(python, [join(import.meta.dirname, "python_agent.py"), binding], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout?.on("data", (chunk) => {
    said += chunk;
  });
  await expect.poll(() => said, { timeout: 30_000 }).toContain("listening on ");
  return {
    url: /http:\S+/.exec(said)?.[0] ?? "",
    said: () => said,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
