import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@rockbot/contracts";
import type { SandboxMaker } from "@rockbot/sandbox";
import { installerCommand } from "./installer-command.ts";

/** The machine's own Python, if it has pip: what these tests install is theirs. */
export const pythonWithPip = ["python3", "/usr/bin/python3"].find((python) => {
  try {
    return execFileSync(python, ["-I", "-m", "pip", "--version"], { stdio: ["ignore", "pipe", "ignore"] }).length > 0;
  } catch {
    return false;
  }
});

/** Runs the installer as a plain process, where no sandbox is to be had. `made` counts. */
export function installerMaker(python: string): SandboxMaker & { readonly made: number } {
  const gone = { isOutOfMemory: false, error: new ToolError("execution_failed", "gone") };
  let made = 0;
  return {
    kind: "process",
    get made() {
      return made;
    },
    async make() {
      made++;
      const folder = mkdtempSync(join(tmpdir(), "rockbot-test-installer-"));
      const child = spawn(python, installerCommand(python).slice(1), {
        env: { PATH: process.env["PATH"], TMPDIR: folder },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const ended = once(child, "close");
      return {
        input: child.stdin,
        output: child.stdout,
        gone: ended.then(() => gone),
        async [Symbol.asyncDispose]() {
          child.stdin.destroy();
          child.kill("SIGKILL");
          await ended;
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
    async [Symbol.asyncDispose]() {},
  };
}
