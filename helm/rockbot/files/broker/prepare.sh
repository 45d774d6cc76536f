#!/bin/sh
# Puts what only its owner may read where RabbitMQ looks for it: the nodes' common cookie, and the administrator that it makes at its first start.
set -eu
umask 077
mkdir -p /run/rabbitmq/conf.d
cp /etc/rockbot/broker/rabbitmq.conf /run/rabbitmq/conf.d/20-rockbot.conf
printf 'default_user = %s\ndefault_pass = %s\n' "$(cat /etc/rockbot/administrator/username)" "$(cat /etc/rockbot/administrator/password)" >/run/rabbitmq/conf.d/30-administrator.conf
rm -f /var/lib/rabbitmq/.erlang.cookie
tr -d '\n' </etc/rockbot/administrator/erlang-cookie >/var/lib/rabbitmq/.erlang.cookie
chmod 400 /var/lib/rabbitmq/.erlang.cookie
