import { existsSync } from "node:fs";

/** The browser of this machine; undefined if it has none. */
export const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
