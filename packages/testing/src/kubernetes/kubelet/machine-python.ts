import { execFileSync } from "node:child_process";

/** An interpreter of this machine that stands for the one in the `python` image. */
export interface MachinePython {
  /** The folder with its `bin` and `lib`. */
  readonly prefix: string;
  /** Such as 3.12. */
  readonly version: string;
}

let found: MachinePython | null | undefined;

/** The newest-fitting Python 3 on the PATH, behind whatever version manager; undefined if there is none. */
export function machinePython(): MachinePython | undefined {
  found ??= ask("python3.12") ?? ask("python3") ?? ask("/usr/bin/python3") ?? null;
  return found ?? undefined;
}

function ask(program: string): MachinePython | undefined {
  try {
    const code = "import sys; print(sys.base_prefix); print('%d.%d' % sys.version_info[:2])";
    const [prefix = "", version = ""] = execFileSync(program, ["-I", "-c", code], {
      encoding: "utf8",
      timeout: 10_000,
      stdio: ["ignore", "pipe", "ignore"],
    }).split("\n");
    return { prefix, version };
  } catch {
    return undefined;
  }
}
