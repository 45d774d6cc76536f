import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../machine/free-port.ts";
import { run } from "../machine/run.ts";
import { createServerProcess } from "../machine/servers/server-process.ts";
import { createControl } from "./control.ts";
import { importDefinitions } from "./import-definitions.ts";
import type { StartOwnBrokerOptions, TestBroker } from "./test-broker.ts";
import { untilAmqpAnswers } from "./until-amqp-answers.ts";

/** The package's own scripts: those in /usr/sbin change the user and the home folder. */
const SCRIPTS = "/usr/lib/rabbitmq/bin";
export const LOCAL_SERVER = `${SCRIPTS}/rabbitmq-server`;
/** RabbitMQ's own is 5 s: by that a thousand idle queues take a tenth of a processor. */
const RARE_TICKS = "-rabbit quorum_tick_interval 60000";

/** An installed rabbitmq-server with ports, folders, cookie, name and port mapper (epmd) of its own. */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startLocalBroker({
  hasManagement = false,
  isShared = false,
}: StartOwnBrokerOptions = {}): Promise<TestBroker> {
  const folder = await mkdtemp(join(tmpdir(), "rockbot-broker-"));
  const [port, managementPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const [distributionPort, epmdPort] = [await freePort(), await freePort()];
  const password = randomBytes(12).toString("hex");
  await writeFile(join(folder, ".erlang.cookie"), randomBytes(16).toString("hex"), { mode: 0o400 });
  await writeFile(join(folder, "plugins"), hasManagement ? "[rabbitmq_management, rabbitmq_prometheus].\n" : "[].\n");
  await writeFile(join(folder, "env.conf"), "");
  await writeFile(
    join(folder, "rabbitmq.conf"),
    [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      "default_user = test",
      `default_pass = ${password}`,
      "disk_free_limit.absolute = 1MB",
      "raft.wal_max_size_bytes = 33554432",
      ...(hasManagement
        ? [
            "management.tcp.ip = 127.0.0.1",
            `management.tcp.port = ${managementPort}`,
            "prometheus.tcp.ip = 127.0.0.1",
            `prometheus.tcp.port = ${metricsPort}`,
          ]
        : []),
      "",
    ].join("\n"),
  );
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    LANG: "C.UTF-8",
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_CRASH_DUMP: "/dev/null", // else a broker that crashes writes one into the folder of the tests
    RABBITMQ_NODENAME: `test-${randomBytes(4).toString("hex")}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_CONF_ENV_FILE: join(folder, "env.conf"),
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_LOGS: "-",
    RABBITMQ_PID_FILE: join(folder, "pid"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `+sbwt none -kernel inet_dist_use_interface {127,0,0,1} ${isShared ? RARE_TICKS : ""}`,
  };

  // A port mapper that is there already is used; else the broker would leave one running after its end.
  const epmd = spawn("epmd", ["-port", String(epmdPort), "-address", "127.0.0.1"], { stdio: "ignore", env });
  const { start, signal, pause, kill } = createServerProcess({
    program: LOCAL_SERVER,
    args: [],
    env,
    comesFirst: isShared,
    untilReady: (explain) => untilAmqpAnswers(port, explain),
  });
  const endAtExit = () => {
    signal("SIGKILL");
    epmd.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endAtExit);
  const stop = async () => {
    process.off("exit", endAtExit);
    await kill();
    epmd.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }

  const { ctl, restarted } = createControl((...args) =>
    run(`${SCRIPTS}/rabbitmqctl`, args, { timeoutMs: 60_000, env }),
  );
  const url = `amqp://test:${password}@127.0.0.1:${port}`;
  const managementUrl = `http://test:${password}@127.0.0.1:${managementPort}`;
  return {
    url,
    directUrl: async () => url,
    metricsAddress: async () => `127.0.0.1:${metricsPort}`,
    managementUrl: async () => managementUrl,
    kill,
    async restart() {
      await start();
      restarted();
    },
    pause,
    resume: async () => signal("SIGCONT"),
    ctl,
    async importDefinitions(definitions) {
      if (hasManagement) return importDefinitions(managementUrl, definitions);
      const file = join(folder, "definitions.json");
      await writeFile(file, JSON.stringify(definitions));
      await ctl("import_definitions", file);
    },
    [Symbol.asyncDispose]: stop,
  };
}
