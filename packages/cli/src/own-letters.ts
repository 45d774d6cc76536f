import type { DlqParts } from "@rockbot/gateway/dlq";
import { scriptRequestForm } from "@rockbot/scripts-manager";
import { busServices } from "@rockbot/services";

/** The names and forms by which dead letters of this repository's services are found and read. */
export const ownLetters: Pick<DlqParts, "services" | "forms"> = {
  services: busServices.flatMap(({ name, topic }) => (topic === undefined ? [] : [name])),
  forms: [scriptRequestForm],
};
