import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { type HostGateOptions, openHostGate } from "./host-gate.ts";

/** A folder by which a program that sees it gets out through a gate. */
export interface GateFolder extends AsyncDisposable {
  readonly path: string;
}

/** The name of the gate's socket in such a folder. */
export const GATE_SOCKET = "socket";
/** The name of the file there with the certificates that this process trusts. */
export const GATE_CERTIFICATES = "certificates.pem";

export interface GateFolderOptions extends HostGateOptions {
  /** Connections at a time. */
  readonly maxConnections: number;
  /** The user who may use it, where this process is root. */
  readonly user: number;
}

/**
 * Opens a gate that listens in a folder of its own, which only its user sees. Disposal cuts all connections, and
 * removes the folder.
 */
export async function openGateFolder({ maxConnections, user, ...options }: GateFolderOptions): Promise<GateFolder> {
  await using opened = new AsyncDisposableStack();
  const path = await mkdtemp(join(tmpdir(), "rockbot-gate-"));
  opened.defer(() => rm(path, { recursive: true, force: true }));
  const gate = opened.use(openHostGate(options));
  const server = createServer((connection) => gate.take(connection));
  server.maxConnections = maxConnections;
  const socket = join(path, GATE_SOCKET);
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(socket, resolve));
  opened.defer(async () => void server.close());
  const certificates = join(path, GATE_CERTIFICATES);
  await writeFile(certificates, getCACertificates("default").join("\n"), { mode: 0o400 });
  await chmod(socket, 0o600);
  if (process.getuid?.() === 0) for (const file of [path, socket, certificates]) await chown(file, user, user);
  const open = opened.move();
  return { path, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
