import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** An interpreter that is there, with where it has what it needs. */
export interface Python {
  /** The program itself, behind version managers and links; in a virtual environment, that environment's. */
  readonly executable: string;
  /** Its installation's, and its virtual environment's. */
  readonly prefixes: readonly string[];
}

export interface FindPythonOptions {
  /** Its name or path. @default python3 */
  readonly python?: string | undefined;
  /** Where names are looked for, as the variable PATH has it. */
  readonly path: string;
}

const DESCRIBE = `
import json, os, sys
assert sys.version_info >= (3, 9)
environment = sys.prefix != sys.base_prefix
executable = sys.executable if environment else os.path.realpath(sys.executable)
prefixes = [sys.prefix, sys.base_prefix, sys.base_exec_prefix] + ([os.path.dirname(os.path.realpath(sys.executable))] if environment else [])
print(json.dumps({"executable": executable, "prefixes": list(dict.fromkeys(prefixes))}))
`;

/** The first Python 3.9 or newer of the name; none if there is none that starts. */
export async function findPython({ python = "python3", path }: FindPythonOptions): Promise<Python | undefined> {
  const folders = [...path.split(delimiter), "/usr/bin"].filter((folder) => folder !== "");
  const candidates = python.includes("/")
    ? [python]
    : folders.map((folder) => join(folder, python)).filter((file) => existsSync(file));
  for (const candidate of new Set(candidates)) {
    const described = await promisify(execFile)(candidate, ["-I", "-c", DESCRIBE], { timeout: 20_000, cwd: "/" }).catch(
      () => undefined,
    );
    if (described !== undefined) return JSON.parse(described.stdout) as Python;
  }
  return undefined;
}
