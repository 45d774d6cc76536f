import { isRecord } from "@rockbot/base";
import { canonicalJson, describeFaults, faultsText, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type Answer, hashOf, MAX_ASKED_BYTES, type Question } from "@rockbot/runs";
import type { AskedOf } from "../define/tool-executor.ts";

/** Ends a run that waits for a person's answer, from inside the tool. A tool lets it pass. */
export class AskedError extends Error {
  override readonly name = "AskedError";
  readonly question: Question;

  constructor(question: Question) {
    super(`The tool waits for a person's answer: ${question.message}`);
    this.question = question;
  }
}

/** Has a call join its record: another delivery of it has left it there. */
export class RecordedError extends Error {
  override readonly name = "RecordedError";
  /** What is so if there is no such record. */
  readonly otherwise: ToolError;

  constructor(otherwise: ToolError) {
    super("The call has a record");
    this.otherwise = otherwise;
  }
}

/** The questions of one run of a tool. Each run begins with the answers of those before. */
export class Questions {
  readonly #answers: readonly Answer[];
  readonly #canAsk: boolean;
  #asked = 0;
  #hasBegun = false;

  /** @param canAsk whether anybody can answer */
  constructor(answers: readonly Answer[] = [], { canAsk }: { readonly canAsk: boolean }) {
    this.#answers = answers;
    this.#canAsk = canAsk;
  }

  /**
   * The person's answer. The run ends if there is none yet, and the tool runs again from its beginning with the answer.
   * @throws {AskedError} to end the run
   * @throws {ToolError} if the tool has begun its effects, or the question cannot be asked
   */
  async ask<Value>({ message, schema, validate, origin, key }: AskedOf<Value>): Promise<Value> {
    if (this.#hasBegun) throw cannotAsk("it has begun its effects, which would happen twice");
    if (!this.#canAsk) throw cannotAsk("nobody can answer here, as no operators are known");
    const secret = secretIn(schema);
    if (secret !== undefined) throw cannotAsk(`people do not type secrets into a form, such as "${secret}"`);
    const hash = hashOf(canonicalJson({ at: key ?? this.#asked++, message, schema }));
    const answer = this.#answers.find((each) => each.hash === hash);
    if (answer?.isDeclined) throw declined();
    if (answer !== undefined && validate(answer.value)) return answer.value;
    const faults =
      answer === undefined
        ? undefined
        : faultsText(describeFaults(validate, schema, answer.value)) || "it does not fit the schema";
    const question: Question = { hash, message, schema, origin, faults };
    if (JSON.stringify([question, this.#answers]).length > MAX_ASKED_BYTES)
      throw cannotAsk(`its questions and answers have more than ${MAX_ASKED_BYTES} characters`);
    throw new AskedError(question);
  }

  /** Says that the tool has effects from here on. Then it asks nothing more. */
  begins(): void {
    this.#hasBegun = true;
  }
}

const cannotAsk = (why: string): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, `The tool cannot ask a person: ${why}.`, {
    details: { reason: "cannot_ask" },
  });

const declined = (): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    "The tool asked a person, who does not want to answer, and goes no further. Do without it, or find out what the person wants.",
    { details: { reason: "declined" } },
  );

const SECRET = /passw|secret|token|api[-_ ]?key|private[-_ ]?key|credential/i;
const MAX_DEPTH = 8;

/** The name of a property by which a form asks for a secret. */
function secretIn(schema: unknown, depth = 0): string | undefined {
  if (!isRecord(schema) || depth > MAX_DEPTH) return undefined;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  for (const [name, property] of Object.entries(properties)) {
    const found = SECRET.test(name) ? name : secretIn(property, depth + 1);
    if (found !== undefined) return found;
  }
  return schema["format"] === "password" ? "password" : undefined;
}
