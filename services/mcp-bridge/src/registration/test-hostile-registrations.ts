/** A body of a request to register a server, as an attacker would write it: an object, or a text that is sent as it is. */
export type HostileBody = object | string;

const url = (text: string) => ({ serverName: "weather-two", type: "http", url: text });
const command = (program: string, ...args: readonly string[]) => ({ serverName: "weather-two", type: "stdio", command: program, args });
const variable = (name: string, value = "x") => ({ serverName: "weather-two", type: "stdio", command: "/usr/bin/weather", env: { [name]: value } });
const named = (serverName: string) => ({ serverName, type: "http", url: "https://mcp.elsewhere.example/mcp" });

const shells = ["sh", "bash", "dash", "zsh", "busybox", "env", "xargs", "sudo", "npx", "uvx", "npm", "pnpm", "docker", "kubectl", "ssh", "awk", "find", "make"];
const interpreters = ["node", "python3", "python3.12", "perl", "ruby", "php", "deno", "bun", "lua"];
const metacharacters = ["; touch FILE", "&& touch FILE", "| touch FILE", "`touch FILE`", "$(touch FILE)", "> FILE", "\ntouch FILE", "\0touch FILE", "*", "{a,b}", "~/x\\y", '"', "'", "$HOME", "!!"];
const paths = ["weather", "./weather", "../weather", "/usr/bin/../bin/sh", "/usr//bin/sh", "/tmp/./x", "/", "/usr/bin/", "C:\\Windows\\cmd.exe", "\\\\host\\share\\x", "file:///bin/sh", "/bin/sh\n", "/bin/sh\0", "/bin/ѕh", " /bin/sh", "-c", "~/x", "/proc/self/exe sh", "$SHELL", "/dev/tcp/127.0.0.1/80;"];
const variables = [
  ..."LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS npm_config_registry PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_CONFIG_GLOBAL SSH_ASKPASS BASH_ENV BASH_FUNC_ls ENV ZDOTDIR SHELL IFS PATH HOME TMPDIR XDG_CONFIG_HOME PROMPT_COMMAND PS4 EDITOR PAGER LESSOPEN BROWSER HTTP_PROXY https_proxy ALL_PROXY SSL_CERT_FILE CURL_CA_BUNDLE OPENSSL_CONF AWS_PROFILE KUBECONFIG DOCKER_HOST REDIS_URL ROCKBOT_BUS OTEL_EXPORTER_OTLP_ENDPOINT GCONV_PATH LOCPATH HOSTALIASES DOTNET_STARTUP_HOOKS".split(" "),
  "A=B",
  "",
  "1A",
  "A B",
  "A\n",
  "А",
];
const addresses = [
  "127.0.0.1", "127.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST", "localhost.", "foo.localhost", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
  "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[fd00::1]", "[2002:7f00:1::]", "metadata.google.internal", "redis", "printer.local", "db.lan", "intranet.corp", "１２７.0.0.1", "127。0。0。1", "ⓛocalhost", "x.onion",
];
const schemes = ["file:///etc/passwd", "http://mcp.example.com/mcp", "ftp://mcp.example.com/", "ws://mcp.example.com/", "wss://mcp.example.com/", "gopher://x/", "data:text/plain,x", "javascript:alert(1)", "unix:/run/docker.sock", "//mcp.example.com/", "/mcp", "", " https://mcp.example.com/", "HTTPS://mcp.example.com/", "https:mcp.example.com", "https:\\\\mcp.example.com\\", "blob:https://x"];
const tricks = [
  "https://mcp.example.com@evil.example/mcp", "https://user:pass@mcp.example.com/", "https://evil.example\\@mcp.example.com/", "https://mcp.example.com.evil.example/", "https://evilmcp.example.com/", "https://mcp.example.com:8443/", "https://tools.example.org/", "https://eviltools.example.org/",
  "https://mcp.example.com./", "https://mcp.exam\nple.com/", "https://mcp.example.com/\u0000", "https://mcp.example.com/\u202e", "https://mcp.еxample.com/", "https://mcp.example.com/#x", "https://mcp.example.com/${REDIS_URL}", "https://${BUS_URL}.evil.example/", `https://evil.example/${"a".repeat(1_900)}`, "https://", "https://.", "https://..", "https://*.example.com/", "https://[mcp.example.com]/",
];
const names = ["", " ", "Weather", "WEATHER", "weather two", "weather\n", "weather\u200b", "wеather", "ﬁles", "../weather", "/etc", "..", ".", "a.b", "a__b", "a/b", "a\\b", "a:b", "*", "#", "%2e", "x".repeat(40), "x".repeat(300), "-weather", "$(id)", "{{7*7}}", "__proto__", "toString\0", "files", "f1les", "fi-les", "fi1es", "FILES", "weather1".replace("1", ""), "vveather", "weatner\u0301"];
const texts = [
  "", "null", "[]", "7", '"x"', "{", '{"serverName":"a"}', '{"type":"http"}', '{"serverName":null,"type":"http"}', '{"serverName":{},"type":"http"}', '{"serverName":"a","type":7}', '{"serverName":"a","type":"http","url":7}',
  '{"serverName":"a","type":"http","url":["https://mcp.example.com/"]}', '{"serverName":"a","type":"stdio","command":{"x":1}}', '{"serverName":"a","type":"stdio","args":"-c"}', '{"serverName":"a","type":"stdio","args":[7]}', '{"serverName":"a","type":"stdio","env":[]}', '{"serverName":"a","type":"stdio","env":{"A":7}}',
  '{"serverName":"a","serverName":"b","type":"http"}', '{"__proto__":{"serverName":"a","type":"http"}}', '{"serverName":"a","type":"stdio","__proto__":{"command":"/bin/sh"}}', '{"serverName":"a","type":"stdio","env":{"__proto__":{"LD_PRELOAD":"x"}}}', '{"serverName":"a","type":"stdio","constructor":{"prototype":{"command":"/bin/sh"}},"command":"sh"}',
  `{"serverName":"a","type":"http","url":"${"x".repeat(3_000)}"}`, `{"serverName":"a","type":"stdio","command":"${"/x".repeat(3_000)}"}`, `{"serverName":"a","type":"stdio","command":"/x","args":[${Array(2_000).fill('"a"').join(",")}]}`, `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`,
];

/** Requests of which none may start a process, nor be connected to: each is answered as denied, or as something that cannot be read. */
export const hostileRegistrations: readonly HostileBody[] = [
  ...shells.flatMap((program) => [command(program, "-c", "touch FILE"), command(`/usr/bin/${program}`, "x")]),
  ...interpreters.flatMap((program) => [command(`/usr/bin/${program}`, "-e", "1"), command(`/usr/local/bin/${program}`)]),
  ...metacharacters.flatMap((text) => [command("/usr/bin/weather", text), command(`/usr/bin/weather${text}`)]),
  ...paths.map((program) => command(program)),
  ...variables.map((name) => variable(name)),
  variable("CITY", "$" + "{REDIS_URL}"),
  variable("CITY", "a\nLD_PRELOAD=x"),
  variable("CITY", "x".repeat(5_000)),
  command("/usr/bin/weather", ...Array.from({ length: 200 }, () => "a")),
  { ...command("/usr/bin/weather"), url: "https://mcp.example.com/mcp" },
  { ...url("https://mcp.example.com/mcp"), env: { LD_PRELOAD: "x" } },
  { serverName: "weather", type: "stdio", args: ["--more"] },
  { serverName: "weather", type: "stdio", env: { NODE_OPTIONS: "--require=x" } },
  { serverName: "unknown-entry", type: "stdio" },
  { ...url("https://mcp.example.com/mcp"), type: "stdio" },
  ...addresses.flatMap((host) => [url(`https://${host}/mcp`), url(`https://${host}:6379/`)]),
  ...[...schemes, ...tricks].map(url),
  ...names.map(named),
  ...texts,
];
