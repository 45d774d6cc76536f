import type { TurnTool } from "@rockbot/agent/plugin";
import type { WispDefinition } from "@rockbot/contracts";
import { inOrder } from "../pipeline/step-order.ts";
import { referencesIn } from "../pipeline/template.ts";
import type { Wisp, WispStep } from "../pipeline/wisp.ts";
import { referenceFaults } from "./reference-faults.ts";
import { stepFaults, toolListFaults } from "./step-faults.ts";

export interface ReadWispOptions {
  /** The tools that the session may use now. */
  readonly tools: readonly TurnTool[];
  /** Why it may not use another that its caller may, in words. @default there is no such tool */
  readonly refusal?: ((name: string) => string | undefined) | undefined;
  /** Where the definition was written. */
  readonly place: string;
  /** JSON Schema of what `/input` leads into. @default there is no input */
  readonly input?: object | undefined;
}

/** A pipeline that can run, or all that is wrong with it. */
export interface ReadWisp {
  readonly wisp: Wisp;
  readonly faults: readonly string[];
  /** Calls and questions that it may lead to. */
  readonly calls: number;
}

/** Reads a pipeline, and checks it as far as that is possible before it runs. */
export function readWisp(
  { description, steps: written, tools: allowed, result }: WispDefinition,
  { tools, refusal, place, input }: ReadWispOptions,
): ReadWisp {
  const at = `${place}/steps`;
  const toolNames = tools.map(({ tool }) => tool.name);
  const { steps, faults } = readSteps(written, at);
  const all = [
    ...doubles(written, at),
    ...faults,
    ...toolListFaults(allowed, { toolNames, place: `${place}/tools` }),
    ...steps.flatMap((step) => stepFaults(step, { tools, refusal, allowed })),
    ...referenceFaults(steps, { result, place, tools, input }),
    ...inOrder(steps).faults,
  ];
  return {
    wisp: { description, steps, result },
    faults: [...new Set(all)],
    calls: steps.reduce((sum, { forEach }) => sum + (forEach?.max ?? 1), 0),
  };
}

/** A step as a model has written it. */
type WrittenStep = WispDefinition["steps"][number];

function readSteps(
  written: readonly WrittenStep[],
  place: string,
): { readonly steps: readonly WispStep[]; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const steps = written.flatMap((step, index): WispStep[] => {
    const at = `${place}/${index}`;
    const fault = (field: string, why: string): void => void faults.push(`${at}/${field}: ${why}`);
    const {
      id,
      tool,
      arguments: args = {},
      ask,
      after = [],
      for_each: forEach,
      when,
      on_error: onError = "stop",
      fallback,
    } = step;
    if (fallback !== undefined && onError === "stop")
      fault("fallback", 'has no effect, as a failure stops the pipeline. Add on_error: "continue"');
    const [reference] = referencesIn(fallback);
    if (reference !== undefined)
      fault("fallback", `stands as it is, and {{${reference.pointer}}} in it would, too. Write the value itself`);
    if (ask !== undefined && step.arguments !== undefined)
      fault("arguments", "are of a tool. A question has references in ask");
    if ((tool === undefined) === (ask === undefined)) {
      faults.push(
        `${at}: has ${tool === undefined ? "neither tool nor ask" : "both tool and ask"}. Give one: tool for a call, ask for a question to a model`,
      );
      if (tool === undefined) return [];
    }
    const work: WispStep["work"] =
      tool === undefined ? { kind: "ask", prompt: ask ?? "" } : { kind: "call", tool, arguments: args };
    return [
      {
        id,
        place: at,
        work,
        after,
        forEach,
        when,
        onError,
        ...(fallback === undefined ? {} : { fallback }),
      },
    ];
  });
  return { steps, faults };
}

const doubles = (written: readonly WrittenStep[], place: string): readonly string[] =>
  written.flatMap(({ id }, index) => {
    const first = written.findIndex((other) => other.id === id);
    return first === index
      ? []
      : [`${place}/${index}/id: "${id}" is the id of steps/${first} already. Give each step its own`];
  });
