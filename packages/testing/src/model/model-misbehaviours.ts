import type { ModelProtocol, ModelScript, ModelStep, ScriptedCall } from "./model-script.ts";

/** One way in which a model, or what stands before it, does not do what it should. */
export interface ModelMisbehaviour {
  /** What the model does, as the end of the sentence "a model that …". */
  readonly name: string;
  /** The protocols in which it can be shown. */
  readonly protocols: readonly ModelProtocol[];
  /** Plays it once; then the model says "Done." for good. An endless one is played for good. */
  readonly script: () => ModelScript;
  /** How often the tool may run at most in one turn; undefined where the loop's own bound is all there is. */
  readonly mostRuns: number | undefined;
}

/** The tool that the models call. */
export interface MisusedTool {
  readonly name: string;
  /** Arguments that it takes. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface Told {
  readonly mostRuns?: number | undefined;
  readonly isEndless?: boolean;
}
type Steps = readonly ModelStep[] | ((index: number) => ModelStep);
type Group = readonly (readonly [name: string, steps: Steps, told?: Told])[];

const BOTH: readonly ModelProtocol[] = ["openai", "anthropic"];
const LONG = "It was a dark and stormy night, and nothing more was to be said of it. ".repeat(6);
const MEGABYTE = 1024 * 1024;

/**
 * The ways in which models misbehave that we have met, or that others report. Each is a script for startModelServer, so
 * that it goes through the real adapters. They say how often the tool may have run, which is what harm is made of; that
 * a turn ends in words is for the test to check.
 */
export function modelMisbehaviours(tool: MisusedTool): readonly ModelMisbehaviour[] {
  const call: ScriptedCall = { name: tool.name, arguments: tool.arguments };
  const everywhere = [
    ...badArguments(call),
    ...badNames(call),
    ...badIds(call),
    ...tooMuch(call),
    ...tooLittle(call),
    ...endings(call),
    ...prose(tool),
    ...providers(),
  ];
  return [
    ...everywhere.map((entry) => misbehaviour(entry, BOTH)),
    ...rawChunks(tool).map((entry) => misbehaviour(entry, ["openai"])),
  ];
}

function misbehaviour([name, steps, told = {}]: Group[number], protocols: readonly ModelProtocol[]): ModelMisbehaviour {
  const { isEndless = false } = told;
  const stepAt = (index: number): ModelStep => {
    if (typeof steps === "function") return steps(index);
    return steps[isEndless ? index % steps.length : index] ?? { text: "Done." };
  };
  const script = (): ModelScript => {
    let index = 0;
    return () => stepAt(index++);
  };
  return { name, protocols, script, mostRuns: "mostRuns" in told ? told.mostRuns : 0 };
}

/** A tool may have been called with what can be read in one way only. */
function badArguments({ name, arguments: given }: ScriptedCall): Group {
  const json = JSON.stringify(given);
  const calls = (text: string): readonly ModelStep[] => [{ toolCalls: [{ name, arguments: text }] }];
  return [
    ["writes arguments that end in the middle", calls(json.slice(0, -1)), { mostRuns: 1 }],
    ["writes arguments in JavaScript", calls(`${json.replaceAll('"', "'").slice(0, -1)},}`), { mostRuns: 1 }],
    ["writes arguments in a code block", calls(`\`\`\`json\n${json}\n\`\`\``), { mostRuns: 1 }],
    ["writes arguments as a text of JSON", calls(JSON.stringify(json)), { mostRuns: 1 }],
    ["writes a list as arguments", calls(`[${json}]`), { mostRuns: 1 }],
    ["writes no arguments at all", calls(""), { mostRuns: 1 }],
    ["writes two objects as arguments", calls(json + json), { mostRuns: 1 }],
    ["writes words as arguments", calls("the usual ones"), { mostRuns: 0 }],
    ["writes null as arguments", calls("null"), { mostRuns: 1 }],
    [
      "writes arguments with a key that leads to a prototype",
      calls(`{"__proto__":{"polluted":true},${json.slice(1)}`),
      { mostRuns: 1 },
    ],
    ["writes arguments with characters that are none", calls(`${json.slice(0, -1)}\u0000\u001b[2J}`), { mostRuns: 1 }],
  ];
}

function badNames({ name, arguments: given }: ScriptedCall): Group {
  const calls = (wrong: string): readonly ModelStep[] => [{ toolCalls: [{ name: wrong, arguments: given }] }];
  return [
    ["calls a tool that nobody has", calls("make_coffee")],
    ["calls a tool by a name with a typing error", calls(`${name}x`), { mostRuns: 1 }],
    ["calls a tool with the prefix of another system", calls(`functions.${name}`), { mostRuns: 1 }],
    ["calls a tool in capital letters", calls(name.toUpperCase()), { mostRuns: 1 }],
    ["calls a tool by a name as long as a page", calls(name.repeat(500))],
    ["calls a tool by a name with signs that no name has", calls("../../etc/passwd\n{{x}}")],
    ["insists on a tool that nobody has", calls("make_coffee"), { isEndless: true }],
  ];
}

function badIds(call: ScriptedCall): Group {
  return [
    [
      "gives two calls one id",
      [
        {
          toolCalls: [
            { ...call, id: "call_0" },
            { ...call, id: "call_0" },
          ],
        },
      ],
      { mostRuns: 2 },
    ],
    [
      "gives the calls of all its answers one id",
      [{ toolCalls: [{ ...call, id: "call_0" }] }, { toolCalls: [{ ...call, id: "call_0" }] }],
      { mostRuns: 2 },
    ],
    [
      "gives an id that no other provider takes",
      [{ toolCalls: [{ ...call, id: `functions.${call.name}:0/${"x".repeat(80)}` }] }],
      { mostRuns: 1 },
    ],
  ];
}

function tooMuch(call: ScriptedCall): Group {
  const hundred = Array.from({ length: 100 }, () => call);
  const numbered = (index: number): ScriptedCall => ({
    name: call.name,
    arguments: { ...(call.arguments as object), attempt: index },
  });
  return [
    ["makes a hundred calls at once", [{ toolCalls: hundred }], { mostRuns: 100 }],
    ["makes the same call for ever", [{ toolCalls: [call] }], { isEndless: true, mostRuns: undefined }],
    ["makes another call for ever", (index) => ({ toolCalls: [numbered(index)] }), { mostRuns: undefined }],
    [
      "says something and makes a call for ever",
      (index) => ({ text: `Attempt ${index}.`, toolCalls: [numbered(index)] }),
      { mostRuns: undefined },
    ],
    ["makes a hundred calls for ever", [{ toolCalls: hundred }], { isEndless: true, mostRuns: undefined }],
    [
      "writes arguments of two megabytes",
      [
        {
          toolCalls: [{ ...call, arguments: { ...(call.arguments as object), text: "x".repeat(2 * MEGABYTE) } }],
          chunkLength: 65_536,
        },
      ],
      { mostRuns: 1 },
    ],
    ["writes a text of two megabytes", [{ text: "All work and no play. ".repeat(100_000), chunkLength: 65_536 }]],
    [
      "repeats one word until it has no more tokens",
      [{ text: "and ".repeat(10_000), chunkLength: 4_000, finish: "length" }],
    ],
  ];
}

function tooLittle(call: ScriptedCall): Group {
  return [
    ["answers with nothing", [{ text: "" }]],
    ["answers with nothing for ever", [{ text: "" }], { isEndless: true }],
    ["answers a result with nothing", [{ toolCalls: [call] }, { text: "" }], { mostRuns: 1 }],
    ["answers with spaces", [{ text: " \n \t " }]],
    ["says that it calls tools, and calls none", [{ text: "I call them.", finish: "tool_calls" }]],
    ["has thought so long that nothing is left to say", [{ reasoning: LONG, finish: "length" }]],
  ];
}

function endings(call: ScriptedCall): Group {
  return [
    ["refuses at once", [{ refusal: "I cannot help with that." }]],
    ["refuses in the middle", [{ text: LONG, refusal: "I cannot go on with this." }]],
    ["is stopped by a filter in the middle", [{ text: LONG, finish: "content_filter" }]],
    ["makes a call and refuses it", [{ toolCalls: [call], finish: "content_filter" }]],
    [
      "has no more tokens in the middle of its arguments",
      [{ toolCalls: [{ name: call.name, arguments: '{"text":"half' }], finish: "length" }],
      { mostRuns: 0 },
    ],
    ["makes a call, and says that it has ended", [{ toolCalls: [call], finish: "stop" }], { mostRuns: 1 }],
    ["ends for a reason that nobody knows", [{ text: "So be it.", finish: "because" }]],
    ["breaks off in the middle of a text", [{ text: LONG, cutAfter: 6 }]],
    ["breaks off in the middle of a text for ever", [{ text: LONG, cutAfter: 6 }], { isEndless: true }],
    [
      "breaks off in the middle of its arguments",
      [{ toolCalls: [{ ...call, arguments: { ...(call.arguments as object), text: LONG } }], cutAfter: 6 }],
    ],
    ["stops in the middle as if that were all", [{ text: LONG, endAfter: 6 }]],
    ["stands still in the middle", [{ text: LONG, stallAfter: 6 }]],
  ];
}

/**
 * Calls in the text. The loop reads some of these forms; each of them once at most, and none that is only spoken of.
 */
function prose({ name, arguments: given }: MisusedTool): Group {
  const json = JSON.stringify(given);
  const said = JSON.stringify({ name, arguments: given });
  const parameters = Object.entries(given).map(
    ([key, value]) =>
      `<parameter name="${key}">${typeof value === "string" ? value : JSON.stringify(value)}</parameter>`,
  );
  const once = { mostRuns: 1 };
  return [
    ["writes a call as Hermes and Qwen do", [{ text: `<tool_call>\n${said}\n</tool_call>` }], once],
    ["writes a call as Llama does", [{ text: `<|python_tag|>${JSON.stringify({ name, parameters: given })}` }], once],
    ["writes a call as Mistral does", [{ text: `[TOOL_CALLS][${said}]` }], once],
    [
      "writes a call as DeepSeek does",
      [
        {
          text: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
        },
      ],
      once,
    ],
    [
      "writes a call as Claude does",
      [{ text: `<function_calls>\n<invoke name="${name}">\n${parameters.join("\n")}\n</invoke>\n</function_calls>` }],
      once,
    ],
    ["writes a call in two lines", [{ text: `tool_call_name: ${name}\ntool_call_arguments: ${json}` }], once],
    ["writes a call as a block of JSON", [{ text: `I shall look.\n\n\`\`\`json\n${said}\n\`\`\`` }], once],
    ["writes a call as Python", [{ text: `\`\`\`python\nprint(${name}(**${json}))\n\`\`\`` }], once],
    ["writes half of a call", [{ text: `<tool_call>\n${said.slice(0, -3)}` }], once],
    ["announces a call, and makes none", [{ text: `I will now use ${name} to find out.` }]],
    [
      "makes up the result of a call",
      [{ text: `Action: ${name}\nAction Input: ${json}\nObservation: All is well.\nFinal Answer: All is well.` }],
      once,
    ],
    [
      "explains how a call would look",
      [{ text: `To call it, one would write \`${said}\` and wait. I have not done so, as you did not ask for it.` }],
      { mostRuns: 0 },
    ],
    [
      "thinks aloud of a call that it does not make",
      [{ text: `<think>I could write <tool_call>${said}</tool_call>, but I need not.</think>It is noon.` }],
      { mostRuns: 0 },
    ],
  ];
}

function providers(): Group {
  return [
    ["fails", [{ status: 500 }]],
    ["fails for ever", [{ status: 503 }], { isEndless: true }],
    ["fails in the middle", [{ text: LONG, errorAfter: 6, status: 503 }]],
    ["takes no more requests for an hour", [{ status: 429, headers: { "retry-after": "3600" } }], { isEndless: true }],
    [
      "finds each request too long",
      [{ status: 400, error: { message: "prompt is too long: 9001 tokens > 9000 maximum" } }],
      { isEndless: true },
    ],
    ["says with status 200 that it has failed", [{ json: { error: { message: "No capacity", code: 503 } } }]],
    [
      "does not stream",
      [{ json: { choices: [{ message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }] } }],
      { isEndless: true },
    ],
  ];
}

/**
 * What only the bytes on the wire can show, in OpenAI's protocol: what servers that call themselves compatible have
 * sent.
 */
function rawChunks({ name, arguments: given }: MisusedTool): Group {
  const json = JSON.stringify(given);
  const chunk = (delta: unknown, finish: string | null = null): string =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const called = (call: object): readonly ModelStep[] => [
    { raw: [chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls")] },
  ];
  const two = (index: number, rest: object): object => ({ tool_calls: [{ index, ...rest }] });
  return [
    ["makes a call without a name", called({ index: 0, id: "a", function: { arguments: json } })],
    ["makes a call with an empty name", called({ index: 0, id: "a", function: { name: "", arguments: json } })],
    ["makes a call without an id", called({ index: 0, function: { name, arguments: json } }), { mostRuns: 1 }],
    ["makes a call without an index", called({ id: "a", function: { name, arguments: json } }), { mostRuns: 1 }],
    [
      "sends arguments as an object",
      called({ index: 0, id: "a", function: { name, arguments: given } }),
      { mostRuns: 1 },
    ],
    ["sends a call of an unknown kind", called({ index: 0, id: "a", type: "custom", custom: { name, input: json } })],
    [
      "mixes the pieces of two calls",
      [
        {
          raw: [
            chunk(two(1, { id: "b", function: { name, arguments: json.slice(0, 3) } })),
            chunk(two(0, { id: "a", function: { name, arguments: json.slice(0, 2) } })),
            chunk(two(1, { function: { arguments: json.slice(3) } })),
            chunk(two(0, { function: { arguments: json.slice(2) } })),
            chunk({}, "tool_calls"),
          ],
        },
      ],
      { mostRuns: 2 },
    ],
    [
      "sends null where a text should be",
      [{ raw: [chunk({ role: "assistant", content: null }), chunk({ content: null }, "stop")] }],
    ],
    ["speaks in a role that nobody knows", [{ raw: [chunk({ role: "robot", content: "Beep." }), chunk({}, "stop")] }]],
    [
      "sends what is not JSON",
      [{ raw: [chunk({ content: "Hel" }), '{"choices":[{"delta":{"content":"lo', chunk({}, "stop")] }],
    ],
    ["sends JSON that is no answer", [{ raw: ['"hello"', "[]", "7", chunk({}, "stop")] }]],
    ["sends no choices", [{ raw: ['{"choices":[]}', '{"choices":[]}'] }]],
    ["sends an error as a text", [{ raw: [chunk({ content: "Hel" }), '{"error":"the runner has stopped"}'] }]],
    ["forgets to say that it has ended", [{ raw: [chunk({ role: "assistant", content: "Hello." })] }]],
    ["sends a number as its words", [{ raw: [chunk({ role: "assistant", content: 42 }), chunk({}, "stop")] }]],
  ];
}
