import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const ROOT = join(import.meta.dirname, "../..");
const SYSTEM = join(ROOT, "test/");

/**
 * What takes longest on a machine that has not run the tests before, and so cannot know. Each has a process of its own,
 * by which it can come first.
 */
export const LONGEST: readonly string[] = [
  "scripts/bundle/bundle-service.test.ts",
  "packages/cli/src/cli.test.ts",
  "services/scripts-manager/src/packages/package-store.test.ts",
  "test/broker/rights.test.ts",
  "test/docs/snippets.test.ts",
  "test/faults/interleavings.test.ts",
  "test/broker/broker-stalled.test.ts",
  "test/a2a/served-agent.test.ts",
  "test/abuse/abuse.test.ts",
  "test/broker/rotation.test.ts",
  "test/faults/broker-under-calls.test.ts",
  "packages/cli/src/agents.test.ts",
  "test/faults/f23-broker-refuses.test.ts",
  "test/agent/families/families-killed.test.ts",
  "test/streams/stream-readers.test.ts",
  "test/every-tool/every-tool.test.ts",
  "test/faults/bridge-killed.test.ts",
  "packages/sandbox/src/local/local-maker.test.ts",
  "test/conformance/conformance.test.ts",
  "test/agent/families/family-story.test.ts",
  "test/agent/story.test.ts",
  "packages/page/src/page-converter.test.ts",
];

const isLongest: ReadonlySet<string> = new Set(LONGEST.map((path) => join(ROOT, path)));

/**
 * The order of test files. Files with processes of their own come first: a shared process ends where a file comes that
 * shares none. In each part come what takes longest, then tests of processes and brokers, which mostly wait: so no core
 * is idle at the end while the last of them waits. Among its kind the one that took longest when it last ran comes
 * first, or the largest, as vitest has it.
 */
export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

function place({ project, moduleId }: TestSpecification): number {
  const kind = isLongest.has(moduleId) ? 0 : moduleId.startsWith(SYSTEM) ? 1 : 2;
  return (project.config.isolate ? 0 : 3) + kind;
}
