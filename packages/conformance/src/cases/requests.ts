import { parseJson } from "@rockbot/contracts";
import { must, NotTried } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, mustBe, mustBeResult } from "../examiner.ts";

/** Cases on requests, good and bad. */
export const requestCases: readonly Case[] = [
  {
    name: "a good request is answered with a result",
    clause: "order",
    async run(examiner) {
      const call = await examiner.send();
      mustBeResult(await call.reply(ANSWER_MS), call.what);
    },
  },
  {
    name: "a tool that is not there is answered with tool_not_found",
    clause: "unknown-tool",
    async run(examiner) {
      const call = await examiner.send({ call: { tool: "no_tool_has_this_name", arguments: "{}" } });
      mustBe("tool_not_found", await call.reply(ANSWER_MS), call.what);
    },
  },
  {
    name: "arguments that break the schema are answered with invalid_arguments and the faults",
    clause: "arguments",
    async run(examiner) {
      const { tool } = examiner.options.quick;
      const notObject = await examiner.send({ call: { tool, arguments: "[1]" } });
      mustBe("invalid_arguments", await notObject.reply(ANSWER_MS), `arguments that are an array, of "${tool}",`);
      const bad = badArgumentsFor(examiner.hearing.tools.find(({ name }) => name === tool)?.parametersSchema);
      if (bad === undefined) throw new NotTried(`"${tool}" takes any object: nothing breaks its schema`);
      const call = await examiner.send({ call: { tool, arguments: bad } });
      const reply = await call.reply(ANSWER_MS);
      mustBe("invalid_arguments", reply, `arguments ${bad} of "${tool}"`);
      const { faults } = reply.details;
      const isSaid =
        Array.isArray(faults) &&
        faults.length > 0 &&
        faults.every(({ path, message }) => typeof path === "string" && typeof message === "string");
      must(isSaid, `the answer to arguments ${bad} of "${tool}" has no details.faults with path and message`);
    },
  },
  {
    name: "fields and headers that are not known are ignored",
    clause: "tolerant",
    async run(examiner) {
      const headers = {
        "rb-rb-of-tomorrow": "1",
        "rb-number": 7,
        "x-table": { a: { b: [1, true, null] } },
        "x-list": ["a", 1],
      };
      const call = await examiner.send({ more: { ofTomorrow: { a: 1 }, sessionId: null }, headers });
      mustBeResult(await call.reply(ANSWER_MS), `${call.what}, with fields and headers of tomorrow,`);
    },
  },
  {
    name: "a call on behalf of another by somebody who is no delegate is denied",
    clause: "sender",
    async run(examiner) {
      const call = await examiner.send({ headers: { "rb-rb-on-behalf-of": "somebody-else" } });
      mustBe("denied", await call.reply(ANSWER_MS), "a request on behalf of somebody else, by no delegate,");
    },
  },
];

/** Arguments that break a schema, as far as it is simple; undefined if it has nothing to break. */
function badArgumentsFor(parametersSchema: string | undefined): string | undefined {
  const parsed = parseJson(parametersSchema ?? "{}");
  const schema = (parsed.ok ? parsed.value : {}) as {
    readonly properties?: Record<string, { readonly type?: unknown }>;
    readonly required?: readonly string[];
  };
  const { properties = {}, required = [] } = schema;
  if (required.length > 0) return "{}";
  const typed = Object.entries(properties).find(([, { type }]) => typeof type === "string" && type !== "object");
  return typed === undefined ? undefined : JSON.stringify({ [typed[0]]: {} });
}
