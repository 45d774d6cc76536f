import { allToolNames } from "@rockbot/contracts";
import { busServices } from "@rockbot/services";
import type { Command } from "commander";
import { completionScript, type Shell } from "../completion/completion-script.ts";
import { completionTree } from "../completion/completion-tree.ts";
import { PRINT_NAMES } from "../completion/print-names.ts";

/** `rockbot completion`: a script for a shell, on stdout. */
export function printCompletion(shell: Shell, program: Command): void {
  const services = busServices.map(({ name }) => name);
  const names = { tools: allToolNames, services, guides: [] }; // only services that run have guides
  const lookUp = [process.execPath, PRINT_NAMES];
  console.log(completionScript(shell, { tree: completionTree(program), names, lookUp }));
}
