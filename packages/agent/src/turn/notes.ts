/** The words that a turn says to its model, beside the user's. */
export const notes = {
  limit: (reason: string): string =>
    `You cannot call tools any more: ${reason}. Answer the user now with what you have, and say what is missing.`,
  handOff: ({
    from,
    agent,
    message,
  }: {
    readonly from: string;
    readonly agent: string;
    readonly message?: string | undefined;
  }): string =>
    `You are "${agent}" now, and go on with this conversation, which "${from}" has handed over to you.${message === undefined ? "" : ` It says: ${message}`}`,
  done: (times: number): string => `the agent has said ${times} times in a row that its task is done`,
  mustCall: (names: readonly string[]): string =>
    `The user's program reads calls alone: end with a call of ${names.map((name) => `"${name}"`).join(" or ")}. You may call other tools before.`,
  oneCall:
    "Not run: the user's program takes one of its calls at a time. Make this one again once it has answered, if it is still needed.",
  form: (schema?: object): string =>
    `The user's program reads your last answer: give JSON alone there, without words or a code block around it. It is ${schema === undefined ? "one object" : `by this JSON Schema: ${JSON.stringify(schema)}`}. You may call tools before.`,
  unfit: (fault: string): string => `Your last answer cannot be used: ${fault}. Give it again, without that fault.`,
  empty: "Your last answer was empty. Answer the user, or call a tool.",
  missedCall:
    "Your last answer has a tool call that cannot be read, or speaks of one, and nothing was called. Call the tool, by its exact name and through the interface for tools, or answer the user.",
} as const;

/** The words that a user reads where the model has none. */
export const ownWords = {
  limit: (reason: string): string => `I have to stop here: ${reason}.`,
  empty: "I have no answer: the model gave none.",
  /** Only the history has it: the user knows. */
  cancelled: "(This question was cancelled before it was answered. It needs no answer any more.)",
  refused: "The model declined to answer.",
  failed: (code: string): string =>
    `I could not answer: ${WORDS[code] ?? "something went wrong"}. Please try again later.`,
} as const;

const WORDS: Readonly<Record<string, string>> = {
  context_overflow: "the conversation is too long for the model",
  rate_limited: "the model takes no more requests at the moment",
  unavailable: "the model cannot be reached",
  unauthorized: "the model does not accept the agent's key",
  invalid_request: "the model does not accept the request",
  interrupted: "the model's answer broke off",
  timeout: "the model has not answered in time",
  unfit_answer: "the model's answer is not what the program has asked for",
  store: "the store of conversations is away",
};
