import type { Bus, Logger } from "@rockbot/bus";
import { definedBy, MCP_BRIDGE, type ToolGuide } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createToolRegistry, type ToolRegistration, type ToolRegistry } from "../../define/tool-registry.ts";
import { ToolDirectory } from "../../discover/tool-directory.ts";
import type { FoundTool } from "../../discover/tool-holders.ts";
import { withLocalLayers } from "../../layers/layers.ts";
import type { Identity } from "../../messages/identity.ts";
import { type RemoteExecutorOptions, type RemoteTool, remoteExecutor } from "../remote/remote-executor.ts";
import { guideTools } from "./guide-tools.ts";
import { guidesIn } from "./guides-in.ts";
import { withOpenEnums } from "./open-enums.ts";
import { decide, usableBy, usableTools } from "./usable-tools.ts";

export interface CallableToolsOptions {
  readonly agent: string;
  /** On whose behalf its calls are, unless they say so. */
  readonly self: string;
  readonly identity: Identity;
  readonly policy: PolicyHolder | undefined;
  readonly station: RemoteExecutorOptions["station"];
  readonly blobs: RemoteExecutorOptions["blobs"];
  readonly files: RemoteExecutorOptions["files"];
  readonly log: Logger;
}

/**
 * The tools that a caller can call now: those that services announce, those that its process registers, and the two
 * guide tools.
 */
export class CallableTools implements AsyncDisposable {
  readonly registry: ToolRegistry = createToolRegistry();
  /** The registry, with what the caller itself may use. */
  readonly usable: ToolRegistry;
  readonly directory: ToolDirectory;
  /** Guides for tools of this process's own, some with a tool whose users alone read it. */
  readonly #guides = new Map<string, { readonly guide: ToolGuide; readonly tool: string | undefined }>();
  readonly #options: CallableToolsOptions;
  /** The tools that are listed because a service announced them; others are this process's own. */
  readonly #remote = new Map<string, RemoteTool>();

  constructor(bus: Bus, options: CallableToolsOptions) {
    const { agent, self, identity, policy, log } = options;
    this.#options = options;
    this.usable = policy === undefined ? this.registry : usableTools(this.registry, policy, self);
    this.directory = new ToolDirectory(bus, {
      source: agent,
      identity,
      log,
      onFound: (tool) => this.#add(bus, tool),
      onLost: (name) => this.#remove(name),
    });
    for (const tool of guideTools((caller) => this.guidesFor(caller))) {
      const { name, description, inputSchema, outputSchema, readOnly, idempotent } = tool.definition;
      this.registry.register(
        {
          name,
          description,
          parametersSchema: JSON.stringify(inputSchema),
          outputSchema: JSON.stringify(outputSchema),
          readOnly,
          idempotent,
          source: "local",
        },
        withLocalLayers(tool),
      );
    }
  }

  open(): Promise<void> {
    return this.directory.open();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.directory[Symbol.asyncDispose]();
  }

  /** The executor of a tool that a service offers, unless this process has a tool of that name. */
  remote(name: string): RemoteTool | undefined {
    const executor = this.#remote.get(name);
    return executor !== undefined && executor === this.registry.getExecutor(name) ? executor : undefined;
  }

  /** The tools that the caller on whose behalf a call is made may use, with the values of arguments that it may see. */
  of(caller: string): readonly ToolRegistration[] {
    const { policy, self } = this.#options;
    const usable =
      caller === self || policy === undefined
        ? this.usable.getTools()
        : usableBy(caller, policy.current(), this.registry.getTools());
    return usable.map((tool) => this.#shown(tool, caller));
  }

  /** One of them by its name, if the caller may use it. */
  find(name: string, caller: string): ToolRegistration | undefined {
    const { policy } = this.#options;
    const tool = this.registry.get(name);
    if (tool === undefined) return undefined;
    if (policy !== undefined && usableBy(caller, policy.current(), [tool]).length === 0) return undefined;
    return this.#shown(tool, caller);
  }

  #shown(tool: ToolRegistration, caller: string): ToolRegistration {
    return withOpenEnums(tool, decide(caller, this.#options.policy, this.registry, tool.name, false)?.argumentRules);
  }

  mayUse(tool: string, caller: string): boolean {
    return this.#options.policy?.current().decide({ caller, tool }).isAllowed ?? true;
  }

  /** See ToolCaller.heldFrom. */
  heldFrom(caller: string): readonly string[] {
    return this.directory.held.flatMap(({ name, reason }) =>
      reason === "not_approved" && this.mayUse(name, caller) ? [name] : [],
    );
  }

  /** See ToolCaller.addGuide. */
  addGuide(guide: ToolGuide, tool?: string): void {
    this.#guides.set(guide.name, { guide, tool });
  }

  /** See ToolCaller.getGuides. */
  async guidesFor(caller: string): Promise<readonly ToolGuide[]> {
    await this.directory.discovered();
    const tools = this.of(caller);
    const services = new Set(tools.map(({ source }) => source));
    const own = [...this.#guides.values()].flatMap(({ guide, tool }) =>
      tool === undefined || this.mayUse(tool, caller) ? [guide] : [],
    );
    const announced = this.directory
      .guidesOf((service) => services.has(service))
      .flatMap((guide) => guidesIn(guide, tools));
    return [...own, ...announced].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** See ToolCaller.guidesOf. */
  async guidesOf(name: string): Promise<readonly ToolGuide[]> {
    await this.directory.discovered();
    const tool = this.registry.get(name);
    if (tool === undefined) return [];
    const own = [...this.#guides.values()].flatMap((entry) => (entry.tool === name ? [entry.guide] : []));
    const announced = tool.source === undefined ? [] : this.directory.guidesFrom(tool.source);
    return [...own, ...announced.flatMap((guide) => guidesIn(guide, [tool]))];
  }

  #add(bus: Bus, tool: FoundTool): void {
    const { agent, identity, blobs, files, station, log } = this.#options;
    if (this.registry.getExecutor(tool.name) !== undefined) {
      log.warn(
        { tool: tool.name, newcomer: tool.service },
        "left out a tool whose name a tool of this process has taken",
      );
      return;
    }
    const {
      name,
      title,
      description,
      parametersSchema,
      outputSchema,
      readOnly = false,
      idempotent = false,
      dangerous = false,
      resultSize,
      service,
    } = tool;
    // A bridge of an earlier release says nothing of it.
    const trust = tool.trust ?? (service === MCP_BRIDGE ? definedBy("mcp", false) : undefined);
    const output = outputSchema == null ? {} : { outputSchema };
    const registration = {
      name,
      title: title ?? undefined,
      description,
      parametersSchema,
      ...output,
      readOnly,
      idempotent,
      dangerous,
      resultSize,
      trust,
      source: service,
    };
    const executor = remoteExecutor(tool, {
      bus,
      station,
      directory: this.directory,
      identity,
      blobs,
      files,
      source: agent,
    });
    this.registry.register(registration, executor);
    this.#remote.set(name, executor);
  }

  #remove(name: string): void {
    const isListed = this.remote(name) !== undefined;
    this.#remote.delete(name);
    if (isListed) this.registry.unregister(name);
  }
}
