#!/bin/sh
# Before a master ends: has the Sentinels make a replica the master, once, and waits until one of them names another.
own=/etc/rockbot/own-passwords
others=$(grep -vF "$POD_NAME." /etc/rockbot/redis/hosts)
ask() { REDISCLI_AUTH=$(cat $own/sentinel) redis-cli -t 2 --user sentinel -h "$1" -p 26379 sentinel "$2" rockbot 2>/dev/null | head -n 1; }
is_master() { REDISCLI_AUTH=$(cat $own/reload) redis-cli -t 2 --user reload role | head -n 1 | grep -q master; }
# A Sentinel names the next one as soon as it has made it the master. This Redis hears of that later, and a second request meanwhile would be a second failover.
is_named() {
  for host in $others; do
    case $(ask "$host" get-master-addr-by-name) in "" | "$POD_NAME."*) ;; *) return 1 ;; esac
  done
  return 0
}
is_master || exit 0
is_asked=
seconds=0
while [ $seconds -lt 15 ] && is_named; do
  for host in $others; do
    if [ -z "$is_asked" ] && [ "$(ask "$host" failover)" = OK ]; then is_asked=yes; fi
  done
  sleep 1
  seconds=$((seconds + 1))
done
exit 0
