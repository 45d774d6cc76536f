import type { Command } from "commander";
import type { BrokerApplyOptions } from "../commands/broker-apply.ts";
import type { BrokerDefinitionsCommandOptions } from "../commands/broker-definitions.ts";

/** Adds `rockbot broker` and its commands. */
export function addBrokerCommand(program: Command): void {
  const broker = program.command("broker").description("Write, or apply, the users and permissions of the broker.");

  broker
    .command("definitions")
    .description("Write a definitions file for RabbitMQ, which grants exactly what the policy grants.")
    .option("--policy <file>", "the policy file; default POLICY_FILE")
    .option(
      "--out <file>",
      "the file to write, readable by you alone; replaces an existing file unless other users can read it",
    )
    .option("--vhost <name>", "the virtual host (default /)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot broker definitions --policy policy.yaml --out broker-definitions.json
  rabbitmqctl import_definitions broker-definitions.json

Passwords come from the variables ROCKBOT_PASSWORD_{USER}, with the user in capitals and _ for -. A variable
ROCKBOT_PASSWORD_{USER}_FILE names a file with the password instead. The written file holds password hashes: keep it
secret, and do not commit it. A second import adds and changes users. It does not delete users that the policy no longer names.`,
    )
    .action(async (options: BrokerDefinitionsCommandOptions) =>
      (await import("../commands/broker-definitions.ts")).writeBrokerDefinitions(options),
    );

  broker
    .command("apply")
    .description("Give a running RabbitMQ the users, permissions and bounds that the policy grants, and no others.")
    .option("--policy <file>", "the policy file; default POLICY_FILE")
    .option("--management <url>", "http(s)://host:15672; default ROCKBOT_MANAGEMENT_URL(_FILE)")
    .option("--passwords <folder>", "a folder with a file for each user, named after the user, that holds the password")
    .option("--vhost <name>", "the virtual host (default /)")
    .option("--timeout <seconds>", "how long the broker may take (default 300)")
    .addHelpText(
      "after",
      `
Examples:
  ROCKBOT_MANAGEMENT_URL_FILE=management-url rockbot broker apply --policy policy.yaml --passwords passwords
  ROCKBOT_MANAGEMENT_USER=admin ROCKBOT_MANAGEMENT_PASSWORD_FILE=admin-password \\
    rockbot broker apply --policy policy.yaml --management http://broker:15672

The management URL needs a user with the tag administrator. Its user and password may come from the URL, or from
ROCKBOT_MANAGEMENT_USER and ROCKBOT_MANAGEMENT_PASSWORD(_FILE). Passwords of users come from --passwords, from
ROCKBOT_PASSWORD_{USER}, or from the file that ROCKBOT_PASSWORD_{USER}_FILE names.

The command waits for a broker that starts. A second run changes nothing. Users with the tag "rockbot" that the policy no
longer names are deleted; it touches no other user. Exit code: 0 done, 1 not done, with every fault, 2 wrong usage.`,
    )
    .action(async (options: BrokerApplyOptions) =>
      (await import("../commands/broker-apply.ts")).applyBrokerRights(options),
    );
}
