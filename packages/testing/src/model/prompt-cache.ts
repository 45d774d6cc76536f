import type { ModelServerRequest } from "./model-script.ts";
import { tokensOf } from "./stream-step.ts";

/** Below this nothing is cached, and OpenAI counts in steps. */
const LEAST_TOKENS = 1024;
const STEP_TOKENS = 128;
/** Anthropic looks for what it has at a breakpoint, and at so many blocks before it. */
const LOOK_BACK = 20;

type Json = Readonly<Record<string, unknown>>;

/** What earlier requests have left, so that a prefix that changes shows as fewer cached tokens. */
export interface PromptCache {
  /**
   * Keeps the request's prompt.
   * @returns how many of its tokens were there already, as the protocol's maker counts them
   */
  use(request: ModelServerRequest): number;
}

/**
 * OpenAI keeps any prefix of what it reads: tools, then messages. Anthropic keeps what stands before a breakpoint, and
 * that only: tools, system, messages.
 * @see https://platform.openai.com/docs/guides/prompt-caching
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
export function createPromptCache(): PromptCache {
  const prompts: string[] = [];
  const prefixes = new Set<string>();
  return {
    use({ protocol, body }) {
      if (protocol === "anthropic") {
        const blocks = blocksBefore(body);
        const found = blocks
          .filter(
            ({ prefix }, index) =>
              prefixes.has(prefix) && blocks.slice(index, index + LOOK_BACK).some(({ isKept }) => isKept),
          )
          .at(-1);
        for (const { prefix, isKept } of blocks) if (isKept) prefixes.add(prefix);
        return enough(tokensOf(found?.prefix ?? ""));
      }
      const prompt = JSON.stringify([body.model, body.tools, body.messages]);
      const longest = Math.max(0, ...prompts.map((earlier) => commonLength(earlier, prompt)));
      prompts.push(prompt);
      return Math.floor(enough(Math.floor(longest / 4)) / STEP_TOKENS) * STEP_TOKENS;
    },
  };
}

const enough = (tokens: number): number => (tokens < LEAST_TOKENS ? 0 : tokens);

/** The prompt up to each of its blocks, without the breakpoints, and whether one stands there. */
function blocksBefore(body: Json): readonly { readonly prefix: string; readonly isKept: boolean }[] {
  let prefix = String(body.model);
  return [...listOf(body.tools), ...listOf(body.system), ...listOf(body.messages).flatMap(blocksOf)].map((block) => {
    const { cache_control: breakpoint, ...rest } = block;
    prefix += JSON.stringify(rest);
    return { prefix, isKept: breakpoint !== undefined };
  });
}

const listOf = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [{ text: value }];

const blocksOf = ({ role, content }: Json): readonly Json[] => listOf(content).map((block) => ({ role, ...block }));

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return end;
}
