import type { Command } from "commander";
import type { ImportOptions } from "../commands/knowledge.ts";

/** Adds `rockbot knowledge import` and `rockbot knowledge export`. */
export function addKnowledgeCommand(program: Command): void {
  const knowledge = program.command("knowledge").description("Import items into the knowledge base, or export them.");
  knowledge
    .command("import")
    .description(
      "Import a folder of markdown files, or a file with one JSON object on each line: all items, or none if one is wrong.",
    )
    .argument("<path>", "the folder, or the file NAME.jsonl")
    .option("--owner <caller>", "the owner of items that name none", "operator")
    .option("--space <name>", "who may read items that name no space; private for their owner alone", "shared")
    .option("--untrusted <origin>", "mark items that strangers wrote, and say where that was, such as a URL")
    .addHelpText(
      "after",
      `
Examples:
  rockbot knowledge import docs
  rockbot knowledge import forum.jsonl --owner forum --untrusted https://forum.example
  DATA_DIRECTORY=/var/lib/knowledge rockbot knowledge import notes --space support

The front matter of a file, or the JSON object, may have: id, title, kind, author, categories, tags, owner, space, origin,
created_at, updated_at; an object also has body. A file's id is its path without .md, and its title is its first heading.
An item that is there already is changed, and one that is as it was is left alone. The database is that of the settings of
knowledge-tools, and services that run see the items at once.`,
    )
    .action(async (path: string, options: ImportOptions) =>
      (await import("../commands/knowledge.ts")).importKnowledge(path, options),
    );
  knowledge
    .command("export")
    .description("Write all items, one JSON object on each line, in the form that import reads.")
    .argument("[file]", "the file; stdout when left out")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot knowledge export backup.jsonl\n  rockbot knowledge export | jq -r .title",
    )
    .action(async (file: string | undefined) => (await import("../commands/knowledge.ts")).exportKnowledge(file));
}
