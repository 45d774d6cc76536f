import { join } from "node:path";
import { type PythonEnvironment, pythonEnvironment } from "../python-environment.ts";

/** A Python that has A2A's official SDK, or why there is none. */
export const pythonWithA2a = (): Promise<PythonEnvironment> =>
  pythonEnvironment(join(import.meta.dirname, "requirements.txt"));
