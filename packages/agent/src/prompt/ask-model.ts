import { LightAbort, onAbort } from "@rockbot/base";
import type { AnswerForm, Model, ModelAnswer, ModelRequest, ModelTool } from "@rockbot/llm";
import { pricedUsage } from "@rockbot/llm/priced-usage";
import type { Conversation } from "./conversation.ts";
import { textForm } from "./text-form.ts";

export interface AskModelOptions {
  readonly model: Model;
  readonly conversation: Conversation;
  readonly tools: readonly ModelTool[];
  readonly toolChoice: NonNullable<ModelRequest["toolChoice"]>;
  readonly form: AnswerForm | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly cacheKey: string;
  readonly signal: AbortSignal;
  /** The deadline on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly onText: (delta: string) => void;
  /**
   * Says something about the answer that those who follow the turn should know.
   * @param dropsText whether its text so far counts no more
   */
  readonly notice: (text: string, dropsText?: boolean) => void;
}

/** The tokens left in the context window for an answer, if no setting says. */
const ANSWER_TOKENS = 4_096;

/**
 * Asks the model once. A conversation that proves too long is trimmed, and asked about once more; so is an answer that
 * broke off.
 * @throws what the model throws, or the signal's reason
 */
export async function askModel(options: AskModelOptions): Promise<ModelAnswer> {
  const { model, conversation, tools, maxOutputTokens, notice } = options;
  const { contextTokens } = model.behavior;
  const roomIn = (tokens: number): number => tokens - Math.min(maxOutputTokens ?? ANSWER_TOKENS, tokens / 4);
  await conversation.fit(roomIn(contextTokens), tools);
  try {
    return await ask(options);
  } catch (error) {
    options.signal.throwIfAborted();
    const code = codeOf(error);
    const limit = limitOf(error);
    if (
      code === "context_overflow" &&
      (await conversation.trimForOverflow(limit === undefined ? undefined : roomIn(limit), tools))
    )
      notice("The conversation was too long for the model: results were shortened.");
    else if (code === "interrupted") notice("The model's answer broke off. It is asked again.", true);
    else throw error;
    return await ask(options);
  }
}

/** The code of a model's error. */
export const codeOf = (error: unknown): string | undefined => {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
};

/** What the model can read, if its error says so. */
const limitOf = (error: unknown): number | undefined => {
  const limit = typeof error === "object" && error !== null && "limitTokens" in error ? error.limitTokens : undefined;
  return typeof limit === "number" ? limit : undefined;
};

async function ask(options: AskModelOptions): Promise<ModelAnswer> {
  const { model, conversation, tools, toolChoice, form, maxOutputTokens, cacheKey, signal, deadline, onText } = options;
  const isText = model.behavior.usesTextToolCalls;
  return askOnce(model, {
    messages: isText ? textForm(conversation.messages, toolChoice === "none" ? [] : tools) : conversation.messages,
    ...(tools.length === 0 || isText ? {} : { tools, toolChoice }),
    ...(form !== undefined && model.behavior.holdsForm ? { form } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    cacheKey,
    signal,
    deadline,
    onText,
  });
}

/** Asks for one answer, and no longer than said: a model that ignores its signal and its deadline is left alone. */
export async function askOnce(
  model: Model,
  request: ModelRequest & { readonly signal: AbortSignal; readonly deadline: number },
): Promise<ModelAnswer> {
  const { signal, deadline } = request;
  const cut = new LightAbort();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const leave = onAbort(signal, () => reject(signal.reason));
  const timer = setTimeout(
    () => reject(new ModelLateError("The model has not answered in time")),
    Math.max(0, deadline - performance.now()),
  );
  const onText = (delta: string): void => {
    if (!cut.aborted) request.onText?.(delta);
  };
  try {
    const answer = await Promise.race([model.answer({ ...request, onText }), late]);
    return { ...answer, usage: pricedUsage(answer.usage, model.behavior.price) };
  } finally {
    cut.abort(undefined);
    clearTimeout(timer);
    leave();
  }
}

class ModelLateError extends Error {
  override readonly name = "ModelLateError";
  readonly code = "timeout";
}
