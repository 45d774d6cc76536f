import { readFile } from "node:fs/promises";
import { createProgram } from "../../../packages/cli/src/program/program.ts";
import { code, fillPage, table } from "../fill-page.ts";
import { nameOf, nodesIn, type Source, textOf } from "../source/sources.ts";
import { documentedMembers, readCatalogue } from "./catalogue.ts";

type Command = ReturnType<typeof createProgram>;
type Argument = Command["registeredArguments"][number];
type Option = Command["options"][number];

/** `docs/reference/cli.md`: every command with its arguments and options. */
export async function cliReference(sources: readonly Source[]): Promise<string> {
  const exitCodes = documentedMembers(await readFile("packages/cli/src/exit-code.ts", "utf8"));
  const environment = await readCatalogue<string>("cli-environment", variablesOf(sources));
  return fillPage("cli", "packages/cli/src/program/program.ts", {
    exitCodes: table(
      ["code", "meaning"],
      exitCodes.map(({ doc, value }) => [value, doc]),
    ),
    environment: table(
      ["variable", "meaning"],
      Object.entries(environment).map(([name, meaning]) => [code(name), meaning]),
    ),
    commands: commandsIn(createProgram(), "rockbot").join("\n\n"),
  });
}

/** The variables that the command's code and what loads settings read by their names. */
function variablesOf(sources: readonly Source[]): ReadonlySet<string> {
  const own = sources.filter(({ file }) => /^packages\/(cli|process\/src\/config)\//.test(file));
  return new Set(
    own.flatMap(({ program }) =>
      [...nodesIn(program)].flatMap((node) => {
        if (node.type !== "MemberExpression" || nameOf(node["object"] as never) !== "env") return [];
        const name = node["computed"] === true ? textOf(node["property"] as never) : nameOf(node);
        return name === undefined || !/^[A-Z_]+$/.test(name) ? [] : [name];
      }),
    ),
  );
}

function commandsIn(command: Command, path: string): string[] {
  return command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`;
    return one.commands.length > 0 ? [group(one, name), ...commandsIn(one, name)] : [section(one, name)];
  });
}

const group = (command: Command, name: string): string => `## ${name}\n\n${command.description()}${helpAfter(command)}`;

function section(command: Command, name: string): string {
  const depth = name.split(" ").length > 2 ? "###" : "##";
  const parts = [
    ...command.registeredArguments.map((argument): [string, string] => [argumentText(argument), argument.description]),
    ...command.options
      .filter(({ hidden }) => !hidden)
      .map((option): [string, string] => [option.flags, optionText(option)]),
  ];
  const rows = parts.map(([flags, meaning]) => [code(flags), meaning]);
  return (
    [
      `${depth} ${name}`,
      "",
      command.description(),
      ...(rows.length === 0 ? [] : ["", table(["argument or option", "meaning"], rows)]),
    ].join("\n") + helpAfter(command)
  );
}

const argumentText = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const optionText = ({ description, mandatory }: Option): string => `${description}${mandatory ? " (required)" : ""}`;

/** What the command's help says below its options, such as examples. */
function helpAfter(command: Command): string {
  const lines: string[] = [];
  command.configureOutput({ writeOut: (text) => lines.push(text) });
  command.outputHelp();
  const help = lines.join("");
  const own = help.slice(command.helpInformation().length).trim();
  return own === "" ? "" : `\n\n\`\`\`text\n${own}\n\`\`\``;
}
