#!/usr/bin/python3
"""Tries over AMQP to report and to read for other receivers with the account of one, for fleet-up.py.

    Tests/Checks/fleet-thief.py PORT QUEUE USER PASSWORD

QUEUE is that of the account's subscription. It needs python3-pika. It prints what the node permits, and the messages of
amq.topic meanwhile, as an account with all rights receives them.
"""

import json
import sys
import time

import pika
import pika.exceptions

OWN = "fleet.21.museum.hall-1.seen"
OTHERS = ["fleet.21.museum.hall-2.seen", "fleet.21.museum.hall-2.configuration", "fleet.17.simulated.hall-1.seen"]


def connect(port, user, password):
    return pika.BlockingConnection(
        pika.ConnectionParameters("127.0.0.1", port, "/", pika.PlainCredentials(user, password)))


def crimes(queue):
    """Returns what a thief may try, by a channel, with names."""
    forward = {"x-dead-letter-exchange": "amq.topic", "x-dead-letter-routing-key": OTHERS[0], "x-message-ttl": 0}
    yield "publish for itself", lambda channel: channel.basic_publish("amq.topic", OWN, b"own")
    for kind in ["fanout", "direct", "topic", "headers"]:
        yield f"make the exchange {kind}", lambda channel, kind=kind: channel.exchange_declare(queue, kind)
        for other in OTHERS:
            yield f"bind amq.topic to it for {other}", lambda channel, other=other: channel.exchange_bind(
                "amq.topic", queue, other)
            yield f"publish {other} by it", lambda channel, other=other: channel.basic_publish(queue, other, b"forged")
        yield "remove it", lambda channel: channel.exchange_delete(queue)
    yield "make an exchange with a detour", lambda channel: channel.exchange_declare(
        queue, "fanout", arguments={"alternate-exchange": "amq.topic"})
    yield "make a queue with a detour", lambda channel: channel.queue_declare(queue, arguments=forward)
    yield "make its queue", lambda channel: channel.queue_declare(queue, durable=True)
    for other in OTHERS:
        yield f"publish {other}", lambda channel, other=other: channel.basic_publish("amq.topic", other, b"forged")
        yield f"bind its queue to {other}", lambda channel, other=other: channel.queue_bind(queue, "amq.topic", other)
    yield "publish with copies", lambda channel: channel.basic_publish(
        "amq.topic", OWN, b"own", pika.BasicProperties(headers={"CC": OTHERS, "BCC": OTHERS}))
    yield "bind its queue to all", lambda channel: channel.queue_bind(queue, "amq.topic", "#")
    for exchange in ["amq.fanout", "amq.direct", "amq.headers", "amq.match", "transitions", "pictures"]:
        yield f"bind amq.topic to {exchange}", lambda channel, exchange=exchange: channel.exchange_bind(
            "amq.topic", exchange, OTHERS[0])
        yield f"publish to {exchange}", lambda channel, exchange=exchange: channel.basic_publish(
            exchange, OTHERS[0], b"forged")
        yield f"bind its queue to {exchange}", lambda channel, exchange=exchange: channel.queue_bind(queue, exchange, "#")
    for other in ["reports.21", "log.21", "register.21", "workers", "transitions", "pictures"]:
        yield f"publish to the queue {other}", lambda channel, other=other: channel.basic_publish("", other, b"forged")
        yield f"read {other}", lambda channel, other=other: channel.basic_get(other)
        yield f"empty {other}", lambda channel, other=other: channel.queue_purge(other)
        yield f"remove {other}", lambda channel, other=other: channel.queue_delete(other)
    yield "remove amq.topic", lambda channel: channel.exchange_delete("amq.topic")
    yield "make a queue", lambda channel: channel.queue_declare("")


def main():
    port, queue, user, password = int(sys.argv[1]), *sys.argv[2:]
    watch = connect(port, "guest", "guest").channel()
    seen = watch.queue_declare("", exclusive=True).method.queue
    watch.queue_bind(seen, "amq.topic", "#")
    permitted = []
    for name, crime in crimes(queue):
        connection = connect(port, user, password)
        channel = connection.channel()
        channel.confirm_delivery()
        try:
            crime(channel)
            permitted.append(name)
        except pika.exceptions.ChannelClosedByBroker:
            pass
        connection.close()
    time.sleep(1)
    messages = []
    while (delivery := watch.basic_get(seen, auto_ack=True))[0]:
        messages.append([delivery[0].routing_key, delivery[2].decode(errors="replace")])
    print(json.dumps({"permitted": permitted, "messages": messages}))


main()
