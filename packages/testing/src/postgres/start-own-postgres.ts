import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readdirSync, rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../machine/free-port.ts";
import { canInstallDebianPackages, installDebianPackage } from "../machine/install-debian-package.ts";
import { run } from "../machine/run.ts";

/** A PostgreSQL of one's own. Disposal ends it and removes its data. */
export interface TestPostgres extends AsyncDisposable {
  /** The address of a new, empty database, with the password. */
  ownDatabase(): Promise<string>;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** After `kill`: starts it again on the same port, with what it has saved. */
  restart(): Promise<void>;
}

const VERSIONS = "/usr/lib/postgresql";
const PACKAGE = "postgresql";
const TIMEOUT_MS = 120_000;
/** Whom Debian's package makes: PostgreSQL refuses to run as root. */
const USER = "postgres";

/** Where the programs of the newest installed version are. */
function programsFolder(): string | undefined {
  const versions = existsSync(VERSIONS)
    ? readdirSync(VERSIONS).filter((version) => existsSync(join(VERSIONS, version, "bin", "initdb")))
    : [];
  const [newest] = versions.sort((one, other) => Number(other) - Number(one));
  return newest === undefined ? undefined : join(VERSIONS, newest, "bin");
}

/** Why this machine has no PostgreSQL for tests; undefined if it has one, or installs one when it is asked to start. */
export async function postgresMissing(): Promise<string | undefined> {
  if (programsFolder() !== undefined || canInstallDebianPackages()) return undefined;
  return `there is no PostgreSQL in ${VERSIONS}, and only root on Debian can install one`;
}

/** Starts an installed PostgreSQL with a port and a folder of its own; on Debian as root, one that is installed now. */
export async function startOwnPostgres(): Promise<TestPostgres> {
  if (programsFolder() === undefined) await installDebianPackage(PACKAGE);
  const programs = programsFolder();
  if (programs === undefined) throw new Error(`No PostgreSQL for the tests: install ${PACKAGE}`);
  const folder = await mkdtemp(join(tmpdir(), "rockbot-postgres-"));
  const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
  const password = randomBytes(12).toString("hex");
  await writeFile(passwordFile, password, { mode: 0o600 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [folder, passwordFile]) chownSync(path, idOf("-u"), idOf("-g"));
  const port = await freePort();
  const asUser = (program: string, ...args: string[]) => {
    const [command = "", ...rest] = [
      ...(isRoot ? ["runuser", "-u", USER, "--"] : []),
      join(programs, program),
      ...args,
    ];
    return run(command, rest, { timeoutMs: TIMEOUT_MS, env: { ...process.env, LC_ALL: "C.UTF-8" } });
  };
  const settings = `-h 127.0.0.1 -p ${port} -k ${folder}`;
  const start = () => asUser("pg_ctl", "-D", data, "-w", "-o", settings, "-l", join(folder, "log"), "start");
  const kill = () => asUser("pg_ctl", "-D", data, "-m", "immediate", "stop");
  await asUser(
    "initdb",
    "-D",
    data,
    "-U",
    USER,
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--locale=C.UTF-8",
  );
  await start();
  const endAtExit = () => {
    try {
      execFileSync(isRoot ? "runuser" : join(programs, "pg_ctl"), [
        ...(isRoot ? ["-u", USER, "--", join(programs, "pg_ctl")] : []),
        "-D",
        data,
        "-m",
        "immediate",
        "stop",
      ]);
    } catch {
      // it has ended already
    }
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endAtExit);
  let databases = 0;
  return {
    async ownDatabase() {
      const name = `test_${++databases}`;
      const server = `host=127.0.0.1 port=${port} user=${USER} password=${password}`;
      await asUser("psql", "-q", "-c", `CREATE DATABASE ${name}`, `${server} dbname=postgres`);
      return `postgres://${USER}:${password}@127.0.0.1:${port}/${name}`;
    },
    async kill() {
      await kill();
    },
    async restart() {
      await start();
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", endAtExit);
      await kill().catch(() => {}); // it was killed by the test
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const idOf = (flag: "-u" | "-g"): number => Number(execFileSync("id", [flag, USER], { encoding: "utf8" }));
