import { listTools, type ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads the tools that the process knows. */
export const TOOLS_PATH = "/operator/tools";

/** `GET /operator/tools`: every tool that has been announced, for all callers. */
export function createToolsApp(caller: Pick<ToolCaller, "discovered" | "knownTools">): HttpApp {
  return {
    async fetch({ url, method }) {
      if (method !== "GET" || new URL(url).pathname !== TOOLS_PATH) return noSuchOperatorPath();
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
