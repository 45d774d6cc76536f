#!/bin/sh
# Before a master ends: has the Sentinels make a replica the master, and waits until that is so.
own=/etc/rockbot/own-passwords
is_master() { REDISCLI_AUTH=$(cat $own/reload) redis-cli -t 2 --user reload role | head -n 1 | grep -q master; }
seconds=0
while is_master && [ $seconds -lt 15 ]; do
  if [ $((seconds % 5)) = 0 ]; then
    for host in $(grep -vF "$POD_NAME." /etc/rockbot/redis/hosts); do
      REDISCLI_AUTH=$(cat $own/sentinel) redis-cli -t 2 --user sentinel -h "$host" -p 26379 sentinel failover rockbot >/dev/null && break
    done
  fi
  sleep 1
  seconds=$((seconds + 1))
done
exit 0
