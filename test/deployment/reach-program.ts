/** A place that a process may reach or not. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/**
 * For `node --eval`, with targets as JSON: tries each for five seconds, and prints those that let it in. A connection
 * that is not allowed is dropped.
 */
export const REACH_PROGRAM = `
const { connect } = require("node:net");
const reach = (target) => new Promise((resolve) => {
  const socket = connect({ host: target.host, port: target.port, timeout: 5000 });
  const end = (isOpen) => { socket.destroy(); resolve(isOpen ? [target] : []); };
  socket.once("connect", () => end(true)).once("timeout", () => end(false)).once("error", () => end(false));
});
Promise.all(JSON.parse(process.argv[1]).map(reach)).then((open) => console.log(JSON.stringify(open.flat())));
`;
