import type { ToolInvokeResponse } from "@rockbot/contracts";
import { Pool } from "undici";
import { type Caller, MAX_CALLS_OUT } from "../contender.ts";
import { payloadOf } from "./tool-caller.ts";

/** Calls a tool through the gateway at `url`. */
export function connectHttpCaller(url: string, tool: string, headers: Readonly<Record<string, string>> = {}): Caller {
  const pool = new Pool(url, { connections: MAX_CALLS_OUT });
  const request = {
    method: "POST",
    path: `/v1/tools/${tool}/invoke`,
    headers: { "content-type": "application/json", ...headers },
  } as const;
  return {
    async call(payload) {
      const { statusCode, body } = await pool.request({ ...request, body: JSON.stringify(payload) });
      const answer = (await body.json()) as ToolInvokeResponse;
      if (statusCode !== 200)
        throw new Error(`the gateway answers ${statusCode}: ${JSON.stringify(answer).slice(0, 200)}`);
      return payloadOf(answer);
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
