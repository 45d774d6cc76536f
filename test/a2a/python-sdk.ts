import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "@rockbot/testing";

const PACKAGES = ["a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0"];
const FOLDER = join(import.meta.dirname, "../../node_modules/.cache/python-a2a-sdk-1.3.0");
const INSTALL_MS = 120_000;

/** A Python that has A2A's official SDK, or why there is none. It is installed into this repository's folder when it is asked for first. */
export async function pythonWithA2a(): Promise<{ readonly python: string } | { readonly missing: string }> {
  const python = join(FOLDER, "bin/python");
  const done = join(FOLDER, "installed");
  if (existsSync(done)) return { python };
  try {
    rmSync(FOLDER, { recursive: true, force: true });
    await run("python3", ["-m", "venv", FOLDER], { timeoutMs: INSTALL_MS });
    await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES], { timeoutMs: INSTALL_MS });
    writeFileSync(done, "");
    return { python };
  } catch (error) {
    return { missing: `A2A's SDK for Python cannot be installed here: ${(error as Error).message.slice(-200)}` };
  }
}
