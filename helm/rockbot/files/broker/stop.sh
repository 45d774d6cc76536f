#!/bin/sh
# Before a node of several ends: waits until no quorum queue needs it, and hands over what it leads. Kubernetes ends it after its grace in any case.
rabbitmq-upgrade --quiet await_online_quorum_plus_one --timeout 60
rabbitmq-upgrade --quiet drain --timeout 30
exit 0
