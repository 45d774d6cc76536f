import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, serveTools } from "@rockbot/tools";

export interface HeldTool extends AsyncDisposable {
  /** How many calls have started, and how many of them have ended. */
  counts(): { readonly started: number; readonly ended: number };
  /** Lets the calls with an even index end, and those to come; or those with an odd one. */
  release(parity: "even" | "odd"): void;
}

/** A tool `{name}` in a service of that name: gives back its argument `index` once the test lets it. */
export async function startHeldTool(busUrl: string, name: string, { concurrency = 128 } = {}): Promise<HeldTool> {
  const definition: ToolDefinition<{ readonly index: number }> = {
    name,
    description: "Gives back its argument when it is told to.",
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: ((value: unknown) => typeof (value as { index?: unknown }).index === "number") as Validator<{
      readonly index: number;
    }>,
  };
  const gates = { even: Promise.withResolvers<void>(), odd: Promise.withResolvers<void>() };
  let started = 0;
  let ended = 0;
  const tool = defineTool(definition, async ({ index }) => {
    started++;
    await gates[index % 2 === 0 ? "even" : "odd"].promise;
    ended++;
    return String(index);
  });
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(await connectBus(busUrl, { name }));
  stack.use(
    await serveTools(
      bus,
      { tools: [tool], guides: [{ name, summary: "Holds.", document: "# Hold" }] },
      { service: name, concurrency },
    ),
  );
  const parts = stack.move();
  return {
    counts: () => ({ started, ended }),
    release: (parity) => gates[parity].resolve(),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
