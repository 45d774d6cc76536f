import { saidBy, ToolError, type ToolErrorOptions } from "@rockbot/contracts";
import type { GateFault } from "@rockbot/edge/gate";

const MAX_WORDS = 600;
const FROM_PIP = { trust: saidBy("pip") };

/** The error of a failed installation, made from the gate's fault and pip's last words. */
export function installError(words: string, fault: GateFault | undefined): ToolError {
  if (fault?.kind === "too_large") {
    return failure(
      "too_large",
      "too much is to be fetched for them, all that they need included. Take fewer or smaller ones",
      "packages_too_large",
    );
  }
  if (fault?.kind === "refused") {
    return failure(
      "unavailable",
      `the package index sends to the host "${fault.host}", which the operator has not permitted`,
      "index_host_refused",
      {
        isRetryable: false,
      },
    );
  }
  if (/CERTIFICATE_VERIFY_FAILED|SSLError/.test(words)) {
    return failure(
      "unavailable",
      "the package index has a certificate that cannot be verified. Its operator has to name the certificates to trust",
      "index_untrusted",
      {
        isRetryable: false,
      },
    );
  }
  if (
    fault?.kind === "failed" ||
    /Connection (broken|aborted|refused|reset)|Read timed out|Max retries|\b50\d (Server|Bad|Service|Gateway)/i.test(
      words,
    )
  ) {
    return failure(
      "unavailable",
      "the package index cannot be reached, or does not answer as it should. Try again later",
      "index_away",
    );
  }
  if (/No module named pip/.test(words)) {
    return failure(
      "unavailable",
      "the Python that would install them has no pip. Its operator has to add it",
      "pip_missing",
      { isRetryable: false },
    );
  }
  if (/No space left on device|Cannot allocate memory|MemoryError/.test(words)) {
    return failure(
      "too_large",
      "there is not enough room for them, all that they need included. Take fewer or smaller ones",
      "packages_too_large",
    );
  }
  if (/No matching distribution|ResolutionImpossible|conflicting dependencies|Could not find a version/i.test(words)) {
    return failure(
      "invalid_arguments",
      `these packages do not fit together. Only wheels for this Python are taken. pip says: ${sayable(words)}`,
      "packages_not_found",
      FROM_PIP,
    );
  }
  return failure("execution_failed", `pip failed. It says: ${sayable(words)}`, "install_failed", FROM_PIP);
}

export function failure(
  code: string,
  words: string,
  reason: string,
  options: Pick<ToolErrorOptions, "cause" | "isRetryable" | "trust"> = {},
): ToolError {
  return new ToolError(code, `Cannot install the packages: ${words}`, { ...options, details: { reason } });
}

/** Pip's errors, without addresses and paths. */
function sayable(words: string): string {
  const lines = words.split("\n").filter((line) => line.startsWith("ERROR:") && !/:\/\/|(^|[\s'"])\/\w/.test(line));
  const said = lines.map((line) => line.slice("ERROR:".length).trim()).join(" ");
  return said === "" ? "nothing that can be shown" : said.replace(/[\p{Cc}\p{Cf}]/gu, "").slice(0, MAX_WORDS);
}
