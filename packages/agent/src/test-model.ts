import type { Model, ModelAnswer, ModelBehavior, ModelRequest } from "@rockbot/llm";

/** One step of a script: an answer, or what makes it of the request. */
export type TestStep = ModelAnswer | ((request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>);

const usage = { inputTokens: 10, outputTokens: 5 };

/** An answer without calls. */
export const said = (text: string, finish: ModelAnswer["finish"] = "stop"): ModelAnswer => ({
  text,
  toolCalls: [],
  finish,
  usage,
});

/** An answer with calls: a name, or a name with its arguments. */
export const called = (
  ...calls: readonly (string | readonly [name: string, args: object | string])[]
): ModelAnswer => ({
  text: "",
  toolCalls: calls.map((call, index) => {
    const [name, args] = typeof call === "string" ? [call, {}] : call;
    return { id: `call_${index}`, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
  }),
  finish: "tool_calls",
  usage,
});

/** An error as the adapters of models throw them. */
export const modelError = (code: string): Error => Object.assign(new Error(`the model says ${code}`), { code });

/**
 * A model for tests that answers by a script, and keeps what it was asked. After the script it repeats the last step.
 */
export function scriptedModel(
  steps: readonly TestStep[],
  behavior: Partial<ModelBehavior> = {},
): { readonly model: Model; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const model: Model = {
    id: "scripted",
    behavior: {
      chunkingThreshold: 64_000,
      contextTokens: 100_000,
      maxIterations: 12,
      usesTextToolCalls: false,
      nudgesOnProse: false,
      ...behavior,
    },
    async answer(request) {
      requests.push({ ...request, messages: [...request.messages] });
      const step = steps[Math.min(requests.length, steps.length) - 1];
      if (step === undefined) throw modelError("unavailable");
      return typeof step === "function" ? await step(request) : step;
    },
  };
  return { model, requests };
}
