import type { ContentTrust, ResultSize } from "@rockbot/contracts";
import type { ToolExecutor } from "./tool-executor.ts";

/** A caller's knowledge of a tool. Schemas are JSON text, ready for a model's API. */
export interface ToolRegistration {
  readonly name: string;
  /** The title for people, where clients show tools. */
  readonly title?: string | undefined;
  readonly description: string;
  readonly parametersSchema: string;
  readonly outputSchema?: string | undefined;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Allowed only by a policy that names it in full. @default false */
  readonly dangerous?: boolean | undefined;
  /** From when on a result is too large for a model. @default the agent decides */
  readonly resultSize?: ResultSize | undefined;
  /** Whose words name, description and schemas are. @default our own */
  readonly trust?: ContentTrust | undefined;
  /** The service that runs it, or `local`. */
  readonly source: string;
}

/** A tool that came or went. */
export type ToolChange = { readonly kind: "registered" | "unregistered"; readonly name: string };

/** The directory of tools and their executors in one process. */
export interface ToolRegistry {
  /** All tools, sorted by name: the same tools give the same bytes, in whatever order they came. */
  getTools(): readonly ToolRegistration[];
  get(name: string): ToolRegistration | undefined;
  getExecutor(name: string): ToolExecutor | undefined;
  /** @throws {DuplicateToolError} if the name is taken */
  register(registration: ToolRegistration, executor: ToolExecutor): void;
  /** @returns whether there was such a tool */
  unregister(name: string): boolean;
  /**
   * Calls `listener` after each change, until the returned function is called. A listener that throws is logged by
   * nobody: it must not.
   */
  onChange(listener: (change: ToolChange) => void): () => void;
}

/** A tool of this name is registered already. */
export class DuplicateToolError extends Error {
  override readonly name = "DuplicateToolError";
}

/** Makes an empty registry. */
export function createToolRegistry(): ToolRegistry {
  const entries = new Map<string, { registration: ToolRegistration; executor: ToolExecutor }>();
  const listeners = new Set<(change: ToolChange) => void>();
  let sorted: readonly ToolRegistration[] | undefined;

  function changed(kind: ToolChange["kind"], name: string): void {
    sorted = undefined;
    for (const listener of [...listeners]) listener({ kind, name });
  }

  return {
    getTools() {
      sorted ??= Object.freeze(
        [...entries.values()].map(({ registration }) => registration).sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
      return sorted;
    },
    get: (name) => entries.get(name)?.registration,
    getExecutor: (name) => entries.get(name)?.executor,
    register(registration, executor) {
      const { name } = registration;
      if (entries.has(name))
        throw new DuplicateToolError(
          `Cannot register the tool "${name}": "${entries.get(name)?.registration.source}" has registered it already`,
        );
      entries.set(name, { registration: Object.freeze({ ...registration }), executor });
      changed("registered", name);
    },
    unregister(name) {
      const existed = entries.delete(name);
      if (existed) changed("unregistered", name);
      return existed;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
