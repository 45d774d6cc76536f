import { appendFile } from "node:fs/promises";
import { expect } from "vitest";

/** Which part of the soak's numbers to run; none among the tests. */
const part = Number(process.env["ROCKBOT_FAULTS_PART"] ?? 0);

/** How often: a few times among the tests, many times in the soak. */
export const atScale = (smoke: number, soak: number): number => Math.max(smoke, Math.round(soak * part));

/** Seeds whatever is random; printed with every run, so that it can be run again. */
export const seed = Number(process.env["ROCKBOT_TEST_SEED"] ?? 20_261_121);

/** One line of the table of faults. */
export interface FigureRow {
  /** The name of the fault, such as "F08". */
  readonly fault: string;
  /** What was done, in which numbers. */
  readonly done: string;
  readonly figures: Readonly<Record<string, number | string>>;
}

/** As the soak reads it: a row, and the test file that it is of. */
export interface RecordedRow extends FigureRow {
  readonly file: string;
}

/** Says what a fault came to; the soak makes its table of it. */
export async function record(row: FigureRow): Promise<void> {
  console.log(JSON.stringify(row));
  const file = process.env["ROCKBOT_FAULTS_FIGURES"];
  const recorded: RecordedRow = { ...row, file: expect.getState().testPath ?? "" };
  if (file !== undefined) await appendFile(file, `${JSON.stringify(recorded)}\n`);
}
