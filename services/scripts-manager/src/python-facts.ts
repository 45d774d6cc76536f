import { randomBytes } from "node:crypto";
import type { ScriptRunner } from "@rockbot/sandbox";

/** The Python that scripts find, as a model should know it. */
export interface PythonFacts {
  /** Such as 3.12.4. */
  readonly version: string;
  /** Packages that are there without being asked for, such as `numpy 2.3.5`; sorted. */
  readonly packages: readonly string[];
}

const ASK = `
import importlib.metadata, json, platform
tools = {"pip", "setuptools", "wheel"}
found = {(d.metadata["Name"] or ""): d.version for d in importlib.metadata.distributions()}
print(json.dumps({"version": platform.python_version(), "packages": sorted(f"{name} {version}" for name, version in found.items() if name and name.lower() not in tools)}))
`;
/** Packages that a guide names, at most. */
const MAX_PACKAGES = 100;

/** Asks a script. @throws {Error} if none can be run, or it says something else */
export async function readPythonFacts(
  runner: ScriptRunner,
  { signal, withinMs }: { readonly signal: AbortSignal; readonly withinMs: number },
): Promise<PythonFacts> {
  const job = { id: randomBytes(16).toString("hex"), script: ASK, timeoutMs: withinMs };
  const { stdout, stderr } = await runner.run(job, { signal, deadline: performance.now() + withinMs });
  const { version, packages } = JSON.parse(stdout || "null") ?? {};
  if (typeof version !== "string" || !Array.isArray(packages))
    throw new Error(`a script cannot say which Python it runs in: ${stderr.slice(-500)}`);
  return { version, packages: packages.slice(0, MAX_PACKAGES).map(String) };
}
