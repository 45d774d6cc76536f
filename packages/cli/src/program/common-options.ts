/** The help of `--bus`, wherever it is an option. */
export const BUS =
  "the bus: memory: or amqp(s)://user:password@host/vhost; default ROCKBOT_BUS, else BUS_URL, else memory:";
/** The help of `--policy` where calls are made. */
export const POLICY =
  "the policy file, YAML or JSON; default POLICY_FILE, else every caller may use every tool except the dangerous ones";
/** The help of `--for` where calls are made. */
export const FOR =
  "the caller for whom the command asks (default: you); a running rockbot up takes it at a broker only, where your user has to be a delegate";
/** The help of `--allow-address`. */
export const ALLOW = "let web_browse read this private HOST:PORT or CIDR; repeatable";
/** Gathers the values of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];
