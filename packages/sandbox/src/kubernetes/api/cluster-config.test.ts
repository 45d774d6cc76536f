import { startKubernetesApi, temporaryFolder, writeKubeconfig } from "@rockbot/testing";
import { expect, test } from "vitest";
import { loadClusterConfig } from "./cluster-config.ts";
import { PodsApi } from "./pods-api.ts";

/** More than a request takes from its call until it is sent. */
const MOST_TURNS = 100;

test("requests go over HTTP/1.1 to a server that speaks HTTP/2, too, and each can be called off at any moment", async () => {
  await using server = await startKubernetesApi();
  using folder = temporaryFolder();
  const kubeconfigFile = folder.write("kubeconfig", "");
  writeKubeconfig(kubeconfigFile, server.connection);
  await using config = loadClusterConfig({ kubeconfigFile });
  const api = new PodsApi(config, "default");
  const { signal } = new AbortController();
  await api.list(signal);

  // First: over HTTP/2 the rest would not fail, but stop this process and fill its memory.
  expect(server.requests.map(({ httpVersion }) => httpVersion)).toEqual(["1.1"]);

  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const giveUp = new AbortController();
    const deleted = api.delete({ name: "none", uid: "none" }, giveUp.signal);
    deleted.catch(() => {});
    for (let turn = 0; turn < turns; turn++) await undefined;
    giveUp.abort(new Error("called off"));

    await expect(deleted).rejects.toThrow("called off");
  }
  await expect(api.list(signal)).resolves.toMatchObject({ pods: [] });
});
