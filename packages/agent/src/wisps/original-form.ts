import { isRecord } from "@rockbot/base";
import { announcedMcpName, tools } from "@rockbot/contracts";
import { MAX_WISP_CHARS, type WispCall, type WispQuestion, type WispStep } from "./wisp.ts";
import type { ReadSteps, WrittenStep } from "./written-step.ts";

/** Characters of each earlier result that a question has below it if it names no input of its own. */
const MAX_PRIOR_CHARS = 4_000;
const OF_OURS = ["arguments", "ask", "after", "for_each", "when", "on_error", "fallback"] as const;
const RESULT = /(?<!\\)\{\{\s*steps\.([A-Za-z][A-Za-z0-9_-]*)\.(result|output_to)\s*\}\}/g;
const INPUT = /(?<!\\)\{\{\s*input\s*\}\}/g;

/** The step before, for what comes behind it. */
interface Before {
  readonly id: string;
  readonly outputTo: string | undefined;
}

/**
 * Reads steps in the form of the .NET original: each waits for the one before it, a gateway says which tool it is, and
 * `{{steps.ID.result}}` stands for a text. Reading and saving become steps of their own, as nothing but calls has an
 * effect.
 */
export function fromOriginal(
  written: readonly WrittenStep[],
  { place, toolNames }: { readonly place: string; readonly toolNames: readonly string[] },
): ReadSteps {
  const steps: WispStep[] = [];
  const faults: string[] = [];
  const before: Before[] = [];
  for (const [index, step] of written.entries()) {
    const at = `${place}/${index}`;
    const fault = (field: string, why: string): void =>
      void faults.push(`${at}${field === "" ? "" : `/${field}`}: ${why}`);
    if (step.mode === undefined)
      fault("mode", 'is missing, and other steps have it. Give each a mode, "Direct" or "Llm", or none');
    for (const field of OF_OURS)
      if (step[field] !== undefined) fault(field, "is of the other form, in which no step has a mode");
    const onFailure = onFailureOf(step, index, written, fault);
    const shared = { place: at, after: steps.slice(-1).map(({ id }) => id), unlessFailed: skippersOf(index, written) };
    const input = inputOf(step, { index, written, before, fault });
    if (input?.key !== undefined) {
      const call: WispCall = { kind: "call", tool: tools.getFromWorkingMemory.name, arguments: { key: input.key } };
      steps.push({ ...shared, id: input.step, work: call, onError: "stop", isHidden: true });
    }
    const fill = (value: unknown): unknown => translated(value, { before, input: input?.step, fault });
    const work =
      step.mode === "Llm"
        ? questionOf(step, { fill, fault, before, input: input?.step })
        : callOf(step, { fill, fault, toolNames, input: input?.step });
    if (work !== undefined)
      steps.push({ ...shared, after: steps.slice(-1).map(({ id }) => id), id: step.id, work, onError: onFailure });
    const { output_to: outputTo } = step;
    if (outputTo !== undefined) {
      if (outputTo.includes("{{")) fault("output_to", "is a key of working memory as it stands, without references");
      const call: WispCall = {
        kind: "call",
        tool: tools.saveToWorkingMemory.name,
        arguments: { key: outputTo, data: `{{/steps/${step.id}/text}}`, ttl_minutes: 60 },
      };
      steps.push({ ...shared, after: [step.id], id: `${step.id}.output`, work: call, onError: "stop", isHidden: true });
    }
    before.push({ id: step.id, outputTo });
  }
  return { steps, faults };
}

type Complain = (field: string, why: string) => void;

/** A step that jumps on failure goes on; those that it jumps over see to that themselves. */
function onFailureOf(
  { on_failure: wanted }: WrittenStep,
  index: number,
  written: readonly WrittenStep[],
  fault: Complain,
): "stop" | "continue" {
  if (wanted === undefined || wanted.action === "abort") return "stop";
  const target = wanted.skip_to;
  const to = written.findIndex(({ id }) => id === target);
  if (target === undefined) fault("on_failure/skip_to", "is missing: name the step behind this one that goes on");
  else if (to <= index) {
    const later = written.slice(index + 1).map(({ id }) => id);
    fault(
      "on_failure/skip_to",
      `"${target}" is no step behind this one. There ${later.length === 0 ? "is none" : `are: ${later.join(", ")}`}`,
    );
  }
  return "continue";
}

/** Those that jump over a step when they fail. */
const skippersOf = (index: number, written: readonly WrittenStep[]): readonly string[] =>
  written.slice(0, index).flatMap(({ id, on_failure: on }) => {
    const to = on?.action === "skip_to" ? written.findIndex((other) => other.id === on.skip_to) : -1;
    return to > index ? [id] : [];
  });

/** The step whose text is the input: an earlier one, or one that reads a key of working memory. */
function inputOf(
  { id, input_from: from }: WrittenStep,
  {
    index,
    written,
    before,
    fault,
  }: {
    readonly index: number;
    readonly written: readonly WrittenStep[];
    readonly before: readonly Before[];
    readonly fault: Complain;
  },
): { readonly step: string; readonly key?: string | undefined } | undefined {
  if (from === undefined) return undefined;
  const named = /^\{\{\s*steps\.(.+)\.(?:result|output_to)\s*\}\}$/.exec(from)?.[1] ?? from;
  const known = before.find((one) => one.id === named) ?? before.findLast(({ outputTo }) => outputTo === named);
  if (known !== undefined) return { step: known.id };
  if (named !== from || written.slice(index).some((other) => other.id === named))
    fault("input_from", `"${named}" is no step before this one`);
  else if (from.includes("{{"))
    fault("input_from", "names a step before this one, or a key of working memory, and has no other references");
  return { step: `${id}.input`, key: from };
}

interface Translating {
  readonly before: readonly Before[];
  readonly input: string | undefined;
  readonly fault: Complain;
}

/** A template of the original's in our references. */
function translated(value: unknown, parts: Translating): unknown {
  if (Array.isArray(value)) return value.map((item) => translated(item, parts));
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, translated(inner, parts)]));
  if (typeof value !== "string") return value;
  const { before, input, fault } = parts;
  return value
    .replaceAll(RESULT, (whole, id: string, what: string) => {
      const step = before.find((one) => one.id === id);
      if (what === "result" && step !== undefined) return `{{/steps/${id}/text}}`;
      if (step?.outputTo !== undefined) return step.outputTo;
      fault(
        "",
        step === undefined
          ? `${whole}: "${id}" is no step before this one`
          : `${whole}: the step "${id}" has no output_to`,
      );
      return "";
    })
    .replaceAll(INPUT, (whole) => {
      if (input !== undefined) return `{{/steps/${input}/text}}`;
      fault("", `${whole}: the step has no input_from`);
      return "";
    });
}

type Fill = (value: unknown) => unknown;

function questionOf(
  { prompt }: WrittenStep,
  {
    fill,
    fault,
    before,
    input,
  }: {
    readonly fill: Fill;
    readonly fault: Complain;
    readonly before: readonly Before[];
    readonly input: string | undefined;
  },
): WispQuestion | undefined {
  if (prompt === undefined) return void fault("prompt", "is missing: say what the model is to do in this step");
  const inputs =
    input === undefined
      ? before.map(({ id }) => ({ step: id, maxChars: MAX_PRIOR_CHARS }))
      : [{ step: input, maxChars: MAX_WISP_CHARS }];
  return { kind: "ask", prompt: fill(prompt) as string, inputs };
}

function callOf(
  step: WrittenStep,
  {
    fill,
    fault,
    toolNames,
    input,
  }: {
    readonly fill: Fill;
    readonly fault: Complain;
    readonly toolNames: readonly string[];
    readonly input: string | undefined;
  },
): WispCall | undefined {
  const { gateway, server, tool, params = {}, agent, skill, message } = step;
  const need = (values: Readonly<Record<string, unknown>>): boolean => {
    const missing = Object.keys(values).filter((name) => values[name] === undefined);
    for (const name of missing)
      fault(name, `is missing: a step of the gateway ${gateway} needs ${Object.keys(values).join(" and ")}`);
    return missing.length === 0;
  };
  const call = (name: string, args: object): WispCall => ({
    kind: "call",
    tool: name,
    arguments: fill(args) as WispCall["arguments"],
  });
  switch (gateway) {
    case "Mcp": {
      if (!need({ server, tool })) return undefined;
      const announced = announcedMcpName(server ?? "", tool ?? "");
      if (toolNames.includes(announced) || !toolNames.includes(tools.mcpInvokeTool.name))
        return call(announced, params);
      return call(tools.mcpInvokeTool.name, { server_name: server, tool_name: tool, arguments: params });
    }
    case "A2A":
      return need({ agent, message })
        ? call("invoke_agent", { agent_name: agent, ...(skill === undefined ? {} : { skill }), message })
        : undefined;
    case "Script": {
      const takesInput =
        input !== undefined && params["input_data"] === undefined && JSON.stringify(params).search(INPUT) === -1;
      return call(tools.executePythonScript.name, takesInput ? { ...params, input_data: "{{input}}" } : params);
    }
    case "Web": {
      const known = [tools.webSearch.name, tools.webBrowse.name];
      if (!need({ tool })) return undefined;
      if (!known.includes(tool ?? ""))
        return void fault("tool", `"${tool}" is none of the gateway Web. It has: ${known.join(", ")}`);
      return call(tool ?? "", params);
    }
    default:
      return void fault("gateway", "is missing: a Direct step has one of Mcp, A2A, Script and Web");
  }
}
