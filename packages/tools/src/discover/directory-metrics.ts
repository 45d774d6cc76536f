import { metrics } from "@opentelemetry/api";

/** What a directory of tools knows at one moment. */
export interface DirectoryState {
  /** Services whose list is here. */
  readonly known: number;
  /** Services that are there and whose latest list is not here. */
  readonly missing: number;
  readonly silentMs: number;
}

const directories = new Set<() => DirectoryState>();

/**
 * Made when first needed: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let areMade = false;
function makeInstruments(): void {
  areMade = true;
  const meter = metrics.getMeter("@rockbot/tools");
  const greatest = (pick: (state: DirectoryState) => number): number =>
    Math.max(0, ...[...directories].map((read) => pick(read())));
  meter
    .createObservableGauge("rockbot.tool.discovery.services", {
      description: "Services whose list of tools is known here.",
    })
    .addCallback((result) => result.observe(greatest(({ known }) => known)));
  meter
    .createObservableGauge("rockbot.tool.discovery.missing_lists", {
      description: "Services that are there and whose latest list of tools has not come.",
    })
    .addCallback((result) => result.observe(greatest(({ missing }) => missing)));
  meter
    .createObservableGauge("rockbot.tool.discovery.silence.seconds", {
      unit: "s",
      description:
        "Time since the last announcement of the service that has been silent for longest. Services announce themselves every few seconds.",
    })
    .addCallback((result) => result.observe(greatest(({ silentMs }) => silentMs) / 1000));
}

/** Measures a directory until disposed. */
export function observeDirectory(read: () => DirectoryState): Disposable {
  if (!areMade) makeInstruments();
  directories.add(read);
  return { [Symbol.dispose]: () => directories.delete(read) };
}
