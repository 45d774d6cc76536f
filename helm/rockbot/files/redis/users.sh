#!/bin/sh
# Writes the users of Redis, and of the Sentinel beside it, from the files with their passwords: as hashes, and where only their owner reads them.
set -eu
umask 077
hash() {
  printf '#'
  printf %s "$(cat "$1")" | sha256sum | cut -d' ' -f1
}
nobody='user default on nopass resetkeys resetchannels -@all +ping'
own=/etc/rockbot/own-passwords
{
  echo "$nobody"
  echo "user reload on $(hash $own/reload) resetchannels -@all +acl|load +ping +role"
  echo "user replication on $(hash $own/replication) resetchannels -@all +psync +sync +replconf +ping"
  echo "user sentinel on $(hash $own/sentinel) allchannels -@all +multi +exec +slaveof +replicaof +ping +subscribe +publish +config|rewrite +role +info +client|setname +client|kill +client|no-evict +script|kill +hello"
  while read -r name rights; do
    if [ -s "/etc/rockbot/passwords/$name" ]; then echo "user $name on $(hash "/etc/rockbot/passwords/$name") resetchannels -@all $rights"; fi
  done </etc/rockbot/redis/users
} >/run/redis/users.new
{
  echo "$nobody"
  echo "user reload on $(hash $own/reload) resetchannels -@all +acl|load +ping"
  echo "user sentinel on $(hash $own/sentinel) allkeys allchannels +@all"
  while read -r name _; do
    if [ -s "/etc/rockbot/passwords/$name" ]; then echo "user $name on $(hash "/etc/rockbot/passwords/$name") resetchannels -@all +@connection +sentinel|get-master-addr-by-name +sentinel|sentinels"; fi
  done </etc/rockbot/redis/users
} >/run/redis/sentinels.new
mv /run/redis/users.new /run/redis/users.acl
mv /run/redis/sentinels.new /run/redis/sentinels.acl
