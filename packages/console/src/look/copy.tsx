import { useState } from "react";

/** A button that copies a text, and says that it has. */
export function Copy({ text, name }: { readonly text: string; readonly name: string }) {
  const [said, setSaid] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("The browser does not let this page copy");
    }
    setTimeout(() => setSaid(undefined), 2_000);
  };
  return (
    <button type="button" title={text} onClick={() => void copy()} aria-live="polite">
      {said ?? name}
    </button>
  );
}
