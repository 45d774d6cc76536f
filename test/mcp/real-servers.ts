import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { freePort, type NodeProgram, startNodeProgram } from "@rockbot/testing";

const { resolve } = createRequire(join(dirname(dirname(import.meta.dirname)), "services/mcp-bridge/package.json"));

/** Where a server from npm, that nobody here wrote, has its program. */
const programOf = (name: string): string => resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);

/** An entry of a file of servers. */
export interface ServerEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly type?: "http" | "sse";
  readonly url?: string;
}

const program = (
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ServerEntry => ({
  command: process.execPath,
  args: [programOf(name), ...args],
  env,
});

/** The servers that are programs; what they keep lies in the folder. */
export const stdioServers = (folder: string): Readonly<Record<string, ServerEntry>> => ({
  everything: program("everything"),
  files: program("filesystem", [folder]),
  memory: program("memory", [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
  thinking: program("sequential-thinking"),
});

/** The one of them that is also reached over HTTP and SSE, as a process that runs already. */
export async function startEverything(
  transport: "http" | "sse",
): Promise<AsyncDisposable & { readonly entry: ServerEntry }> {
  const port = await freePort();
  const server: NodeProgram = startNodeProgram(programOf("everything"), {
    args: [transport === "http" ? "streamableHttp" : "sse"],
    env: { PORT: String(port) },
  });
  return {
    entry: { type: transport, url: `http://127.0.0.1:${port}/${transport === "http" ? "mcp" : "sse"}` },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A call, and what its text must match. */
export interface RealCall {
  readonly tool: string;
  readonly args: object;
  readonly gives: RegExp;
}

/** One call of each tool of server-everything. */
export const everythingCalls: readonly RealCall[] = [
  { tool: "echo", args: { message: "over the bus" }, gives: /^Echo: over the bus$/ },
  {
    tool: "get-annotated-message",
    args: { messageType: "success", includeImage: true },
    gives: /success[\s\S]*\[image image\/png/i,
  },
  { tool: "get-env", args: {}, gives: /"PATH"/ },
  { tool: "get-resource-links", args: { count: 2 }, gives: /\[link to the resource demo:/ },
  { tool: "get-resource-reference", args: { resourceType: "Text", resourceId: 1 }, gives: /plaintext resource/ },
  { tool: "get-structured-content", args: { location: "New York" }, gives: /conditions/ },
  { tool: "get-sum", args: { a: 2, b: 3 }, gives: /5/ },
  { tool: "get-tiny-image", args: {}, gives: /\[image image\/png, \d+ bytes/ },
  {
    tool: "gzip-file-as-resource",
    args: { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" },
    gives: /\[resource /,
  },
  { tool: "toggle-simulated-logging", args: {}, gives: /logging/i },
  { tool: "toggle-subscriber-updates", args: {}, gives: /update/i },
  { tool: "trigger-long-running-operation", args: { duration: 1, steps: 4 }, gives: /completed/i },
];

/**
 * One call of each tool of server-filesystem, in an order in which each finds what it needs; `note.txt` is there
 * before.
 */
export const fileCalls = (folder: string): readonly RealCall[] => {
  const at = (name: string): string => join(folder, name);
  return [
    { tool: "list_allowed_directories", args: {}, gives: /Allowed/ },
    { tool: "create_directory", args: { path: at("made") }, gives: /made/ },
    { tool: "write_file", args: { path: at("made/one.txt"), content: "first\nsecond\n" }, gives: /wrote/i },
    { tool: "read_text_file", args: { path: at("note.txt") }, gives: /^from a file$/ },
    { tool: "read_file", args: { path: at("made/one.txt"), head: 1 }, gives: /^first$/ },
    {
      tool: "read_multiple_files",
      args: { paths: [at("note.txt"), at("made/one.txt")] },
      gives: /from a file[\s\S]*second/,
    },
    { tool: "read_media_file", args: { path: at("dot.png") }, gives: /\[image image\/png, \d+ bytes/ },
    {
      tool: "edit_file",
      args: { path: at("made/one.txt"), edits: [{ oldText: "first", newText: "edited" }] },
      gives: /\+edited/,
    },
    { tool: "get_file_info", args: { path: at("note.txt") }, gives: /size: 11/ },
    { tool: "list_directory", args: { path: folder }, gives: /\[FILE\] note\.txt/ },
    { tool: "list_directory_with_sizes", args: { path: folder }, gives: /note\.txt/ },
    { tool: "directory_tree", args: { path: folder }, gives: /"one\.txt"/ },
    { tool: "search_files", args: { path: folder, pattern: "**/*.txt" }, gives: /one\.txt/ },
    { tool: "move_file", args: { source: at("made/one.txt"), destination: at("made/two.txt") }, gives: /moved/i },
  ];
};

const relation = { from: "Ada", to: "Charles", relationType: "knows" };

/** One call of each tool of server-memory, in an order in which each finds what it needs. */
export const memoryCalls: readonly RealCall[] = [
  {
    tool: "create_entities",
    args: {
      entities: ["Ada", "Charles"].map((name) => ({ name, entityType: "person", observations: [`${name} was there`] })),
    },
    gives: /Ada was there/,
  },
  {
    tool: "add_observations",
    args: { observations: [{ entityName: "Ada", contents: ["wrote programs"] }] },
    gives: /wrote programs/,
  },
  { tool: "create_relations", args: { relations: [relation] }, gives: /knows/ },
  { tool: "read_graph", args: {}, gives: /wrote programs[\s\S]*knows/ },
  { tool: "search_nodes", args: { query: "programs" }, gives: /Ada/ },
  { tool: "open_nodes", args: { names: ["Charles"] }, gives: /Charles was there/ },
  {
    tool: "delete_observations",
    args: { deletions: [{ entityName: "Ada", observations: ["wrote programs"] }] },
    gives: /deleted/i,
  },
  { tool: "delete_relations", args: { relations: [relation] }, gives: /deleted/i },
  { tool: "delete_entities", args: { entityNames: ["Ada", "Charles"] }, gives: /deleted/i },
];

export const thinkingCalls: readonly RealCall[] = [
  {
    tool: "sequentialthinking",
    args: { thought: "first", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    gives: /"thoughtNumber": 1/,
  },
];
