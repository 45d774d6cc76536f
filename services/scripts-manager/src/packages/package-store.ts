import { createHash } from "node:crypto";
import { createSemaphore } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import type { HostGate } from "@rockbot/edge/gate";
import type { PackageLayer, SandboxMaker } from "@rockbot/sandbox";
import { openIndexGate } from "./index-gate.ts";
import { failure, installError } from "./install-error.ts";
import type { PinnedPackage, Resolution } from "./installer/installer-frames.ts";
import { runInstaller } from "./installer/run-installer.ts";
import { type LayerShelf, openLayerShelf } from "./layer-shelf.ts";
import { createLayerWriter } from "./layer-writer.ts";
import { checkPackages, type PackageRules } from "./package-rules.ts";
import { type PackageSourceOptions, packageSource } from "./package-source.ts";
import { normalizedName, parseRequirements, type Requirement } from "./requirement.ts";
import { shareRuns } from "./share-runs.ts";

/** The packages that scripts want, as layers that their sandboxes see. */
export interface PackageStore {
  /**
   * A layer with what is asked for and all that it needs, in versions that go together: one that is there if there is,
   * else one that is installed now. Equal requests at the same time share one installation. It has its own deadline: it
   * goes on after `until` has passed for every caller, for the next one that asks, and ends when the last has given up.
   * @param requirements names with extras and version clauses, at least one
   * @param until when a layer is of no use any more, on the clock of `performance.now()`
   * @throws {ToolError} `invalid_arguments` with all faults, or if nothing in the index does; `denied`, also for what
   * others need; `too_large`; `timeout`; `unavailable` if the index or the installer is away, or there is no layer by
   * `until`; `overloaded` if there is no room; the signal's reason
   */
  ensure(
    requirements: readonly string[],
    options: { readonly signal: AbortSignal; readonly until?: number },
  ): Promise<PackageLayer>;
}

/** Where packages come from, and the bounds of what is installed. */
// Many because: each is a bound of its own of what is installed, with a default.
export interface PackageStoreOptions extends PackageSourceOptions, PackageRules {
  /**
   * Makes sandboxes in which `installer.py` runs, with the Python that scripts have: as little network as theirs. Not
   * disposed of here.
   */
  readonly maker: SandboxMaker;
  /** Which Python that is, such as its image: what another one has installed is of no use to it. */
  readonly environment: string;
  /** Where the layers lie: sandboxes of scripts see it, read-only, or are sent what they want of it. */
  readonly folder: string;
  /** PEM, of whom to believe of the index instead of the authorities that pip knows. */
  readonly certificates?: string | undefined;
  /** The most packages in one request. @default 32 */
  readonly maxPackages?: number | undefined;
  /** The bound of one layer. @default 512 MiB */
  readonly maxLayerBytes?: number | undefined;
  /** The most files in one layer. @default 50_000 */
  readonly maxLayerFiles?: number | undefined;
  /** The bound of all layers together. @default 8 GiB */
  readonly maxTotalBytes?: number | undefined;
  /** The timeout of one installation, in milliseconds. @default 180_000 */
  readonly timeoutMs?: number | undefined;
  /** How long the same request means the same versions, in milliseconds. @default a day */
  readonly holdMs?: number | undefined;
  /**
   * How long a layer stays after its last use at the least: longer than any script runs, in milliseconds.
   * @default an hour
   */
  readonly keepMs?: number | undefined;
  /** The most installations at a time. @default 2 */
  readonly concurrency?: number | undefined;
  readonly log?: Logger | undefined;
}

const [MIB, HOUR_MS] = [1024 * 1024, 3600_000];
const IDLE_MS = 20_000;
/** The longest wait for an installation, in milliseconds. */
const LONGEST_MS = HOUR_MS;
/** A guess: when packages that are being installed may be there. */
const RETRY_AFTER_MS = 10_000;

/** @throws {TypeError} for an index that is no address; {Error} with Node's code if the folder cannot be written */
export async function openPackageStore(options: PackageStoreOptions): Promise<PackageStore> {
  const {
    holdMs = 24 * HOUR_MS,
    keepMs = HOUR_MS,
    maxTotalBytes = 8192 * MIB,
    concurrency = 2,
    maxPackages = 32,
  } = options;
  const source = packageSource(options);
  const shelf = await openLayerShelf(options.folder, { maxBytes: maxTotalBytes, keepMs });
  const share = shareRuns<PackageLayer>();
  const turns = createSemaphore(concurrency);

  return {
    async ensure(texts, { signal, until = performance.now() + LONGEST_MS }) {
      const requirements = parseRequirements(texts, { maxPackages });
      if (source.index === null && source.wheels === null) {
        throw new ToolError(
          "denied",
          "Cannot install packages: no package index is configured here. Do with what Python has",
          {
            details: { reason: "packages_off" },
          },
        );
      }
      checkPackages(
        requirements.map(({ name }) => name),
        options,
        "asked",
      );
      const request = hash([
        options.environment,
        source.index,
        options.wheelsFolder,
        requirements.map(({ text }) => text),
      ]);
      const known = await shelf.recall(request, holdMs);
      if (known !== undefined) return permitted(known, options);
      return await share(request, { signal, until, late: stillInstalling }, async (shared, begun) => {
        using _turn = await turns.acquire(shared);
        begun();
        return await install({ options, source, shelf, requirements, request, signal: shared });
      });
    },
  };
}

const stillInstalling = (): ToolError =>
  new ToolError(
    "unavailable",
    `The script was not run: its packages are not installed yet, and its call has not the time for more. Installing goes on: call again in ${RETRY_AFTER_MS / 1_000} s, or give the call more time.`,
    { retryAfterMs: RETRY_AFTER_MS, details: { reason: "packages_installing" } },
  );

/** The rules may be others than when it was installed. */
function permitted(layer: PackageLayer, rules: PackageRules): PackageLayer {
  checkPackages(
    layer.pinned.map((pin) => normalizedName(pin.split("==", 1)[0] ?? "")),
    rules,
    "needed",
  );
  return layer;
}

interface Installation {
  readonly options: PackageStoreOptions;
  readonly source: ReturnType<typeof packageSource>;
  readonly shelf: LayerShelf;
  readonly requirements: readonly Requirement[];
  readonly request: string;
  readonly signal: AbortSignal;
}

async function install({ options, source, shelf, requirements, request, signal }: Installation): Promise<PackageLayer> {
  const { maxLayerBytes = 512 * MIB, maxLayerFiles = 50_000, timeoutMs = 180_000, log = silentLogger } = options;
  if (!(await shelf.tidy()))
    throw failure(
      "overloaded",
      "all room for packages is taken by some in use. Try again in an hour",
      "no_room_for_packages",
    );
  const timeout = AbortSignal.timeout(timeoutMs);
  const inTime = AbortSignal.any([signal, timeout]);
  const startedAt = performance.now();
  try {
    using gate = openIndexGate({
      hosts: source.hosts,
      wheelsFolder: source.wheelsFolder,
      idleMs: IDLE_MS,
      maxBytes: maxLayerBytes,
    });
    await using unfinished = await shelf.begin();
    await using writer = createLayerWriter(unfinished.folder, { maxBytes: maxLayerBytes, maxFiles: maxLayerFiles });
    await using sandbox = await options.maker.make({ signal: inTime });
    let layer: PackageLayer | undefined;
    const end = await runInstaller(sandbox, {
      request: {
        requirements: requirements.map(({ text }) => text),
        index: source.index,
        wheels: source.wheels,
        plainHosts: source.plainHosts,
        certificates: options.certificates ?? null,
      },
      gate,
      async onResolved(resolution) {
        checkPackages(
          resolution.packages.map(({ name }) => normalizedName(name)),
          options,
          "needed",
        );
        layer = layerOf(resolution);
        return (await shelf.has(layer.key)) ? undefined : (piece) => writer.write(piece);
      },
      signal: inTime,
    });
    if (layer === undefined || end.kind === "failed" || end.kind === "gone")
      throw await errorOfEnd(end, gate, sandbox.gone);
    if (end.kind === "installed") await unfinished.finish(layer, writer.bytes);
    await shelf.remember(request, layer);
    log.info(
      { packages: layer.pinned, bytes: writer.bytes, ms: Math.round(performance.now() - startedAt) },
      "installed packages for scripts",
    );
    return layer;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.aborted)
      throw failure(
        "timeout",
        `it took longer than ${Math.round(timeoutMs / 1000)} s. Take fewer or smaller ones`,
        "install_slow",
        { cause: error },
      );
    log.warn({ error: String(error) }, "could not install packages for scripts");
    throw error instanceof ToolError
      ? error
      : failure("execution_failed", "the installer did not do as it should", "installer_broken", { cause: error });
  }
}

async function errorOfEnd(
  end: { readonly kind: string; readonly words?: string },
  gate: HostGate,
  gone: Promise<{ readonly isOutOfMemory: boolean }>,
): Promise<ToolError> {
  if (end.kind !== "gone") return installError(end.words ?? "", gate.fault);
  const { isOutOfMemory } = await gone;
  return installError(isOutOfMemory ? "MemoryError" : "", gate.fault);
}

function layerOf({ packages, platform }: Resolution): PackageLayer {
  const sorted = [...packages].sort((one, other) => (one.name < other.name ? -1 : 1));
  const pin = ({ name, version }: PinnedPackage): string => `${name}==${version}`;
  return { key: hash([platform, sorted.map((item) => [pin(item), item.sha256])]), pinned: sorted.map(pin) };
}

const hash = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
