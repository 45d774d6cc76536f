import type { Command } from "commander";
import type { GoogleLoginOptions, GoogleLogoutOptions } from "../commands/google.ts";

/** Adds `rockbot google` and its commands. */
export function addGoogleCommand(program: Command): void {
  const google = program.command("google").description("Log accounts of Google in and out.");
  google
    .command("login")
    .description("Have a person consent in a browser, and keep the tokens for the tools of Gmail and Calendar.")
    .argument("[product]", "gmail or calendar; both, one after the other, when left out")
    .option("--account <address>", "the account that is to log in; another is refused")
    .option("--read-only", "ask for the right to read alone")
    .option("--no-browser", "print the address only, and open no browser")
    .addHelpText(
      "after",
      `
Examples:
  rockbot google login
  rockbot google login gmail --account alice@example.com --read-only

GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET name the OAuth client. The browser has to run on this machine, as Google sends the
person back to a port of 127.0.0.1. Tokens go into DATA_DIRECTORY, which the service google-tools has to see.`,
    )
    .action(async (product: string | undefined, options: GoogleLoginOptions) =>
      (await import("../commands/google.ts")).googleLogin(product, options),
    );
  google
    .command("logout")
    .description("Take an account's consent back at Google, and remove its tokens.")
    .argument("[product]", "gmail or calendar; both when left out")
    .option("--account <address>", "the account; needed where several have logged in")
    .addHelpText(
      "after",
      `
Examples:
  rockbot google logout
  rockbot google logout gmail --account alice@example.com

If Google cannot be asked, the tokens stay. Google may take back the consent to both products at once: then the other one has to log in again.`,
    )
    .action(async (product: string | undefined, options: GoogleLogoutOptions) =>
      (await import("../commands/google.ts")).googleLogout(product, options),
    );
}
