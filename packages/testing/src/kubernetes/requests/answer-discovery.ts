import { noSuchResource } from "../store/api-failure.ts";
import { apiVersionOf, resources } from "../store/resources.ts";

const VERBS = ["create", "delete", "get", "list", "patch", "watch"];

const VERSION = {
  major: "1",
  minor: "35",
  gitVersion: "v1.35.0",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "go1.25.0",
  compiler: "gc",
  platform: "linux/amd64",
};

/** What the paths that are of no resource answer. @throws {ApiFailure} 404 for one that the server has not */
export function discoveryAt(path: string): object {
  const groups = [...new Set(resources.map(({ group }) => group).filter((group) => group !== ""))];
  if (path === "/version") return VERSION;
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupAt) };
  const version = path === "/api/v1" ? "v1" : path.replace(/^\/apis\//, "");
  const found = resources.filter((resource) => apiVersionOf(resource) === version);
  if (found.length === 0) throw noSuchResource();
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: version,
    resources: found.flatMap(({ name, singular, kind, isNamespaced, shortNames = [], subresources = [] }) => [
      { name, singularName: singular, namespaced: isNamespaced, kind, verbs: VERBS, shortNames },
      ...subresources.map((sub) => ({
        name: `${name}/${sub}`,
        singularName: "",
        namespaced: isNamespaced,
        kind,
        verbs: ["get"],
      })),
    ]),
  };
}

function groupAt(group: string): object {
  const version = { groupVersion: `${group}/v1`, version: "v1" };
  return { name: group, versions: [version], preferredVersion: version };
}
