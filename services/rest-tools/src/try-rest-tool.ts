import { describeFaults, faultsText, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { validatorOf } from "@rockbot/mcp/schema";
import type { ToolResult } from "@rockbot/tools";
import { ClientTokens } from "./credentials/client-tokens.ts";
import { readRestFile } from "./file/read-rest-file.ts";
import type { RestToolsConfig } from "./generated/config.ts";
import { fetchDocument, MAX_DOCUMENT_BYTES } from "./openapi/fetch-document.ts";
import { importOperations } from "./openapi/import-operations.ts";
import { readOpenApiDocument } from "./openapi/open-api-document.ts";
import { call } from "./rest-tool.ts";
import { restFetch } from "./rest-tools.ts";

export interface TryRestToolOptions {
  readonly config: Readonly<RestToolsConfig> & { readonly restConfig: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
}

/** An operation of a document, as `rockbot rest check` shows it. */
export interface CheckedDocument {
  readonly name: string;
  readonly tools: readonly string[];
  readonly leftOut: readonly { readonly id: string; readonly why: string }[];
  /** What an operator would have to approve. */
  readonly concerns: readonly string[];
  readonly fault: string | undefined;
}

/** Reads the documents that a file imports, as the service does. */
export async function checkDocuments({
  config,
  env,
  signal,
}: Omit<TryRestToolOptions, "onProgress">): Promise<readonly CheckedDocument[]> {
  await using fetch = restFetch(config, MAX_DOCUMENT_BYTES);
  const checked: CheckedDocument[] = [];
  for (const from of readRestFile(config.restConfig, env).imports) {
    try {
      const { text, at } = await fetchDocument(from, fetch, signal);
      const { operations, leftOut } = await importOperations(readOpenApiDocument(text), from, at);
      const concerns = [...new Set(operations.flatMap(({ seen }) => seen.concerns))];
      checked.push({
        name: from.name,
        tools: operations.map(({ operation }) => operation.toolName),
        leftOut,
        concerns,
        fault: undefined,
      });
    } catch (error) {
      checked.push({ name: from.name, tools: [], leftOut: [], concerns: [], fault: (error as Error).message });
    }
  }
  return checked;
}

/** Calls one tool of a file from here, for the operator who writes it: pins do not count. @throws {ToolError} */
export async function tryRestTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
  { config, env, signal, onProgress }: TryRestToolOptions,
): Promise<ToolResult<unknown>> {
  const { operations, imports, off } = readRestFile(config.restConfig, env);
  await using fetch = restFetch(config);
  await using documentFetch = restFetch(config, MAX_DOCUMENT_BYTES);
  const all = [...operations];
  const isWanted = ({ toolName }: { readonly toolName: string }): boolean =>
    toolName === name || toolName === `rest__${name}`;
  for (const from of all.some(isWanted) ? [] : imports) {
    const { text, at } = await fetchDocument(from, documentFetch, signal);
    all.push(
      ...(await importOperations(readOpenApiDocument(text), from, at)).operations.map(({ operation }) => operation),
    );
  }
  const found = all.find(isWanted);
  if (found === undefined) {
    const reason = off.find(({ tool }) => tool === name || tool === `rest__${name}`)?.reason;
    throw new ToolError(
      ToolErrorCode.ToolNotFound,
      reason ??
        `The file has no tool "${name.slice(0, 80)}": it has ${all
          .slice(0, 20)
          .map(({ toolName }) => toolName)
          .join(", ")}.`,
    );
  }
  const validate = validatorOf(found.inputSchema);
  if (!validate(args))
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${found.toolName}": ${faultsText(describeFaults(validate, found.inputSchema, args))}`,
    );
  const context = {
    caller: "cli",
    toolCallId: crypto.randomUUID(),
    signal,
    progress: ({ message }: { readonly message?: string | undefined }) => onProgress(message ?? ""),
  };
  return await call(found, args, context, {
    fetch,
    policy: undefined,
    tokens: new ClientTokens(fetch),
    maxBytes: config.maxResponseBytes,
  });
}
