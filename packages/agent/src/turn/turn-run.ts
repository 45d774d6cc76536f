import { unlessAborted } from "@rockbot/base";
import { BusClosedError, type Logger } from "@rockbot/bus";
import { ToolErrorCode, type TurnFinish } from "@rockbot/contracts";
import type { ModelAnswer, ModelTool } from "@rockbot/llm";
import { pricedUsage } from "@rockbot/llm/priced-usage"; // alone: an agent of a program's own model needs no SDK of a model
import { keepWhole, type OwnedMemory, sessionNamespace } from "@rockbot/memory";
import { StoreUnavailableError } from "@rockbot/records";
import type { Spending } from "../budget/spending.ts";
import type { TurnBudget } from "../budget/turn-budget.ts";
import { callIdOf } from "../calls/call-id.ts";
import type { CallRunner } from "../calls/call-runner.ts";
import { readCalls } from "../calls/read-calls.ts";
import type { ParentCall, TurnTool } from "../calls/turn-tools.ts";
import type { UntrustedMark } from "../calls/untrusted-mark.ts";
import { askModel, codeOf } from "../prompt/ask-model.ts";
import type { Conversation } from "../prompt/conversation.ts";
import { outcomeText } from "../prompt/outcome-line.ts";
import { resultText } from "../prompt/result-text.ts";
import type { HeldTurn } from "../store/held-turn.ts";
import type { TurnEvents } from "../store/turn-events.ts";
import { TurnLostError } from "../store/turn-lost-error.ts";
import type { StoredAnswer, StoredCall, StoredResult } from "../store/turn-store.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { LargeResult, TurnRequest, TurnResult } from "../words/turn.ts";
import { inForm } from "./answer-form.ts";
import { FailureStreak } from "./failure-streak.ts";
import { missedCall } from "./missed-call.ts";
import { notes, ownWords } from "./notes.ts";
import { DoneStreak, handOffIn, type MadeCall, madeCalls, reportIn } from "./own-calls.ts";
import { clientCallId, type KeptSteps, type OwnStep } from "./own-steps.ts";
import { showUntil } from "./show-until.ts";
import type { Role, TurnRoles } from "./turn-roles.ts";

// Many because: a run holds on to all that its turn has, each a thing of its own.
export interface TurnRunOptions {
  readonly request: TurnRequest;
  readonly held: HeldTurn;
  /** What it begins as. */
  readonly role: Role;
  readonly roles: TurnRoles;
  readonly conversation: Conversation;
  readonly events: TurnEvents;
  readonly runner: CallRunner;
  readonly budget: TurnBudget;
  /** Aborts when this process stops: the turn is left for another. */
  readonly stopping: AbortSignal;
  readonly mark: UntrustedMark;
  /** @default none: callers may spend what they like */
  readonly spending: Spending | undefined;
  readonly keptSteps: Pick<KeptSteps, "keep">;
  /** The working memory of the turn's caller, and the session whose it uses. */
  readonly memory: OwnedMemory;
  readonly memorySessionId: string;
  readonly log: Logger;
}

/** An answer without calls that did not end the turn. */
interface Retried {
  readonly text: string;
  readonly why: "empty" | "missedCall";
}

/** A turn's result names at most so many results that were too large for the model. */
const MAX_LARGE_RESULTS = 100;

/** One run of a turn, from its first question to the model, or from what an earlier run has left. */
export class TurnRun {
  readonly #options: TurnRunOptions;
  #role: Role;
  /** All that the model is offered: the client's own tools first. */
  #offered: readonly ModelTool[] = [];
  /** All that it can call. */
  #callable: readonly ModelTool[] = [];
  /** The definition that the newest kept answer was given as. */
  #kept: AgentDefinition | undefined;
  readonly #done = new DoneStreak();
  /**
   * Cancels the turn's calls. A process that stops leaves them running: the next one that takes the turn up finds them
   * by their ids.
   */
  readonly #cancel = new AbortController();
  /** Ends this run's waits. */
  readonly #signal: AbortSignal;
  readonly #streak = new FailureStreak();
  readonly #retried: Retried[] = [];
  readonly #largeResults: LargeResult[] = [];
  /** The answers with calls so far. */
  readonly #steps: OwnStep[] = [];
  /** True if the turn ends with a call of its client. */
  readonly #mustCall: boolean;
  /** The client cannot use the last answer: the model is asked once more, for nothing else. */
  #isUnfit = false;
  /** Why no further calls are made, once a call has shown it. */
  #stop: string | undefined;

  constructor(options: TurnRunOptions) {
    this.#options = options;
    this.#role = options.role;
    this.#take(options.role);
    this.#signal = AbortSignal.any([this.#cancel.signal, options.held.lost, options.stopping]);
    const { mustCall = false, clientTools = [], form } = options.request;
    this.#mustCall = mustCall && clientTools.length > 0;
    if (this.#mustCall) options.conversation.addToQuestion(notes.mustCall(clientTools.map(({ name }) => name)));
    else if (form !== undefined) options.conversation.addToQuestion(notes.form(form.schema));
  }

  /** True if the client gets no text before it is checked. */
  get #isChecked(): boolean {
    return this.#mustCall || this.#options.request.form !== undefined;
  }

  #take(role: Role): void {
    const { clientTools = [] } = this.#options.request;
    const withClients = (own: readonly TurnTool[]): ModelTool[] => {
      const rest = own.filter(({ tool }) => !clientTools.some(({ name }) => name === tool.name));
      return [...clientTools, ...rest.map(({ tool }) => tool)];
    };
    this.#role = role;
    this.#offered = withClients(role.tools.offered);
    this.#callable = withClients(role.tools.all);
  }

  /** @throws what says that this run is over, though its turn is not: TurnLostError, BusClosedError */
  async run(): Promise<TurnResult> {
    const { request, held } = this.#options;
    const onAbort = (): void => {
      if (!isStop(request.signal.reason)) this.#cancel.abort(request.signal.reason);
    };
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    try {
      return await this.#loop();
    } catch (error) {
      if (isStop(error) || held.lost.aborted) throw error;
      if (this.#cancel.signal.aborted)
        return { ...this.#result("", "failed", "The turn was cancelled."), code: ToolErrorCode.Cancelled };
      return this.#failed(error);
    } finally {
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  async #loop(): Promise<TurnResult> {
    const { ended } = this.#options.request;
    if (ended !== undefined) await this.#hear(ended);
    for (let iteration = 0; ; iteration++) {
      const answer = await this.#answer(iteration);
      this.#options.budget.count(answer.usage);
      if (answer.toolCalls.length === 0) {
        const result = await this.#ended(answer);
        if (result !== undefined) return result; // which the turn's end keeps
        await this.#keep(iteration, answer);
        continue;
      }
      if (answer.toolCalls.some((call) => this.#isClients(call))) return this.#handOver(iteration, answer);
      await this.#keep(iteration, answer);
      this.#options.conversation.addAnswer(answer);
      const results = await this.#runCalls(iteration, answer.toolCalls);
      for (const [index, call] of answer.toolCalls.entries())
        this.#read(call, results[index] as StoredResult, callIdOf({ ...this.#options.request, iteration, index }));
      this.#steps.push({ answer, results });
      this.#stop = this.#streak.add(
        answer.toolCalls.map(({ name, arguments: args }, index) => ({
          name,
          args,
          isError: results[index]?.isError === true,
        })),
      );
      const result = await this.#afterOwnCalls(madeCalls(answer, results));
      if (result !== undefined) return result;
    }
  }

  /** Has the model read the result of a call that has ended, as that of one it has just made. */
  async #hear(call: StoredCall): Promise<void> {
    const { conversation, held, runner, events, request } = this.#options;
    const { id: callId, name, arguments: args } = call;
    const turn = { tools: this.#role.tools, events, parent: this.#parentOf(0), toldIn: toldInOf(request) };
    const known = held.result(callId);
    const result = known ?? (await unlessAborted(runner.run({ callId, name, arguments: args }, turn), this.#signal));
    if (known === undefined) held.addResult(callId, result);
    conversation.addAnswer({ text: "", toolCalls: [call] });
    this.#read(call, result, callId);
  }

  /** What calls about the session itself lead to: the end of the turn, or another role. */
  async #afterOwnCalls(made: readonly MadeCall[]): Promise<TurnResult | undefined> {
    if (this.#role.definition === undefined) return undefined;
    const report = reportIn(made);
    if (report !== undefined) return this.#checked({ text: report.content }, { report });
    const to = handOffIn(made);
    const next = to === undefined ? undefined : this.#options.roles.find(to.agent);
    if (to !== undefined && next !== undefined) {
      this.#goOnAs(next, notes.handOff({ ...to, from: this.#role.definition.name }));
      await this.#options.roles.remember(next);
    }
    this.#stop ??= this.#done.add(made);
    return undefined;
  }

  /** The next question to the model is another agent's. */
  #goOnAs(definition: AgentDefinition, note: string): void {
    const { conversation, events } = this.#options;
    this.#become(definition);
    conversation.addNote(note);
    events.emit({ kind: "notice", text: `"${definition.name}" goes on with the conversation.` });
  }

  #become(definition: AgentDefinition): void {
    const { roles, conversation } = this.#options;
    const role = roles.become(definition);
    this.#take(role);
    conversation.setRules(role.system, role.model.behavior.takesImages);
    if (role.playbook !== undefined) conversation.addNote(role.playbook);
  }

  /**
   * The end of a turn that goes on in the client's next request. The agent's own calls of the answer are made before.
   */
  async #handOver(iteration: number, read: StoredAnswer): Promise<TurnResult> {
    const { request, keptSteps, memorySessionId: sessionId, log } = this.#options;
    const hasOwn = this.#steps.length > 0 || !read.toolCalls.every((call) => this.#isClients(call));
    const withId = (call: StoredCall, index: number): StoredCall =>
      hasOwn && this.#isClients(call) ? { ...call, id: clientCallId({ ...request, iteration, index }) } : call;
    const answer = { ...read, toolCalls: read.toolCalls.map(withId) };
    const toolCalls = answer.toolCalls
      .filter((call) => this.#isClients(call))
      .map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
    if (!hasOwn) return { ...this.#result(answer.text, "tool_calls"), toolCalls };
    await this.#keep(iteration, answer);
    const results = await this.#runCalls(iteration, answer.toolCalls);
    for (const result of results) if (result !== null) this.#options.mark.read(result);
    try {
      await keptSteps.keep(request.caller, toolCalls[0]?.id ?? "", {
        sessionId,
        steps: [...this.#steps, { answer, results }],
      });
    } catch (error) {
      log.warn({ error: String(error) }, "could not keep what a turn did before its client's calls");
      const lost =
        "the agent could not keep the results of its own tools: its next answer begins without them, and it may call them again";
      return { ...this.#result(answer.text, "tool_calls", lost), toolCalls };
    }
    return { ...this.#result(answer.text, "tool_calls"), toolCalls };
  }

  /** The result of a turn whose model calls nothing any more; undefined if it is to be asked once more. */
  async #ended(answer: StoredAnswer): Promise<TurnResult | undefined> {
    const { conversation, events } = this.#options;
    const { model } = this.#role;
    const { text, finish, limit } = answer;
    const isEmpty = text.trim() === "" && answer.isCut !== true;
    if (finish === "refused")
      return this.#result(isEmpty ? this.#say(ownWords.refused) : text, "refused", "the model declined to answer");
    if (this.#isChecked && finish !== "length" && (!isEmpty || limit !== undefined)) {
      conversation.addAnswer(answer);
      return this.#checked(answer);
    }
    if (limit !== undefined) return this.#result(text.trim() || this.#say(ownWords.limit(limit)), "limit", limit);
    const why = isEmpty
      ? "empty"
      : missedCall(text, this.#callable, model.behavior.nudgesOnProse)
        ? "missedCall"
        : undefined;
    const isFirst = !this.#retried.some((before) => before.why === why);
    if (why === undefined || !isFirst || finish === "length") {
      const earlier = this.#retried.find((before) => before.text.trim() !== "")?.text;
      if (!isEmpty) return this.#result(text, finish === "length" ? "length" : "stop");
      if (earlier !== undefined) return this.#result(this.#say(earlier), "stop"); // which was dropped as it was asked again
      return this.#result(
        this.#say(ownWords.empty),
        finish === "length" ? "length" : "failed",
        "the model gave no answer",
      );
    }
    this.#retried.push({ text, why });
    if (why === "empty") events.emit({ kind: "notice", text: "The model's answer was empty. It is asked again." });
    else
      events.emit({
        kind: "notice",
        text: "The model spoke of a call and made none. It is asked again.",
        dropsText: true,
      });
    conversation.addAnswer(answer);
    conversation.addNote(notes[why]);
    return undefined;
  }

  /**
   * The result of a turn whose client can use the last answer, or report; undefined if the model is asked once more.
   */
  async #checked(
    { text, limit }: Pick<StoredAnswer, "text" | "limit">,
    more: Pick<TurnResult, "report"> = {},
  ): Promise<TurnResult | undefined> {
    const { conversation, events, request } = this.#options;
    const inItsForm = async () => (request.form === undefined ? { json: text } : inForm(text, request.form));
    const read = this.#mustCall ? { fault: "it calls none of the program's tools" } : await inItsForm();
    if ("json" in read)
      return { ...this.#result(this.#say(read.json), limit === undefined ? "stop" : "limit", limit), ...more };
    if (this.#isUnfit) return this.#unfit(read.fault);
    this.#isUnfit = true;
    events.emit({ kind: "notice", text: "The model's answer is not as the program wants it. It is asked again." });
    conversation.addNote(notes.unfit(read.fault));
    return undefined;
  }

  #unfit(fault: string): TurnResult {
    const code = "unfit_answer";
    return {
      ...this.#result(
        this.#say(ownWords.failed(code)),
        "failed",
        `the model's last answer is not what the request asks for: ${fault}`,
      ),
      code,
    };
  }

  /** The answer that is kept, or a new one. */
  async #answer(iteration: number): Promise<StoredAnswer> {
    const { held, budget, mark, spending, request } = this.#options;
    const known = held.answer(iteration);
    if (known?.isMarked) mark.set(undefined); // also where what marked it is not there any more, such as a hint
    if (known?.definition !== undefined && known.definition.hash !== this.#role.definition?.hash)
      this.#become(known.definition); // as it was then
    if (known !== undefined) return known;
    const refusal = spending === undefined ? undefined : await spending.refusal(request.caller);
    const limit = this.#stop ?? budget.limit(iteration) ?? refusal; // at once with holding what the question may use up
    if (limit !== undefined) return this.#lastAnswer(limit, iteration);
    try {
      const answer = await this.#ask("auto", budget.toolsDeadline);
      const read = this.#readCalls(answer, iteration);
      return mark.isSet ? { ...read, isMarked: true } : read;
    } catch (error) {
      const isLate = codeOf(error) === "timeout" && !this.#signal.aborted;
      if (isLate && budget.limit(iteration) !== undefined)
        return this.#lastAnswer("the time of this turn is used up", iteration);
      throw error;
    }
  }

  #readCalls(answer: ModelAnswer, iteration: number): StoredAnswer {
    const { conversation, request } = this.#options;
    const { refusal, isDenied } = this.#role.tools;
    const read = readCalls(answer, {
      tools: this.#callable,
      refusal,
      isDenied,
      results: conversation.results,
      iteration,
    });
    if (request.oneCall !== true) return read;
    const first = read.toolCalls.find((call) => this.#isClients(call));
    return {
      ...read,
      toolCalls: read.toolCalls.map((call) =>
        this.#isClients(call) && call !== first ? { ...call, refusal: notes.oneCall } : call,
      ),
    };
  }

  /** The answer to what is known by now, in the model's words, or in ours if it has none. */
  async #lastAnswer(limit: string, iteration: number): Promise<StoredAnswer> {
    const { conversation, budget, events, mark, log } = this.#options;
    this.#isUnfit ||= this.#mustCall; // which asks for the client's call alone
    if (!this.#mustCall) conversation.addNote(notes.limit(limit));
    events.emit({ kind: "notice", text: `No further tools are called: ${limit}.` });
    let answer: StoredAnswer = {
      text: "",
      toolCalls: [],
      finish: "stop",
      usage: { inputTokens: 0, outputTokens: 0 },
      limit,
    };
    try {
      const said = await this.#ask("none", budget.deadline);
      const toolCalls = this.#mustCall
        ? this.#readCalls(said, iteration).toolCalls.filter((call) => this.#isClients(call))
        : [];
      answer = { ...said, toolCalls, limit, ...(mark.isSet ? { isMarked: true } : {}) };
    } catch (error) {
      this.#signal.throwIfAborted();
      log.debug({ error: String(error) }, "a turn at its limit has no last answer");
    }
    return answer;
  }

  /** Keeps an answer before anything follows from it. */
  async #keep(iteration: number, answer: StoredAnswer): Promise<void> {
    const { held } = this.#options;
    const { definition } = this.#role;
    if (held.answer(iteration) === undefined)
      await held.addAnswer(definition === this.#kept ? answer : { ...answer, definition });
    this.#kept = definition;
  }

  async #ask(toolChoice: "auto" | "none", deadline: number): Promise<Omit<StoredAnswer, "limit">> {
    const { conversation, events, request, budget } = this.#options;
    const { model } = this.#role;
    const { form, stop, clientTools = [] } = request;
    const isForced = this.#isUnfit && this.#mustCall;
    const tools = isForced ? clientTools : this.#offered;
    const tokens = conversation.tokens(tools);
    using _reserved = budget.reserve({
      tokens,
      cost: pricedUsage({ inputTokens: tokens, outputTokens: 0 }, model.behavior.price).cost ?? 0,
    });
    let isTold = false;
    let show = showUntil(stop);
    const tell = (text: string): void => {
      if (text !== "" && !this.#isChecked) events.text(text);
    };
    const drop = (text: string): void => {
      isTold = false;
      show = showUntil(stop);
      events.emit({ kind: "notice", text, dropsText: true });
    };
    const answer = await askModel({
      model,
      conversation,
      tools,
      toolChoice: isForced ? "required" : toolChoice,
      form: this.#mustCall ? undefined : form,
      maxOutputTokens: request.maxOutputTokens,
      cacheKey: `${request.caller}/${request.sessionId}`,
      signal: this.#signal,
      deadline,
      onText(delta) {
        isTold = true;
        tell(show(delta));
      },
      notice: (text, dropsText = false) => (dropsText ? drop(text) : events.emit({ kind: "notice", text })),
    }).catch((error: unknown) => {
      if (isTold && !this.#signal.aborted) drop("The model's answer broke off."); // what is said in its place begins anew
      throw error;
    });
    tell(show(isTold ? "" : answer.text, true));
    this.#options.spending?.charge(request.caller, answer.usage.cost ?? 0);
    const text = showUntil(stop)(answer.text, true);
    if (text.length === answer.text.length) return answer;
    return { ...answer, text, isCut: true, finish: answer.finish === "length" ? "stop" : answer.finish };
  }

  /** @returns the results in the order of the calls; null for a call that is the client's */
  async #runCalls(iteration: number, calls: readonly StoredCall[]): Promise<readonly (StoredResult | null)[]> {
    const { held, runner, request, events } = this.#options;
    const { tools } = this.#role;
    const places = runner.places();
    const parent = this.#parentOf(iteration);
    const toldIn = toldInOf(request);
    const running = calls.map(async (call, index) => {
      const { name, arguments: args, refusal } = call;
      if (this.#isClients(call)) return null;
      if (refusal !== undefined) return { content: refusal, isError: true, isUntrusted: false };
      const callId = callIdOf({ ...request, iteration, index });
      const known = held.result(callId);
      using _place = known === undefined ? await places.acquire(this.#signal) : undefined;
      const result =
        known ??
        (await unlessAborted(
          runner.run({ callId, name, arguments: args }, { tools, events, parent, toldIn }),
          this.#signal,
        ));
      if (known === undefined) held.addResult(callId, result);
      if (result.toolOutput !== undefined)
        this.#largeResults.push({ toolCallId: callId, toolName: name, toolOutput: result.toolOutput });
      return result;
    });
    const all = Promise.all(running);
    const { withoutPlace } = request;
    if (withoutPlace === undefined || !calls.some(({ name }) => tools.waitsForAgent(name))) return all;
    all.catch(() => {}); // which is waited for again
    await Promise.all(running.filter((_, index) => !tools.waitsForAgent(calls[index]?.name ?? "")));
    return withoutPlace(() => all);
  }

  #parentOf(iteration: number): ParentCall {
    const { held, request, mark, budget } = this.#options;
    return {
      signal: this.#cancel.signal,
      deadline: budget.toolsDeadline,
      depth: request.parent?.depth,
      grant: request.parent?.grant,
      operator: request.parent?.operator,
      mayHaveBegun: held.mayHaveCalled(iteration),
      ...mark.forCalls, // as the answer that asks for the calls was given, not as the first result makes it
    };
  }

  /** Gives the model a result. Untrusted content is fenced, and marks the turn. */
  #read(call: StoredCall, result: StoredResult, toolCallId: string): void {
    const { conversation, held, mark, memory, memorySessionId, log } = this.#options;
    mark.read(result);
    const text = resultText(call, result, held.nonce);
    const isNamed = result.isError && this.#role.definition !== undefined;
    const { content, isError, isUntrusted, isApproved, origin } = result;
    const whole = { toolName: call.name, toolCallId, content, isUntrusted, isApproved, origin };
    const keep = () => keepWhole({ memory, namespace: sessionNamespace(memorySessionId), log }, whole);
    conversation.addResult(call, isNamed ? outcomeText(result, text) : text, isError, keep);
  }

  #isClients({ name, refusal }: StoredCall): boolean {
    return refusal === undefined && this.#options.request.clientTools?.some((tool) => tool.name === name) === true;
  }

  #say(text: string): string {
    this.#options.events.text(text);
    return text;
  }

  #result(text: string, finish: TurnFinish, reason?: string): TurnResult {
    const { budget, mark, conversation } = this.#options;
    const cut = conversation.hasCutResults ? { toolBudgetExceeded: true } : {};
    const large = this.#largeResults.length === 0 ? {} : { largeResults: this.#largeResults.slice(-MAX_LARGE_RESULTS) };
    return {
      text,
      finish,
      usage: budget.usage,
      hasReadUntrusted: mark.isSet,
      ...cut,
      ...large,
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** The end of a turn whose model, or whose store, is gone: words of our own. */
  #failed(error: unknown): TurnResult {
    const code = error instanceof StoreUnavailableError ? "store" : (codeOf(error) ?? "error");
    this.#options.log.warn({ error: String(error), code }, "a turn failed");
    const reason = `${code}: ${error instanceof Error ? error.message : String(error)}`;
    if (code === "refused") return { ...this.#result(this.#say(ownWords.refused), "refused", reason), code };
    return { ...this.#result(this.#say(ownWords.failed(code)), "failed", reason), code };
  }
}

/** A client that brings its history would not hear of a further turn. */
function toldInOf({ message, sessionId, rootSessionId = sessionId, definition, origin = "user" }: TurnRequest) {
  if (message === undefined) return undefined;
  return { sessionId: rootSessionId, agent: rootSessionId === sessionId ? definition?.name : undefined, origin };
}

/** True if a turn is left for another process to take up. */
const isStop = (reason: unknown): boolean => reason instanceof BusClosedError || reason instanceof TurnLostError;
