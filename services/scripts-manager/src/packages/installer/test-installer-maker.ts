import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@rockbot/contracts";
import type { SandboxMaker } from "@rockbot/sandbox";
import { installerCommand } from "./installer-command.ts";

/**
 * The machine's own Python, if it has pip: what these tests install is theirs. By its own path: a manager of versions
 * before it costs as much as its start.
 */
export const pythonWithPip = withPip("python3") ?? withPip("/usr/bin/python3");

function withPip(python: string): string | undefined {
  try {
    const words = execFileSync(python, ["-I", "-c", "import pip, sys; print(sys.executable)"], {
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    });
    return words.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Runs the installer as a plain process, where no sandbox can run. `made` counts. */
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
