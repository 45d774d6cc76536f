import { ToolError, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { noAgent } from "./no-agent.ts";
import { AGENT_MODEL } from "./read-chat-request.ts";

/** The error where a client names a model that is not there. */
export const noModel = (id: string, why = `the agent is the model "${AGENT_MODEL}"`): ToolError =>
  new ToolError(HttpErrorCode.NotFound, `Cannot find the model ${JSON.stringify(id.slice(0, 80))}: ${why}`, {
    details: { reason: "model_not_found", param: "model" },
  });

/** A model's name may have slashes. */
export const MODEL_PATH = "/v1/models/:id{.+}";

/**
 * Answers `GET /v1/models` and `GET /v1/models/{id}` as OpenAI does: the agent is one model, for callers that may ask
 * it.
 * @param toolsOf the tools that a caller may use
 */
export function models(caller: ToolCaller, toolsOf: (by: string | undefined) => readonly { readonly name: string }[]) {
  const created = Math.floor(Date.now() / 1000);
  const agent = { id: AGENT_MODEL, object: "model", created, owned_by: "rockbot" };
  /** @throws {ToolError} if no agent runs */
  async function list(c: Context<GatewayEnv>): Promise<readonly (typeof agent)[]> {
    await caller.discovered();
    if (caller.tools.get(tools.agentChat.name) === undefined) throw noAgent();
    return toolsOf(c.get("caller")).some(({ name }) => name === tools.agentChat.name) ? [agent] : [];
  }
  return {
    list: async (c: Context<GatewayEnv>): Promise<Response> => c.json({ object: "list", data: await list(c) }),
    read: async (c: Context<GatewayEnv, typeof MODEL_PATH>): Promise<Response> => {
      const id = c.req.param("id");
      const model = (await list(c)).find((each) => each.id === id);
      if (model === undefined) throw noModel(id);
      return c.json(model);
    },
  };
}
