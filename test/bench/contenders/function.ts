import type { Caller } from "../contender.ts";
import type { Payload } from "../payload.ts";
import { validateEcho } from "./echo-tool.ts";

/**
 * A call of a function in this process, its arguments and its result checked and through JSON: what any call with a
 * schema costs.
 */
export async function connect(): Promise<Caller> {
  let id = 0;
  return {
    async call(payload) {
      const request = JSON.stringify({ id: id++, name: "echo", arguments: payload });
      const answer = JSON.parse(await run(request)) as { readonly id: number; readonly content: Payload };
      return answer.content;
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function run(request: string): Promise<string> {
  const { id, arguments: input } = JSON.parse(request) as { readonly id: number; readonly arguments: unknown };
  if (!validateEcho(input)) throw new TypeError("Cannot run echo: the arguments do not match the schema");
  return JSON.stringify({ id, content: await echo(input) });
}

const echo = async (payload: Payload): Promise<Payload> => payload;
