import { WHEELS_HOST } from "./wheel-folder.ts";

/** Where packages come from: an index, a folder of wheels, or both. */
export interface PackageSourceOptions {
  /**
   * The address of an index's simple pages (PEP 503 or 691), such as https://index.example/simple; may hold a user and
   * a password.
   */
  readonly indexUrl?: string | undefined;
  /** Hosts that the index's files lie on besides its own, `host` or `host:port`. @default that of PyPI for PyPI */
  readonly fileHosts?: readonly string[] | undefined;
  readonly wheelsFolder?: string | undefined;
}

export interface PackageSource {
  readonly index: string | null;
  /** The page of the wheels' folder, as the installer sees it. */
  readonly wheels: string | null;
  readonly hosts: ReadonlySet<string>;
  readonly plainHosts: readonly string[];
  readonly wheelsFolder: string | undefined;
}

/** @throws {TypeError} for an address that is no http or https address */
export function packageSource({ indexUrl, fileHosts, wheelsFolder }: PackageSourceOptions): PackageSource {
  const url = indexUrl === undefined ? undefined : indexAddress(indexUrl);
  const files = fileHosts ?? (url?.hostname === "pypi.org" ? ["files.pythonhosted.org"] : []);
  const port = url?.protocol === "http:" ? "80" : "443";
  const withPort = (host: string): string => (/:\d+$/.test(host) ? host : `${host}:${port}`);
  const isPlain = url?.protocol === "http:";
  return {
    index: indexUrl ?? null,
    wheels: wheelsFolder === undefined ? null : `http://${WHEELS_HOST}/`,
    hosts: new Set(url === undefined ? [] : [`${url.hostname}:${url.port || port}`, ...files.map(withPort)]),
    plainHosts: [
      ...(url !== undefined && isPlain ? [url.host, ...files] : []),
      ...(wheelsFolder === undefined ? [] : [WHEELS_HOST]),
    ],
    wheelsFolder,
  };
}

function indexAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(
      "Cannot use the configured package index: expected an http or https address, such as https://index.example/simple",
    );
  }
  return url;
}
