# SPDX-License-Identifier: MIT
"""generate(seed): a sequence of steps, as main.c plays them, that is the same for the same seed.

A model of a small world, in which every call succeeds and every event comes, says what
would be a sensible next step; most steps are one of those, the others are anything."""
import random
import sys

STATES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 99]
# What may be told by rdma_notify(); 14 is a migrated path, which is left out.
NOTES = [13, 13, 0, 5, 7, 19, 255]
# A connection that is asked for takes 74 s.
UNANSWERED_MS = 80000
OPTIONS = [
    (0, 0, 1, 0x68), (0, 0, 1, 0xFF), (0, 0, 2, 1), (0, 1, 4, 1), (0, 1, 4, 0), (0, 1, 1, 1),
    (0, 2, 4, 1), (0, 2, 4, 0), (0, 2, 8, 1), (0, 3, 1, 14), (0, 3, 1, 0), (0, 3, 1, 40), (0, 3, 4, 1),
    (0, 9, 4, 1), (1, 1, 64, 0), (1, 1, 0, 0), (7, 0, 4, 0),
]
PARAMS = [
    "1/1/7/7/0", "1/1/7/7/0", "1/1/7/7/0", "2/3/5/6/10", "0/0/0/0/1", "255/255/7/7/56", "4/4/1/1/136",
    "1/1/7/7/137", "1/1/7/7/148", "1/1/7/7/196", "1/1/7/7/255", "129/1/7/7/0", "1/129/7/7/0", "1/1/8/9/4", "null",
]
GOOD_PARAMS = ["1/1/7/7/0", "1/1/7/7/0", "2/3/5/6/10", "0/0/0/0/1", "4/4/1/1/50", "255/255/7/7/20", "null"]


class Id:
    def __init__(self, name, space, channel):
        self.name, self.space, self.channel = name, space, channel
        self.stage, self.qp, self.peer, self.busy = "idle", False, None, False
        self.groups = []

    @property
    def sync(self):
        return self.channel is None

    @property
    def datagram(self):
        return self.space in ("udp", "ipoib")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.steps = []
        self.channels, self.ids, self.held = [], {}, {}
        self.waited = False
        # Events that the model thinks are unread: of each channel, (what, id).
        self.unread = {}

    # --- words ---

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, of):
        return self.random.choice(of)

    def say(self, *words):
        self.steps.append(" ".join(str(word) for word in words))

    def new_id(self):
        free = [f"i{n}" for n in range(12) if f"i{n}" not in self.ids]
        return free[0] if free else None

    def address(self, any_port=False):
        where = self.pick(["dev4"] * 10 + ["any4"] * 4 + ["dev6"] * 3 + ["any6", "lo4", "lo6", "nobody4", "noroute4", "noroute6", "unix", "none", "ib"])
        return f"{where}:{'0' if any_port or self.chance(60) else 'f' + str(self.random.randrange(4))}"

    def qp_type(self, one):
        if self.chance(4):
            return self.pick(["rc", "ud", "uc", "xrc_send", "xrc_recv", "9"])
        return "ud" if one.datagram else "rc"

    def event(self, what, one):
        if one.channel:
            self.unread.setdefault(one.channel, []).append((what, one))
        else:
            self.happens(what, one)

    # --- what the model believes ---

    def happens(self, what, one, slot=None):
        if what == "request":
            name = slot if slot and slot not in self.ids else self.last_free()
            if not name or one.name not in self.ids:
                return
            client = one.peer
            new = Id(name, one.space, one.channel)
            new.stage, new.peer = "requested", client
            self.ids[name] = new
            if client:
                client.peer = new
        elif self.ids.get(one.name) is one:
            if what == "response":
                what = "established" if one.qp else "responded"
                if one.qp and one.peer:
                    self.event("established", one.peer)
            one.stage = what

    def last_free(self):
        """Where the player puts a request's id that no step has a place for."""
        free = [f"i{n}" for n in range(12) if f"i{n}" not in self.ids]
        return free[-1] if free else None

    def read(self, channel, count=99, slot=None):
        waiting = self.unread.get(channel, [])
        for _ in range(min(count, len(waiting))):
            what, one = waiting.pop(0)
            self.happens(what, one, slot)

    # --- steps ---

    def channel(self):
        name = f"c{len(self.channels)}"
        self.say("channel", name)
        self.channels.append(name)

    def create(self, sync=None):
        name = self.new_id()
        if not name:
            return
        sync = self.chance(18) if sync is None else sync
        space = self.pick(["tcp"] * 12 + ["udp"] * 5 + ["ib", "ipoib", "0", "0x555"] * (1 if self.chance(40) else 0))
        channel = None if sync else self.pick(self.channels)
        self.say("id", name, channel or "sync", space)
        if space not in ("0", "0x555"):
            self.ids[name] = Id(name, space, channel)

    def endpoint(self):
        name = self.new_id()
        if not name:
            return
        passive = self.chance(50)
        listeners = [one.name for one in self.ids.values() if one.stage == "listening"]
        kind = self.pick(["rc", "rc", "ud"])
        where = self.address(any_port=True) if passive or not listeners else self.pick(listeners)
        self.say("ep", name, "passive" if passive else "active", where, kind, self.random.randrange(2))
        one = Id(name, "udp" if kind == "ud" else "tcp", None)
        one.stage = "bound" if passive else "route"
        self.ids[name] = one

    def listeners(self, one):
        return [other for other in self.ids.values() if other.stage == "listening" and other.space == one.space]

    def resolve(self, one):
        listeners = self.listeners(one)
        if listeners and self.chance(88):
            one.peer = self.pick(listeners)
            where = one.peer.name
        else:
            where = self.address()
        source = self.pick(["dev4:0", "dev4:f5", "any4", "lo4", "dev6:0", "unix"]) if self.chance(12) else "-"
        self.say("resolve_addr", one.name, source, where, self.pick([1000, 1000, 1000, 50, 1, 0, -1]))
        if one.stage in ("idle", "bound"):
            one.stage = "resolving"
            self.event("addr", one)

    def connect(self, one):
        self.say("connect", one.name, self.pick(GOOD_PARAMS if self.chance(80) else PARAMS))
        if one.stage not in ("addr", "route"):
            return
        one.stage = "connecting"
        listener = one.peer
        if listener and listener.name in self.ids and listener.stage == "listening":
            listener.peer = one
            self.event("request", listener)
        else:
            self.event("ended", one)

    def accept(self, one):
        self.say("accept", one.name, self.pick(GOOD_PARAMS if self.chance(85) else PARAMS))
        if one.stage != "requested":
            return
        one.stage = "established" if one.datagram else "accepted"
        if one.peer:
            self.event("established" if one.datagram else "response", one.peer)

    def reject(self, one):
        self.say(self.pick(["reject", "reject", "reject_ece"]), one.name, self.pick([0, 0, 1, 20, 136, 148, 149, 255]))
        if one.stage == "requested" and one.peer:
            one.stage = "ended"
            self.event("ended", one.peer)

    def establish(self, one):
        self.say("establish", one.name)
        if one.stage == "responded":
            one.stage = "established"
            if one.peer:
                self.event("established", one.peer)

    def disconnect(self, one):
        self.say("disconnect", one.name)
        if one.stage in ("established", "responded", "accepted") and one.peer and not one.datagram:
            self.event("disconnected", one.peer)

    def create_qp(self, one):
        sizes = self.pick([(1, 1), (4, 2), (1, 1), (0, 1), (1, 0), (0, 0), (0xFFFFFF, 1)]) if self.chance(20) else (1, 1)
        self.say(self.pick(["create_qp"] * 4 + ["create_qp_ex"]), one.name, self.qp_type(one), *sizes)
        one.qp = one.stage not in ("idle", "resolving")

    def destroy_qp(self, one):
        self.say("destroy_qp", one.name)
        one.qp = False

    def destroy(self, one):
        self.say("destroy_ep" if self.chance(10) else "destroy", one.name)
        self.ids.pop(one.name, None)
        for waiting in self.unread.values():
            waiting[:] = [(what, other) for what, other in waiting if other is not one]

    def listen(self, one):
        self.say("listen", one.name, self.pick([4, 4, 4, 1, 0, -1, 1000]))
        if one.stage in ("idle", "bound"):
            one.stage = "listening"

    def bind(self, one):
        self.say("bind", one.name, self.address())
        if one.stage == "idle":
            one.stage = "bound"

    def route(self, one):
        self.say("resolve_route", one.name, self.pick([1000, 1000, 1000, 1, 0, -1]))
        if one.stage == "addr":
            self.event("route", one)

    def init_attr(self, one):
        self.say("init_attr", one.name, self.pick(STATES))

    def option(self, one):
        self.say("option", one.name, *self.pick(OPTIONS))

    def ece(self, one):
        self.say("local_ece", one.name, self.pick([0, 1, 77]))

    def notify(self, one):
        self.say("notify", one.name, self.pick(NOTES))

    def srq(self, one):
        self.say(*(("create_srq", one.name, self.pick([1, 1, 16, 0])) if self.chance(60) else ("destroy_srq", one.name)))

    def migrate(self, one):
        to = self.pick(self.channels + ["sync"])
        self.say("migrate", one.name, to)
        channel = None if to == "sync" else to
        if one.channel and channel and one.channel != channel:
            moved = [event for event in self.unread.get(one.channel, []) if event[1] is one]
            self.unread[one.channel] = [event for event in self.unread.get(one.channel, []) if event[1] is not one]
            self.unread.setdefault(channel, []).extend(moved)
        one.channel = channel

    def join(self, one):
        group = self.pick(["g0", "g0", "g1", "g2", "g3", "dev4:0", "unix"])
        if self.chance(25):
            self.say("join_ex", one.name, group, self.pick([0, 1, 1, 2, 3]))
        else:
            self.say("join", one.name, group)
        if one.channel:
            self.unread.setdefault(one.channel, []).append((one.stage, one))
        one.groups.append(group)

    def leave(self, one):
        self.say("leave", one.name, self.pick(one.groups) if one.groups and self.chance(85) else self.pick(["g0", "g1", "g3", "unix"]))

    def request(self, one):
        name = self.new_id()
        self.say("request", one.name, name or "i0")
        if one.sync and one.stage == "listening" and name and one.peer:
            self.happens("request", one, name)

    def drain(self, channel=None):
        channel = channel or self.pick(self.channels)
        self.say("drain", channel)
        self.read(channel)

    def get(self, channel=None):
        channel = channel or self.pick(self.channels)
        slot, event = self.new_id() or "i0", f"e{self.random.randrange(4)}"
        self.say("get", channel, event, slot)
        if event not in self.held:
            self.held[event] = channel
            self.read(channel, 1, slot)

    def ack(self, event=None):
        event = event or (self.pick(sorted(self.held)) if self.held else f"e{self.random.randrange(4)}")
        self.say("ack", event)
        self.held.pop(event, None)

    def wait(self):
        """Until the kernel gives up what nobody answers; not twice, as a sequence has its limit."""
        self.say("wait", UNANSWERED_MS)
        self.waited = True

    # --- what to do next ---

    def sensible(self, one):
        """Steps that lead the id on."""
        calls = {
            "idle": [self.bind, self.resolve, self.resolve] if self.listeners(one) else [self.bind, self.bind, self.resolve],
            "bound": [self.listen] * 4 + [self.resolve, self.create_qp, self.option],
            "listening": [],
            "resolving": [],
            "addr": [self.route] * 3 + [self.create_qp] * 2,
            "route": [self.connect] * 3 + ([] if one.qp else [self.create_qp] * 2),
            "connecting": [],
            "requested": [self.accept] * 3 + [self.reject] + ([] if one.qp else [self.create_qp] * 3),
            "responded": [self.establish] * 3 + [self.reject],
            "accepted": [],
            "established": [self.disconnect, self.init_attr, self.notify],
            "disconnected": [self.disconnect, self.destroy, self.destroy_qp],
            "ended": [self.destroy, self.destroy_qp],
        }[one.stage]
        if one.datagram and one.stage in ("bound", "addr"):
            calls = calls + [self.join] * 2
        if one.groups:
            calls = calls + [self.leave]
        if one.sync and one.stage == "listening" and (one.peer or self.chance(5)):
            calls = calls + [self.request]
        return calls

    def on_any_id(self, one):
        self.pick([
            self.bind, self.resolve, self.route, self.connect, self.accept, self.reject, self.establish, self.disconnect,
            self.create_qp, self.destroy_qp, self.srq, self.listen, self.init_attr, self.init_attr, self.option, self.option,
            self.ece, self.notify, self.migrate, self.migrate, self.join, self.leave, self.request, self.destroy,
        ])(one)

    def lead(self, one, turns):
        """Leads the id and its peer on, with nothing in between."""
        for _ in range(turns):
            waiting = [channel for channel in self.channels if self.unread.get(channel)]
            if waiting:
                channel = self.pick(waiting)
                self.drain(channel) if self.chance(80) else self.get(channel)
                continue
            onward = [self.bind, self.resolve, self.route, self.create_qp, self.connect, self.accept, self.establish, self.request]
            calls = [(call, led) for led in (one, one.peer) if led and self.ids.get(led.name) is led
                     for call in self.sensible(led) if call in onward]
            if not calls:
                return
            call, led = self.pick(calls)
            call(led)

    def client(self):
        """An id for a listener that there is, led on."""
        listeners = [one for one in self.ids.values() if one.stage == "listening"]
        name = self.new_id()
        if not listeners or not name:
            self.create()
            return
        listener = self.pick(listeners)
        one = Id(name, listener.space, None if self.chance(20) else self.pick(self.channels))
        self.say("id", name, one.channel or "sync", one.space)
        self.ids[name] = one
        self.lead(one, self.random.randrange(2, 16))

    def step(self):
        waiting = [channel for channel in self.channels if self.unread.get(channel)]
        if waiting and self.chance(55):
            channel = self.pick(waiting)
            self.drain(channel) if self.chance(75) else self.get(channel)
        elif self.held and self.chance(35):
            self.ack()
        elif not self.ids or self.chance(8 if len(self.ids) < 6 else 2):
            self.pick([self.endpoint] + [self.create] * 4 + [self.client] * 5)()
        elif self.chance(3):
            self.pick([self.drain, self.get, self.ack])()
        elif not self.waited and self.chance(3):
            self.wait()
        elif self.chance(1):
            self.say("close", self.pick(self.channels))
        elif self.chance(22):
            self.on_any_id(self.pick(list(self.ids.values())))
        else:
            led = [(call, one) for one in self.ids.values() for call in self.sensible(one)]
            if led:
                call, one = self.pick(led)
                call(one)
            else:
                self.create()


def generate(seed):
    made = Generator(seed)
    for _ in range(made.pick([1, 2, 2, 3])):
        made.channel()
    if made.chance(70):
        made.create(sync=made.chance(10))
        one = list(made.ids.values())
        if one:
            made.say("bind", one[0].name, made.pick(["dev4:0", "dev4:0", "any4:0", "dev6:0"]))
            one[0].stage = "bound"
            made.listen(one[0])
            if made.chance(80):
                made.client()
    length = made.random.randrange(8, 45)
    while len(made.steps) < length:
        made.step()
    return made.steps


def has_groups(steps):
    return any(step.startswith("join") for step in steps)


if __name__ == "__main__":
    for one in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        print(f"# seed {one}", *generate(one), sep="\n")
