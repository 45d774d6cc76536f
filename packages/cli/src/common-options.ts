/** What `--bus` means, wherever it is an option. */
export const BUS = "memory: or amqp(s)://user:password@host/vhost; else ROCKBOT_BUS, else BUS_URL, else memory:";
/** What `--policy` means where calls are made. */
export const POLICY = "who may do what, in YAML or JSON; else POLICY_FILE, else every caller may use every tool but the dangerous ones";
/** What `--allow-address` means. */
export const ALLOW = "let web_browse read this HOST:PORT or CIDR though it is not public; repeatable";
/** Gathers the values of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];
