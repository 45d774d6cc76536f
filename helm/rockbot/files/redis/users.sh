#!/bin/sh
# Writes the users of Redis, and of the Sentinel beside it, from the files with their passwords: as hashes, and where only their owner reads them.
set -eu
umask 077
hash() {
  printf '#'
  printf %s "$(cat "$1")" | sha256sum | cut -d' ' -f1
}
own=/etc/rockbot/own-passwords
# As `default` Redis reads its log at a start, and leaves out without an error each transaction that `default` may not run.
all="user default on $(hash $own/reload) ~* &* +@all"
# The probes of the pod, with any password.
probe='user probe on nopass resetchannels -@all +ping'
{
  echo "$all"
  echo "$probe"
  echo "user reload on $(hash $own/reload) resetchannels -@all +acl|load +ping +role"
  echo "user replication on $(hash $own/replication) resetchannels -@all +psync +sync +replconf +ping"
  echo "user sentinel on $(hash $own/sentinel) allchannels -@all +multi +exec +slaveof +replicaof +ping +subscribe +publish +config|rewrite +role +info +client|setname +client|kill +client|no-evict +script|kill +hello"
  while read -r name rights; do
    if [ -s "/etc/rockbot/passwords/$name" ]; then echo "user $name on $(hash "/etc/rockbot/passwords/$name") resetchannels -@all $rights"; fi
  done </etc/rockbot/redis/users
} >/run/redis/users.new
{
  echo "$all"
  echo "$probe"
  echo "user reload on $(hash $own/reload) resetchannels -@all +acl|load +ping"
  echo "user sentinel on $(hash $own/sentinel) allkeys allchannels +@all"
  while read -r name _; do
    if [ -s "/etc/rockbot/passwords/$name" ]; then echo "user $name on $(hash "/etc/rockbot/passwords/$name") resetchannels -@all +@connection +sentinel|get-master-addr-by-name +sentinel|sentinels"; fi
  done </etc/rockbot/redis/users
} >/run/redis/sentinels.new
mv /run/redis/users.new /run/redis/users.acl
mv /run/redis/sentinels.new /run/redis/sentinels.acl
