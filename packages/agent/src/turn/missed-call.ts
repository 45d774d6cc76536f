import type { ModelTool } from "@rockbot/llm";

const FORM =
  /<(?:tool_call|function_call|tool_use|invoke|function)\b|^[ \t]*tool_call_name:|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool▁call▁begin｜>/m;
const ANNOUNCES =
  /\b(?:I(?:'ll| will|'m going to| am going to| need to| should)|let me|now|next,?|first,?|calling|using|invoking)\b[^.!?\n]{0,80}$/i;

/**
 * Tells whether an answer without calls was meant as a call: it has the form of one that cannot be read, or announces
 * one.
 * @param readsProse whether words that announce a call count
 */
export function missedCall(text: string, tools: readonly ModelTool[], readsProse: boolean): boolean {
  if (FORM.test(text)) return true;
  if (!readsProse) return false;
  const end = text.slice(-600);
  return tools.some(({ name }) => {
    const at = name.includes("_") ? end.lastIndexOf(name) : -1; // other names are words
    return at !== -1 && ANNOUNCES.test(end.slice(Math.max(0, at - 120), at));
  });
}
