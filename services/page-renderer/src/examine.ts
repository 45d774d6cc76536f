import { access, constants } from "node:fs/promises";
import type { Finding } from "@rockbot/process";
import type { PageRendererConfig } from "./generated/config.ts";

/** Tells `rockbot doctor` whether there is a browser, and whether its sandbox works. */
export async function examine({
  browserPath,
  browserSandbox,
}: Readonly<PageRendererConfig>): Promise<readonly Finding[]> {
  const what = "BROWSER_PATH";
  if (browserPath === undefined)
    return [
      { what, state: "off", message: "not set, so render_page is off. Pages that need a browser are read without one" },
    ];
  try {
    await access(browserPath, constants.X_OK);
  } catch {
    return [{ what, state: "broken", message: `${browserPath} is not a program that can be started` }];
  }
  const isRoot = process.getuid?.() === 0;
  if (isRoot && browserSandbox)
    return [{ what, state: "broken", message: "Chromium has no sandbox for root: run page-renderer as another user" }];
  return [{ what, state: "ok", message: browserPath }];
}
