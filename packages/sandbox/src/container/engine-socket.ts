const USUAL = "/var/run/docker.sock";

/**
 * The unix socket of the container engine that an address in the form of `DOCKER_HOST` names; where Docker has it, if
 * there is none.
 * @throws {TypeError} for an address that is no unix socket: an engine elsewhere would not see the packages' folder
 */
export function engineSocket(address: string | undefined): string {
  if (address === undefined || address === "") return USUAL;
  const path = /^unix:\/\/(\/.+)$/.exec(address)?.[1] ?? (address.startsWith("/") ? address : undefined);
  if (path === undefined)
    throw new TypeError(
      `Cannot use "${address}" as container engine: expected unix:// and the path of a socket on this machine`,
    );
  return path;
}
