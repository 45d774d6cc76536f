import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const SYSTEM = join(import.meta.dirname, "/");

/**
 * The order of test files: those of processes and brokers first, which mostly wait, so that no core is idle at the end while the last of them
 * waits. Among its kind the one that took longest when it last ran comes first, or the largest, as vitest has it.
 */
export class SystemTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSystem = ({ moduleId }: TestSpecification) => moduleId.startsWith(SYSTEM);
    return [...sorted.filter(isSystem), ...sorted.filter((file) => !isSystem(file))];
  }
}
