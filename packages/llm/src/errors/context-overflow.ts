/**
 * How makers and servers say that a request is longer than the model can read. The first group is the limit in tokens,
 * where they name it. Their words are those of the tests beside this file.
 */
const PATTERNS: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM, OpenRouter. https://platform.openai.com/docs/guides/error-codes;
  // vllm/entrypoints/openai/serving_engine.py
  /maximum context length (?:is|of) (\d[\d,]*)/i,
  /context[_ ]length[_ ]exceeded/i,
  // OpenAI's Responses API and Azure. https://github.com/badlogic/pi-mono packages/ai/src/utils/overflow.ts, as the
  // next ones without a source
  /exceeds the context window/i,
  /input tokens exceed the configured limit of (\d[\d,]*)/i,
  // Anthropic. https://docs.anthropic.com/en/docs/build-with-claude/context-windows
  /prompt is too long(?:: [\d,]+ tokens > (\d[\d,]*) maximum)?/i,
  /exceed context limit: [\d,]+ \+ [\d,]+ > (\d[\d,]*)/i,
  // Amazon Bedrock
  /input is too long for requested model/i,
  // Google Gemini
  /input token count.*exceeds the maximum number of tokens allowed \((\d[\d,]*)\)/i,
  // xAI
  /maximum prompt length is (\d[\d,]*)/i,
  // Groq
  /reduce the length of the messages/i,
  /request too large for model.*tokens per minute.*limit (\d[\d,]*)/i,
  // Mistral
  /too large for model with (\d[\d,]*) maximum context length/i,
  // llama.cpp, and what is built on it. tools/server/server.cpp: exceed_context_size_error, with n_ctx beside it
  /exceeds? the available context size(?: \((\d[\d,]*) tokens\))?/i,
  // LM Studio
  /greater than the context length/i,
  /when context the overflows/i,
  // MiniMax, Kimi, GitHub Copilot, Together, Cohere
  /context window exceeds limit/i,
  /exceeded model token limit: (\d[\d,]*)/i,
  /prompt token count of [\d,]+ exceeds the limit of (\d[\d,]*)/i,
  /`inputs` tokens \+ `max_new_tokens` must be <= (\d[\d,]*)/i,
  /too many tokens: size limit exceeded/i,
];

/**
 * Tells whether an error's words say that the request was too long, and if so for how many tokens there is room.
 * @param text message and code of the error, or its whole body
 */
export function contextOverflow(text: string): { readonly limitTokens?: number } | undefined {
  for (const pattern of PATTERNS) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return found[1] === undefined ? {} : { limitTokens: Number(found[1].replaceAll(",", "")) };
  }
  return undefined;
}
