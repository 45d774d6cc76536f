#!/bin/sh
# Has Redis, and the Sentinel beside it, take passwords that have changed. Connections that are open stay.
trap 'exit 0' TERM INT
before=$(cat /run/redis/*.acl)
load() { REDISCLI_AUTH=$(cat /run/redis/reload) redis-cli -t 5 --user reload -p "$1" acl load >/dev/null; }
cp -f /etc/rockbot/own-passwords/reload /run/redis/reload
while :; do
  sleep 10 &
  wait $!
  sh /etc/rockbot/redis/users.sh || continue
  now=$(cat /run/redis/*.acl)
  if [ "$now" = "$before" ]; then continue; fi
  load 6379 || continue
  if [ -n "${SENTINEL:-}" ]; then load 26379 || continue; fi
  cp -f /etc/rockbot/own-passwords/reload /run/redis/reload
  before=$now
  echo "took the passwords that have changed"
done
