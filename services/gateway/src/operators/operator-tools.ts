import type { Guide } from "@rockbot/console/api";
import { listTools, type ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads the tools that the process knows. */
export const TOOLS_PATH = "/operator/tools";

/**
 * `GET /operator/tools`: every tool that has been announced, for all callers.
 * `GET /operator/tools/{name}/guides`: the documents that teach a tool.
 */
export function createToolsApp(caller: Pick<ToolCaller, "discovered" | "knownTools" | "guidesOf">): HttpApp {
  return {
    async fetch({ url, method }) {
      const { pathname } = new URL(url);
      const [, name] = /^\/operator\/tools\/([\w-]+)\/guides$/.exec(pathname) ?? [];
      if (method === "GET" && name !== undefined) return Response.json({ guides: await guidesOf(caller, name) });
      if (method !== "GET" || pathname !== TOOLS_PATH) return noSuchOperatorPath();
      await caller.discovered();
      const known = caller.knownTools();
      const tools = listTools(known).map(({ parameters, output, source, trust, ...tool }, index) => ({
        ...tool,
        inputSchema: parameters,
        ...(output === undefined ? {} : { outputSchema: output }),
        service: source,
        dangerous: known[index]?.dangerous === true,
        trust: trust?.level ?? "system",
      }));
      return Response.json({ tools });
    },
  };
}

const guidesOf = async (caller: Pick<ToolCaller, "guidesOf">, tool: string): Promise<readonly Guide[]> =>
  (await caller.guidesOf(tool)).map(({ name, summary, document, trust }) => ({
    name,
    summary,
    document,
    trust: trust?.level ?? "system",
  }));
