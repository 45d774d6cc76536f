import type { WriteStream } from "node:tty";
import type { ProgressUpdate } from "@rockbot/tools";
import { plainText } from "./plain-text.ts";

/** Shows how a call goes on, on one line that is wiped at the end; nothing where nobody watches. */
export function showProgress(stream: WriteStream): Disposable & { readonly show: (update: ProgressUpdate) => void } {
  let isShown = false;
  return {
    show({ progress, total, message }) {
      if (!stream.isTTY) return;
      const count = progress == null ? "" : total == null ? `${progress} ` : `${progress}/${total} `;
      const text = plainText(`${count}${message ?? ""}`).replaceAll(/[\n\t]/g, " ");
      stream.write(`\r\x1b[K${text.slice(0, Math.max(10, (stream.columns ?? 80) - 1))}`);
      isShown = true;
    },
    [Symbol.dispose]() {
      if (isShown) stream.write("\r\x1b[K");
      isShown = false;
    },
  };
}
