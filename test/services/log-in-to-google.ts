import { expect, vi } from "vitest";
import { startCli } from "../../packages/cli/src/test-cli.ts";

/**
 * Logs the person of the local Google in by `rockbot google login`, for Gmail and for Calendar.
 * @param env the settings of google-tools
 */
export async function logInToGoogle(
  account: string,
  options: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  await using login = startCli(["google", "login", "--no-browser", "--account", account], options);
  for (const count of [1, 2]) {
    const pages = () => [...login.stderr().matchAll(/http\S+\/o\/oauth2\S+\n/g)];
    await vi.waitFor(() => expect(pages()).toHaveLength(count), { timeout: 60_000 });
    await fetch(pages()[count - 1]?.[0].trim() ?? "");
  }
  await login.ended;
}
