import { version } from "@rockbot/base/version";
import type { Logger } from "@rockbot/bus";
import type { EndpointLoad, ToolEndpoint, ToolEndpointOptions } from "@rockbot/mcp/serve";
import type { PolicyHolder } from "@rockbot/policy";
import type { ToolCaller } from "@rockbot/tools";
import { type GatewayToolSourceOptions, gatewayToolSource } from "./gateway-tool-source.ts";
import { observeLoad } from "./observe-load.ts";

export interface GatewayEndpointOptions extends GatewayToolSourceOptions {
  readonly policy: PolicyHolder | undefined;
  readonly log: Logger;
  /** How many clients of the older era are remembered, how long, and where else. */
  readonly sessions?: Partial<Omit<ToolEndpointOptions, "sourceOf" | "version" | "log">> | undefined;
}

/** The MCP endpoint of a gateway. It is made, and the protocol's code loaded, when its first request comes. */
export class GatewayEndpoint implements AsyncDisposable {
  readonly #caller: ToolCaller;
  readonly #options: GatewayEndpointOptions;
  readonly #stack = new AsyncDisposableStack();
  #endpoint: Promise<ToolEndpoint> | undefined;
  #made: ToolEndpoint | undefined;
  #isStopping = false;

  constructor(caller: ToolCaller, options: GatewayEndpointOptions) {
    this.#caller = caller;
    this.#options = options;
  }

  get(): Promise<ToolEndpoint> {
    this.#endpoint ??= this.#make();
    return this.#endpoint;
  }

  get load(): EndpointLoad {
    return this.#made?.load ?? { sessions: 0, listeners: 0 };
  }

  /** Ends the streams of changes, which would else never end. Calls go on. */
  async stopListening(): Promise<void> {
    this.#isStopping = true;
    (await this.#endpoint)?.stopListening();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endpoint?.catch(() => {});
    await this.#stack.disposeAsync();
  }

  async #make(): Promise<ToolEndpoint> {
    const { ChangeWatch, ToolEndpoint } = await import("@rockbot/mcp/serve");
    const { policy, sessions, log } = this.#options;
    const sourceOf = (by: string | undefined) => gatewayToolSource(this.#caller, by, this.#options);
    const endpoint = this.#stack.use(new ToolEndpoint({ sourceOf, version, log, ...sessions }));
    const watch = this.#stack.use(new ChangeWatch(() => endpoint.tell()));
    this.#stack.defer(this.#caller.tools.onChange(() => watch.note()));
    if (policy !== undefined) this.#stack.defer(policy.onChange(() => watch.note()));
    if (this.#isStopping) endpoint.stopListening();
    this.#made = endpoint;
    this.#stack.use(observeLoad(() => endpoint.load));
    return endpoint;
  }
}
