import type { Argument, Command, Option } from "commander";

/**
 * The kinds of words at a place of the command line. A word is a file, a name that is looked up, one of some words, or
 * a value that nothing completes.
 */
export type Completion = "file" | "tools" | "services" | "guides" | "value" | `words ${string}`;

/** One command, as a completion script knows it. */
export interface CompletionNode {
  /** Its words after `rockbot`, such as `dlq list`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly Described[];
  /** The kind of value of each flag that takes one. */
  readonly values: ReadonlyMap<string, Completion>;
  readonly arguments: readonly { readonly completion: Completion; readonly isRepeated: boolean }[];
}

export interface Described {
  readonly name: string;
  readonly description: string;
}

/** All commands of a program, each with what may follow it. Hidden ones are left out. */
export function completionTree(command: Command, path = ""): CompletionNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const node: CompletionNode = {
    path,
    commands: commands.map((child) => ({ name: child.name(), description: child.description() })),
    options: options.flatMap((option) => flagsOf(option).map((name) => ({ name, description: option.description }))),
    values: new Map(
      options
        .filter(takesValue)
        .flatMap((option) =>
          flagsOf(option).map((flag) => [flag, completionOf(option.attributeName(), option)] as const),
        ),
    ),
    arguments: command.registeredArguments.map((argument, index, all) => ({
      // The tool of an MCP server has another name there than for callers.
      completion: all[index - 1]?.name() === "server" ? "value" : completionOf(argument.name(), argument),
      isRepeated: argument.variadic,
    })),
  };
  return [
    node,
    ...commands
      .filter((child) => child.name() !== "help")
      .flatMap((child) => completionTree(child, `${path} ${child.name()}`.trim())),
  ];
}

const flagsOf = ({ short, long }: Option): string[] => [short, long].filter((flag) => flag !== undefined);
const takesValue = ({ required, optional }: Option): boolean => required || optional;

/** By the name that the help shows: `<file>` is a file. */
function completionOf(name: string, { argChoices, ...rest }: Option | Argument): Completion {
  if (argChoices !== undefined) return `words ${argChoices.join(" ")}`;
  const shown = "flags" in rest ? (/[<[]([\w-]+)/.exec(rest.flags)?.[1] ?? name) : name;
  const known: Readonly<Record<string, Completion>> = {
    file: "file",
    files: "file",
    tool: "tools",
    service: "services",
    services: "services",
    guide: "guides",
  };
  return known[shown] ?? "value";
}
