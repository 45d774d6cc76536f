import type { Tool } from "./define-tool.ts";
import type { ToolSet } from "./tool-set.ts";

/**
 * Contributes tools that come and go while they are served. `tools` and `guides` are those of now; both may be empty.
 */
export interface ToolProvider extends ToolSet {
  /**
   * False while tools are missing that another instance may have: its list then comes before this one.
   * @default true
   */
  readonly isWhole?: boolean | undefined;
  /**
   * The tool that a request means by its name and its headers; also one that is not in `tools` under this name.
   * @throws {ToolError} which is the answer
   */
  find(toolName: string, headers: Readonly<Record<string, string>>): Tool | undefined;
  /** Calls `listener` after each change of `tools` or `guides`, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

export const isProvider = (set: ToolSet): set is ToolProvider => "onChange" in set;
