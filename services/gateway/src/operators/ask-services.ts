import { ToolError } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";

export interface AskServicesParts {
  readonly caller: Pick<ToolCaller, "services">;
  readonly commander: Pick<Commander, "send">;
}

export interface ServicesQuestion {
  /** The kind of the command. */
  readonly kind: string;
  readonly operator: string;
  /** The body for a service; undefined for one that is not asked. */
  readonly bodyOf: (service: string) => object | undefined;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** The answer of one instance of a service. */
export interface ServiceAnswer {
  readonly service: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

/**
 * Gives a command to each instance of the services that run.
 * @returns their answers, and why some did not answer, in words
 */
export async function askServices(
  { caller, commander }: AskServicesParts,
  { kind, operator, bodyOf, timeoutMs }: ServicesQuestion,
): Promise<{ readonly answers: readonly ServiceAnswer[]; readonly problems: readonly string[] }> {
  const served = (await caller.services()).filter(({ isServed }) => isServed);
  const heard = await Promise.all(
    served.map(async ({ service, instances }) => {
      const body = bodyOf(service);
      if (body === undefined) return { answers: [], problems: [] };
      const told = await commander.send({ kind, service, operator, body: { ...body } }, { instances, timeoutMs });
      const named = (message: string) => (message.includes(`"${service}"`) ? message : `"${service}": ${message}`);
      const refusals = told.flatMap((answer) => (answer instanceof ToolError ? [named(answer.message)] : []));
      const silent = told.length < instances ? [`Not all of "${service}" answered in time`] : [];
      return {
        answers: told.flatMap((answer) => (answer instanceof ToolError ? [] : [{ service, answer }])),
        problems: [...refusals, ...silent],
      };
    }),
  );
  return {
    answers: heard.flatMap(({ answers }) => answers),
    problems: [...new Set(heard.flatMap(({ problems }) => problems))],
  };
}
