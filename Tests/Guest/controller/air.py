"""What is on air: who sends when, and which controllers hear it."""
import heapq
import itertools
import random
import time


class Air:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.controllers = {}
        self.senders, self.heap, self.order = {}, [], itertools.count()
        self.paths = {}

    # Who sends

    def add(self, sender):
        self.senders[id(sender)] = sender
        self.push(time.monotonic() + self.chance.random() * sender.step(), sender)

    def remove(self, sender):
        self.senders.pop(id(sender), None)

    def later(self, seconds, action):
        """Does something some time from now."""
        heapq.heappush(self.heap, (time.monotonic() + seconds, next(self.order), None, action))

    def push(self, when, sender):
        heapq.heappush(self.heap, (when, next(self.order), sender, None))

    # Who hears

    def hush(self, controller):
        """A controller is gone: what it sent is off the air."""
        for sender in [each for each in self.senders.values() if each.owner is controller]:
            self.remove(sender)

    def path(self, sender, hearer):
        """dBm at one controller of what another sends."""
        return self.paths.get((sender, hearer), -50)

    def send(self, sender, now):
        for controller in self.controllers.values():
            if controller.file is not None and controller is not sender.owner:
                controller.hear(sender, now)

    # Time

    def advance(self, now):
        """Does all that is due, and says when the next is."""
        heap = self.heap
        while heap and heap[0][0] <= now:
            when, _, sender, action = heapq.heappop(heap)
            if action is not None:
                action()
            elif self.senders.get(id(sender)) is sender:
                self.send(sender, now)
                # Behind by more than a second, it gives up what it missed.
                self.push(max(when + sender.step(), now - 1), sender)
        waits = [heap[0][0]] if heap else []
        for controller in self.controllers.values():
            if controller.file is None or controller.due() is None:
                continue
            if controller.due() <= now:
                controller.flush()
            else:
                waits.append(controller.due())
        return min(waits, default=None)
