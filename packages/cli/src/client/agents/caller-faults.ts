import { isPeerName } from "@rockbot/contracts";

/** The faults of the option `--for`. */
export const callerFaults = (caller: string | undefined): readonly string[] =>
  caller === undefined || isPeerName(caller)
    ? []
    : ["--for: expected the name of a caller, 1 to 64 of A-Z, a-z, 0-9, _ and -"];
