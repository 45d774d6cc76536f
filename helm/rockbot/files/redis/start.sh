#!/bin/sh
# start.sh redis: starts Redis, as master or as a replica of the one that the Sentinels name. start.sh sentinel: starts the Sentinel beside it.
set -eu
umask 077
if [ -z "${SENTINEL:-}" ]; then exec redis-server /etc/rockbot/redis/redis.conf; fi

me=$POD_NAME.$DOMAIN
first=$(head -n 1 /etc/rockbot/redis/hosts)
own=/etc/rockbot/own-passwords
kept=/data/sentinel.conf
ask() { REDISCLI_AUTH=$(cat $own/sentinel) timeout 3 redis-cli -t 2 --user sentinel -h "$1" -p 26379 sentinel get-master-addr-by-name rockbot 2>/dev/null | head -n 1; }
# The master that most Sentinels of the other pods name.
named() {
  while read -r host; do
    if [ "$host" != "$me" ]; then ask "$host" || true; fi
  done </etc/rockbot/redis/hosts | grep -F "$DOMAIN" | sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p'
}
# The master of before, where all were down.
remembered() { sed -n 's/^sentinel monitor rockbot \([^ ]*\) .*/\1/p' $kept 2>/dev/null || true; }

# Whether the Redis of another pod has what a master has told it.
others_have_data() {
  for host in $(grep -vxF "$me" /etc/rockbot/redis/hosts); do
    offset=$(REDISCLI_AUTH=$(cat $own/reload) timeout 3 redis-cli -t 2 --user reload -h "$host" role 2>/dev/null | sed -n '1h;$H;${x;s/^slave\n//p;}')
    if [ "${offset:-0}" -gt 0 ]; then return 0; fi
  done
  return 1
}

if [ "$1" = redis ]; then
  # While the others still name this pod, it is the master that they have lost. They hold what this one may have no more, and choose another of them first.
  master=$(named)
  while [ "$master" = "$me" ] && others_have_data; do
    echo "waits until the Sentinels have made another one the master"
    sleep 2
    master=$(named)
  done
  if [ -z "$master" ]; then master=$(remembered); fi
  if [ -z "$master" ]; then master=$first; fi
  conf=/run/redis/redis.conf
  cp /etc/rockbot/redis/redis.conf $conf
  echo "masterauth $(cat $own/replication)" >>$conf
  echo "replica-announce-ip $me" >>$conf
  if [ "$master" != "$me" ]; then echo "replicaof $master 6379" >>$conf; fi
  echo "starts as $([ "$master" = "$me" ] && echo master || echo "replica of $master")"
  exec redis-server $conf
fi

master=$(named)
if [ -z "$master" ]; then master=$(remembered); fi
if [ -z "$master" ]; then master=$first; fi
conf=$kept.new
cp /etc/rockbot/redis/sentinel.conf $conf
{
  echo "sentinel announce-ip $me"
  echo "sentinel monitor rockbot $master 6379 2"
  echo "sentinel auth-user rockbot sentinel"
  echo "sentinel auth-pass rockbot $(cat $own/sentinel)"
  echo "sentinel sentinel-user sentinel"
  echo "sentinel sentinel-pass $(cat $own/sentinel)"
  echo "sentinel down-after-milliseconds rockbot 5000"
  echo "sentinel failover-timeout rockbot 10000"
  echo "sentinel parallel-syncs rockbot 1"
  # Its own for ever: one that comes back with another name would be one more whose vote is missed.
  echo "sentinel myid $(printf %s "$me" | sha1sum | cut -d' ' -f1)"
  if [ -f $kept ]; then grep -E '^sentinel (current-epoch|config-epoch|leader-epoch)' $kept || true; fi
} >>$conf
mv $conf $kept
exec redis-server $kept --sentinel
