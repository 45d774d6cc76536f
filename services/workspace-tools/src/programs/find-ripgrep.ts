/**
 * The program of ripgrep that its package brings for this machine; undefined where the package is not installed as one,
 * as in a bundle.
 */
export async function findRipgrep(): Promise<string | undefined> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return undefined;
  }
}
