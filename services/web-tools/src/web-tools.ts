import type { Bus } from "@rockbot/bus";
import type { PageStore } from "@rockbot/edge/outbound";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import { createToolCaller, type StartServiceOptions } from "@rockbot/tools";
import type { WebToolsConfig } from "./generated/config.ts";
import { webToolSet } from "./web-tool-set.ts";

/** The bound of results that may be given again: pages are long, and an agent that asks for one twice asks soon. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** The parts of the process that the service uses. */
export interface StartWebToolsOptions extends StartServiceOptions {
  readonly policy?: PolicyHolder<Readers<"credentials">> | undefined;
  /** Keeps pages for all instances. @default each keeps its own */
  readonly pageStore?: PageStore | undefined;
}

/**
 * Serves the web tools from the bus. Disposal waits for running calls, at most `shutdownGraceMs`.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startWebTools(
  bus: Bus,
  config: Readonly<WebToolsConfig>,
  { pageStore, ...options }: StartWebToolsOptions,
): Promise<RunningToolSet> {
  const { service, policy, blobs, log } = options;
  await using started = new AsyncDisposableStack();
  const caller = config.pageRenderer
    ? started.use(
        await createToolCaller(bus, {
          agent: service,
          results: "copy",
          maxCallsInFlight: config.concurrency,
          policy,
          blobs,
          log,
        }),
      )
    : undefined;
  const running = started.use(
    await startToolSet(bus, webToolSet(config, { policy, pageStore, caller }), config, {
      ...options,
      maxKeptBytes: MAX_KEPT_BYTES,
    }),
  );
  const open = started.move();
  return { off: running.off, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
