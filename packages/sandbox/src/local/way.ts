import type { SandboxLimits } from "../sandbox-limits.ts";
import type { Program } from "./compile-programs.ts";
import type { Python } from "./find-python.ts";
import type { SandboxTree } from "./sandbox-tree.ts";

/** What is to be run within walls. */
export interface Inside {
  readonly python: Python;
  /** What finishes a sandbox from within, as the interpreter takes it. */
  readonly enter: Program;
  readonly tree: SandboxTree;
  readonly limits: SandboxLimits;
  /** True if it sees /dev/zero, which is a way to shared memory. */
  readonly hasSharedZero: boolean;
  /** The supervisor's. */
  readonly command: readonly string[];
  /** Whose rights it has where this process is root: never root's. @default nobody's */
  readonly user?: number | undefined;
}

/** A program of the machine that makes namespaces. */
export interface Way {
  readonly name: string;
  /** @param isRoot whether this process may do all: then what runs inside gets another user before it begins */
  command(inside: Inside, isRoot: boolean): string[];
}
