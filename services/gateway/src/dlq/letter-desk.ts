import type { Bus, Logger } from "@rockbot/bus";
import type { PolicyHolder } from "@rockbot/policy";
import type { ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { createDlqApp } from "./dlq-app.ts";
import type { DlqParts } from "./run-dlq.ts";

/** The way to dead letters, which the gateway's own user of the broker does not have. */
export interface LetterAccess extends Pick<DlqParts, "services"> {
  /** Connects as an operator's user. */
  connect(options: {
    readonly url: string;
    readonly identity: "trusted" | "verified";
    readonly log: Logger;
  }): Promise<Bus>;
  forms(): Promise<DlqParts["forms"]>;
}

export interface LetterDeskOptions {
  readonly caller: Pick<ToolCaller, "discovered" | "tools">;
  readonly policy: PolicyHolder;
  /** The address with an operator's user. @default dead letters are not reached */
  readonly url: string | undefined;
  readonly access: LetterAccess | undefined;
  /** Aborts when the process stops and running requests are not waited for any longer. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const NOT_SET =
  "Cannot answer for dead letters: this gateway has no user of the broker that may look at them. Set OPERATOR_BROKER_URL to the broker's address with an operator of the policy, who has the right letters";

/** Dead letters by an operator's user of the broker. It connects with the first request, and stays connected. */
export class LetterDesk implements HttpApp, AsyncDisposable {
  readonly #options: LetterDeskOptions;
  readonly #app: HttpApp;
  #bus: Promise<Bus> | undefined;

  constructor(options: LetterDeskOptions) {
    this.#options = options;
    this.#app = createDlqApp(() => this.#parts(), options);
  }

  /** The services that take calls, though they may not run now. */
  get services(): readonly string[] {
    return this.#options.access?.services ?? [];
  }

  fetch: HttpApp["fetch"] = async (request, env) => {
    const { url, access } = this.#options;
    if (url === undefined || access === undefined) return Response.json({ message: NOT_SET }, { status: 503 });
    try {
      await this.#connected(url, access);
    } catch (error) {
      const message = `Cannot answer for dead letters: the broker does not take the user of OPERATOR_BROKER_URL. ${(error as Error).message}`;
      return Response.json({ message }, { status: 503 });
    }
    return this.#app.fetch(request, env);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#bus?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  #connected(url: string, access: LetterAccess): Promise<Bus> {
    const { policy, log } = this.#options;
    this.#bus ??= access.connect({ url, identity: policy.current().document.identity, log }).catch((error: unknown) => {
      this.#bus = undefined; // the next request tries again
      throw error;
    });
    return this.#bus;
  }

  async #parts(): Promise<DlqParts> {
    const { caller, policy, url = "", access } = this.#options;
    if (access === undefined) throw new TypeError(NOT_SET);
    const [bus, forms] = await Promise.all([this.#connected(url, access), access.forms()]);
    return { bus, caller, policy, services: access.services, forms };
  }
}
