/** Writes a line to stderr, past the console, which `rockbot up` gives to its log. */
export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}
