import { ToolError } from "@rockbot/contracts";
import type { ModelScript, ModelServerRequest } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startCallers } from "./test-callers.ts";

const words = (error: unknown): string =>
  error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);
const userText = ({ messages }: ModelServerRequest): string =>
  messages.findLast(({ role }) => role === "user")?.text ?? "";

/** A model that makes the call that its user writes, and repeats the result. */
const obedient: ModelScript = (request) => {
  const last = request.messages.at(-1);
  if (last?.role === "tool") return { text: last.text };
  const { name, input } = JSON.parse(userText(request)) as { name: string; input: object };
  return { toolCalls: [{ name, arguments: input }] };
};

interface WrongInput {
  readonly tool: string;
  readonly input: object;
  /** What is wrong. */
  readonly wrong: string | RegExp;
  /** What is right, or what to do. */
  readonly right: string | RegExp;
  /** What was done all the same, or that nothing was. */
  readonly done: string | RegExp;
}

const has = (text: string, part: string | RegExp): boolean =>
  typeof part === "string" ? text.includes(part) : part.test(text);

// Long because: it is a table
test("each of more than 40 wrong inputs is answered with what is wrong, what is right, and what was done all the same", {
  timeout: 120_000,
}, async () => {
  await using scene = await startCallers({
    script: obedient,
    env: { MAX_ROBOTS_PER_CALLER: "2", MAX_SKILLS_PER_CALLER: "1" },
  });
  const { alice, bob } = scene;
  const made = await alice("robot_create", { name: "cook", playbook: "Cook.", tools: ["shop_*"] });
  const id = made.data["robot_id"] as string;
  await alice("robot_create", { name: "clerk", playbook: "Help.", tools: ["*"], destinations: ["cook"] });
  await alice("save_skill", { name: "office/report", content: "Write it." });
  const gone = "0".repeat(24);
  const robot = { name: "new", playbook: "x" };
  const notSaved = "The robot was not saved";
  const skillNotSaved = "The skill was not saved";

  /** Calls of the agent's service by a program. */
  const outside: readonly WrongInput[] = [
    {
      tool: "robot_create",
      input: { ...robot, name: "A b" },
      wrong: '"A b" is not a valid name',
      right: "such as",
      done: notSaved,
    },
    {
      tool: "robot_create",
      input: { ...robot, name: "cancel" },
      wrong: '"cancel" is taken',
      right: "Choose another",
      done: notSaved,
    },
    {
      tool: "robot_create",
      input: { ...robot, name: "cook" },
      wrong: "you see a robot",
      right: "Choose another",
      done: notSaved,
    },
    {
      tool: "robot_create",
      input: { ...robot, playbook: " " },
      wrong: "playbook: is blank",
      right: "Say how",
      done: notSaved,
    },
    {
      tool: "robot_create",
      input: { name: "new" },
      wrong: "playbook: is required",
      right: "playbook",
      done: "Cannot call",
    },
    {
      tool: "robot_create",
      input: { ...robot, max_cost: -1 },
      wrong: "max_cost",
      right: "more than 0",
      done: "Cannot call",
    },
    {
      tool: "robot_create",
      input: { ...robot, report_schema: { type: "thing" } },
      wrong: "is not a usable JSON Schema",
      right: /type|allowed/,
      done: notSaved,
    },
    { tool: "robot_create", input: robot, wrong: "has 2 robots", right: "delete one", done: notSaved },
    {
      tool: "robot_update",
      input: { robot_id: id, tools: ["shop_hour"] },
      wrong: 'no tool "shop_hour"',
      right: '"shop_hours"',
      done: "Nothing changes in",
    },
    {
      tool: "robot_update",
      input: { robot_id: id, destinations: ["clark"] },
      wrong: 'no robot "clark"',
      right: '"clerk"',
      done: /the robot cook/,
    },
    {
      tool: "robot_update",
      input: { robot_id: id, model: "dear" },
      wrong: 'no model "dear"',
      right: "There are:",
      done: /the robot cook/,
    },
    {
      tool: "robot_update",
      input: { robot_id: id, version: 99, playbook: "Bake." },
      wrong: "not 99",
      right: "Read it again",
      done: "was not changed",
    },
    { tool: "robot_get", input: { robot_id: "cook" }, wrong: "is not an id", right: id, done: "expected 24" },
    { tool: "robot_get", input: { robot_id: gone }, wrong: "no robot", right: id, done: "You see" },
    { tool: "robot_delete", input: { robot_id: "x" }, wrong: "is not an id", right: id, done: "was not deleted" },
    {
      tool: "robot_switch",
      input: { robot_id: id },
      wrong: "belongs to no session",
      right: "say which one",
      done: "was not switched",
    },
    {
      tool: "robot_switch",
      input: { robot_id: gone, session_id: "s" },
      wrong: "no robot",
      right: id,
      done: "was not switched",
    },
    { tool: "robot_list", input: { limit: 0 }, wrong: "limit", right: "at least 1", done: "Cannot call" },
    {
      tool: "agent__chat",
      input: { message: "x", agent: "cok" },
      wrong: "none of this name",
      right: '"cook"',
      done: "Cannot ask",
    },
    {
      tool: "agent__chat",
      input: { message: "x", messages: [{ role: "user", content: "x" }] },
      wrong: "both",
      right: "Give one",
      done: "Cannot ask",
    },
    { tool: "agent__chat", input: {}, wrong: "no message", right: "Give message", done: "Cannot ask" },
    {
      tool: "agent__chat",
      input: { message: "x", model: "dear" },
      wrong: 'no model "dear"',
      right: "It has",
      done: "Cannot ask",
    },
    {
      tool: "agent__cancel",
      input: { session_id: "none" },
      wrong: "nothing of this session runs",
      right: "nothing of this session runs",
      done: "Nothing was cancelled",
    },
    {
      tool: "save_skill",
      input: { name: "../x", content: "x" },
      wrong: '"../x" is not a valid name',
      right: "such as",
      done: skillNotSaved,
    },
    {
      tool: "save_skill",
      input: { name: "a", content: " " },
      wrong: "is blank",
      right: "Say how",
      done: skillNotSaved,
    },
    {
      tool: "save_skill",
      input: { name: "a", content: "---\nx" },
      wrong: "does not end",
      right: 'Write a line "---"',
      done: skillNotSaved,
    },
    {
      tool: "save_skill",
      input: { name: "a", content: "x" },
      wrong: "has 1 skills",
      right: "delete one",
      done: skillNotSaved,
    },
    {
      tool: "save_skill",
      input: { name: "office/report", content: "x", version: 7 },
      wrong: "not version 7",
      right: "Read it again",
      done: skillNotSaved,
    },
    {
      tool: "get_skill",
      input: { name: "office/repor" },
      wrong: "no skill",
      right: '"office/report"',
      done: "Did you mean",
    },
    {
      tool: "delete_skill",
      input: { name: "zzz" },
      wrong: "no skill",
      right: "office/report",
      done: "was not deleted",
    },
  ];
  /** Calls that a model makes in its turn. */
  const inside: readonly (WrongInput & { readonly agent?: string })[] = [
    { tool: "agent__cok", input: { prompt: "x" }, wrong: "agent__cok", right: "agent__cook", done: "" },
    { tool: "agent__cook", input: {}, wrong: "prompt", right: "required", done: "Cannot call" },
    {
      tool: "agent__clerk",
      input: { prompt: "x" },
      agent: "clerk",
      wrong: "call itself",
      right: "Do this part of the task yourself",
      done: "was not called",
    },
    {
      tool: "router__handoff-to",
      input: { agent: "cok" },
      agent: "clerk",
      wrong: '"cok" is no destination',
      right: "cook",
      done: "was not handed over",
    },
    { tool: "router__handoff-to", input: {}, agent: "clerk", wrong: "agent", right: "required", done: "Cannot call" },
    {
      tool: "agent__final_report",
      input: { status: "success", format: "json", content: "{" },
      agent: "clerk",
      wrong: "JSON",
      right: "Mend that",
      done: "was not taken",
    },
    {
      tool: "agent__final_report",
      input: { status: "great", format: "text", content: "x" },
      agent: "clerk",
      wrong: "status",
      right: "success",
      done: "Cannot call",
    },
    {
      tool: "agent__batch",
      input: { calls: [] },
      agent: "clerk",
      wrong: "calls",
      right: /at least 1|1/,
      done: "Cannot call",
    },
    {
      tool: "agent__batch",
      input: { calls: [{ tool: "shop_hour" }, { tool: "shop_hours", arguments: { html: "x" } }] },
      agent: "clerk",
      wrong: "shop_hour",
      right: "shop_hours",
      done: "nine to five",
    },
    {
      tool: "agent__batch",
      input: { calls: [{ tool: "agent__final_report" }] },
      agent: "clerk",
      wrong: "cannot be part of a batch",
      right: "call it by itself",
      done: '"ok":false',
    },
    { tool: "spawn_subagent", input: {}, wrong: "description", right: "required", done: "Cannot call" },
    {
      tool: "spawn_subagent",
      input: { description: "x", timeout_minutes: 99 },
      wrong: "timeout_minutes",
      right: "15",
      done: "Cannot call",
    },
    {
      tool: "spawn_subagent",
      input: { description: " " },
      wrong: "description is blank",
      right: "Say the whole task",
      done: "no helper was started",
    },
    {
      tool: "cancel_subagent",
      input: { task_id: "0123456789ab" },
      wrong: "no helper",
      right: "It has none",
      done: "nothing was cancelled",
    },
    {
      tool: "whiteboard_read",
      input: { key: "plan" },
      wrong: 'no entry "plan"',
      right: "whiteboard_list",
      done: "The whiteboard has",
    },
    {
      tool: "whiteboard_write",
      input: { key: "plan", content: "x", version: "v1" },
      wrong: 'no entry "plan"',
      right: "version none",
      done: "Nothing was written",
    },
    { tool: "whiteboard_write", input: { key: "plan" }, wrong: "content", right: "required", done: "Cannot call" },
  ];
  const said = (tool: string, input: object) =>
    alice(tool, input).then(({ text, data }) => `${text} ${JSON.stringify(data)}`, words);
  const answers = [
    ...(await Promise.all(outside.map(async (wrong) => ({ wrong, text: await said(wrong.tool, wrong.input) })))),
    ...(await Promise.all(
      inside.map(async (wrong) => {
        const message = JSON.stringify({ name: wrong.tool, input: wrong.input });
        const { text } = await alice("agent__chat", {
          message,
          ...(wrong.agent === undefined ? {} : { agent: wrong.agent }),
        });
        return { wrong, text };
      }),
    )),
  ];
  const silent = answers.flatMap(({ wrong: { tool, input, wrong, right, done }, text }) => {
    const missing = Object.entries({ wrong, right, done }).filter(([, part]) => !has(text, part));
    return missing.length === 0 ? [] : [{ tool, input, missing: missing.map(([name]) => name), text }];
  });
  expect(silent).toEqual([]);
  expect(answers.length).toBeGreaterThanOrEqual(40);
  expect((await alice("robot_list", {})).data["total"]).toBe(2);
  expect(await bob("robot_delete", { robot_id: id }).catch(words)).toContain(
    "You see no robots yet: robot_create makes one",
  );
});
