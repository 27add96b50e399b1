"""Sends messages that ordinary clients do not send, over any transport, and prints the replies.

Usage: raw-client.py udp|tcp|dot|doh PORT CA NAME STEP...

Each STEP is sent on one connection: `key=value` pairs joined by commas, over a query for www.zone.example, A.
  wire=HEX     the complete message instead
  id=N flags=HEX opcode=N qd=N   header fields; qd: number of copies of the question
  name=NAME type=TYPE class=CLASS
  edns=N payload=N ednsflags=HEX option=CODE:HEX (repeatable) opts=N   number of OPT records
  tail=HEX     octets after the message
  cut=N        only this many octets of it
  split=1      over a stream: each octet in a separate segment
  aged=1       repeated until the lowest TTL is lower than in the previous reply; then prints AGED
  silent=1     no reply is expected: the next reply belongs to the next step
  later=1      its reply is read after all others
"""

import select
import socket
import ssl
import struct
import sys
import time

import dns.edns
import dns.message
import dns.rdataclass
import dns.rdatatype

transport, port, ca, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
PATIENCE = 10
END = b""


def pairs(step):
    found = {"option": []}
    for pair in step.split(","):
        if not pair:
            continue
        key, _, value = pair.partition("=")
        if key == "option":
            found["option"].append(value)
        else:
            found[key] = value
    return found


def wire_of(p):
    if "wire" in p:
        return bytes.fromhex(p["wire"])
    question = b"".join(
        bytes([len(label)]) + label for label in p.get("name", "www.zone.example").encode().split(b".") if label
    )
    question += b"\0" + struct.pack(
        "!HH",
        dns.rdatatype.from_text(p.get("type", "A")),
        dns.rdataclass.from_text(p.get("class", "IN")),
    )
    flags = int(p.get("flags", "0100"), 16) | int(p.get("opcode", "0")) << 11
    opt = b""
    if "edns" in p:
        options = b"".join(
            struct.pack("!HH", int(code), len(bytes.fromhex(value))) + bytes.fromhex(value)
            for code, _, value in (each.partition(":") for each in p["option"])
        )
        opt = b"\0" + struct.pack(
            "!HHBBHH",
            41,
            int(p.get("payload", "1232")),
            0,
            int(p["edns"]),
            int(p.get("ednsflags", "0"), 16),
            len(options),
        )
        opt += options
    copies = int(p.get("opts", "1")) if opt else 0
    count = int(p.get("qd", "1"))
    head = struct.pack("!HHHHHH", int(p.get("id", "4660")), flags, count, 0, 0, copies)
    message = head + question * count + opt * copies + bytes.fromhex(p.get("tail", ""))
    return message[: int(p["cut"])] if "cut" in p else message


def show(wire):
    if wire is None:
        print("NO REPLY")
        return
    if wire == END:
        print("END OF THE CONNECTION")
        return
    print(f"ID {struct.unpack('!H', wire[:2])[0]} OCTETS {len(wire)}")
    if len(wire) == 12:
        print(f"HEADER rcode {wire[3] & 15} qr {wire[2] >> 7}")
        return
    message = dns.message.from_wire(wire, ignore_trailing=False)
    print(f"COUNTS {len(message.question)} {sum(map(len, message.answer))}")
    for option in message.options:
        print(f"OPTION {int(option.otype)} {option.to_wire().hex() if hasattr(option, 'to_wire') else ''}")
    print(message.to_text())


def lowest_ttl(wire):
    message = dns.message.from_wire(wire)
    return min(rrset.ttl for rrset in message.answer + message.authority)


class Datagrams:
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))

    def send(self, wire, _split):
        self.socket.send(wire)

    def receive(self, patience):
        ready, _, _ = select.select([self.socket], [], [], patience)
        return self.socket.recv(65535) if ready else None


class Stream:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if transport == "dot":
            context = ssl.create_default_context(cafile=ca)
            context.set_alpn_protocols(["dot"])
            self.socket = context.wrap_socket(self.socket, server_hostname=name)

    def send(self, wire, split):
        framed = struct.pack("!H", len(wire)) + wire
        for part in [framed[i : i + 1] for i in range(len(framed))] if split else [framed]:
            self.socket.sendall(part)

    def receive(self, patience):
        self.socket.settimeout(patience)
        try:
            size = struct.unpack("!H", self.exactly(2))[0]
            return self.exactly(size)
        except (EOFError, ConnectionError, ssl.SSLEOFError):
            return END
        except (TimeoutError, ssl.SSLError):
            return None

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data


line = Datagrams() if transport == "udp" else Stream()
later = 0
before = None
for step in sys.argv[5:]:
    p = pairs(step)
    line.send(wire_of(p), "split" in p)
    if "later" in p:
        later += 1
    elif "silent" not in p:
        reply = line.receive(PATIENCE)
        end = time.monotonic() + PATIENCE
        while "aged" in p and reply and time.monotonic() < end:
            if lowest_ttl(reply) < lowest_ttl(before):
                print("AGED")
                break
            time.sleep(0.05)
            line.send(wire_of(p), False)
            reply = line.receive(PATIENCE)
        show(reply)
        before = reply
for _ in range(later):
    show(line.receive(PATIENCE))
