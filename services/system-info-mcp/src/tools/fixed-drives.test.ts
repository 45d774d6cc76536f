import { expect, test } from "vitest";
import { fixedDrives } from "./fixed-drives.ts";

test("local devices are drives, each once; networks, memory and images of programs are none", () => {
  const mounts = [
    "proc /proc proc rw 0 0",
    "/dev/sda1 /var/lib/long ext4 rw 0 0",
    "/dev/sda1 / ext4 rw 0 0",
    "/dev/sdb1 /mnt/my\\040disk xfs rw 0 0",
    "/dev/loop3 /snap/core squashfs ro 0 0",
    "tmpfs /tmp tmpfs rw 0 0",
    "server:/export /mnt/nfs nfs4 rw 0 0",
    "",
  ].join("\n");
  expect(fixedDrives(mounts)).toEqual([
    { path: "/", fileSystem: "ext4" },
    { path: "/mnt/my disk", fileSystem: "xfs" },
  ]);
  expect(fixedDrives("overlay / overlay rw,lowerdir=/a 0 0\nshm /dev/shm tmpfs rw 0 0\n")).toEqual([
    { path: "/", fileSystem: "overlay" },
  ]);
});
