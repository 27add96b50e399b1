/**
 * Files whose lines depend on each other, in the formats of other servers, with the names to query. They are modelled
 * on published lists and router configurations.
 */

/** A file, and the queries for which servers with this file are compared. */
export interface NeighbourFile {
  readonly lines: readonly string[];
  readonly names: readonly string[];
}

/** Files for unbound. */
export const UNBOUND_FILES: readonly NeighbourFile[] = [
  {
    lines: ['local-zone: "ads.test" always_null', 'local-zone: "www.ads.test" always_nxdomain'],
    names: ['ads.test', 'www.ads.test', 'a.www.ads.test', 'badads.test'],
  },
  {
    lines: [
      'server:',
      '  local-zone: "home.lan9." static',
      '  local-data: "nas.home.lan9. IN A 192.0.2.5"',
      '  local-data: "tv.home.lan9. 3600 IN A 192.0.2.6"',
    ],
    names: ['home.lan9', 'nas.home.lan9', 'tv.home.lan9', 'x.home.lan9', 'x.nas.home.lan9'],
  },
  {
    lines: [
      'local-zone: "search.test" redirect',
      'local-data: "search.test A 192.0.2.9"',
      'local-zone: "track.test" redirect',
      'local-data: "track.test A 0.0.0.0"',
    ],
    names: ['search.test', 'www.search.test', 'track.test', 'a.b.track.test'],
  },
  {
    lines: [
      'local-zone: "x.test" static',
      'local-zone: "ok.x.test" transparent',
      'local-zone: "bad.ok.x.test" refuse',
      'local-zone: "fine.bad.ok.x.test" typetransparent',
    ],
    names: [
      'x.test',
      'a.x.test',
      'ok.x.test',
      'a.ok.x.test',
      'bad.ok.x.test',
      'fine.bad.ok.x.test',
      'a.fine.bad.ok.x.test',
    ],
  },
  {
    lines: [
      'local-zone: "first.test" transparent',
      'local-zone: "first.test" static',
      'local-zone: "second.test" static',
      'local-zone: "second.test" transparent',
    ],
    names: ['first.test', 'a.first.test', 'second.test', 'a.second.test'],
  },
  {
    lines: [
      'local-zone: "ignored.test" always_nxdomain',
      'local-data: "nas.ignored.test A 192.0.2.5"',
      'local-zone: "open.test" always_transparent',
      'local-data: "a.open.test A 0.0.0.0"',
    ],
    names: ['ignored.test', 'nas.ignored.test', 'open.test', 'a.open.test'],
  },
  {
    lines: [
      'local-data: "sinkhole.test A 0.0.0.0"',
      "local-data: 'other.test 60 IN A 127.0.0.1'",
      'local-data: "real.test A 192.0.2.7"',
    ],
    names: ['sinkhole.test', 'www.sinkhole.test', 'other.test', 'real.test', 'www.real.test'],
  },
  {
    lines: [
      "local-zone: 'quoted.test' static",
      'local-zone: bare.test. always_refuse # why',
      'local-zone:"near.test" always_nodata',
      'local-zone: "off.test" nodefault',
    ],
    names: ['quoted.test', 'a.quoted.test', 'bare.test', 'near.test', 'off.test'],
  },
  {
    lines: [
      'local-zone: "apex.test" static',
      'local-data: "apex.test A 192.0.2.1"',
      'local-data: "apex.test NS ns.apex.test"',
      'local-zone: "txt.test" static',
      'local-data: "txt.test TXT why"',
    ],
    names: ['apex.test', 'www.apex.test', 'txt.test', 'www.txt.test'],
  },
  {
    lines: [
      'view:',
      '  name: "kids"',
      '  local-zone: "view.test" static',
      'server:',
      '  local-zone: "after.test" static',
      '  local-zone: "deep.after.test" inform',
      '  local-data: "n.deep.after.test A 0.0.0.0"',
    ],
    names: [
      'view.test',
      'after.test',
      'a.after.test',
      'deep.after.test',
      'n.deep.after.test',
      'a.n.deep.after.test',
    ],
  },
];

/** Files for dnsmasq. */
export const DNSMASQ_FILES: readonly NeighbourFile[] = [
  {
    lines: ['address=/ads.test/0.0.0.0', 'server=/ok.ads.test/#'],
    names: ['ads.test', 'a.ads.test', 'ok.ads.test', 'a.ok.ads.test', 'badads.test'],
  },
  {
    lines: ['address = /d2.test/0.0.0.0', 'host-record=d3.test,0.0.0.0'],
    names: ['d2.test', 'a.d2.test', 'd3.test', 'a.d3.test'],
  },
  {
    lines: ['local=/lan9/', 'host-record=nas.lan9,192.0.2.5', 'host-record=tv.lan9,tv2.lan9,192.0.2.6'],
    names: ['lan9', 'x.lan9', 'nas.lan9', 'x.nas.lan9', 'tv2.lan9'],
  },
  {
    lines: [
      'address=/x.test/#',
      'server=/ok.x.test/#',
      'local=/bad.ok.x.test/',
      'server=/fine.bad.ok.x.test/#',
    ],
    names: ['x.test', 'ok.x.test', 'bad.ok.x.test', 'a.bad.ok.x.test', 'fine.bad.ok.x.test'],
  },
  {
    lines: [
      'server=/same.test/#',
      'address=/same.test/0.0.0.0',
      'address=/again.test/0.0.0.0',
      'server=/again.test/#',
    ],
    names: ['same.test', 'a.same.test', 'again.test', 'a.again.test'],
  },
  {
    lines: ['address=/a.test/b.test/c.test/0.0.0.0', 'server=/ok.a.test/ok.c.test/#'],
    names: ['a.test', 'ok.a.test', 'b.test', 'ok.b.test', 'ok.c.test'],
  },
  {
    lines: [
      'address=/real.test/192.0.2.9',
      'address=/wide.test/0.0.0.0',
      'address=/real.wide.test/192.0.2.9',
    ],
    names: ['real.test', 'wide.test', 'a.wide.test', 'real.wide.test', 'a.real.wide.test'],
  },
  {
    lines: ['server=/empty.test/', 'address=/none.test/', 'local=/mine.test/'],
    names: ['empty.test', 'a.empty.test', 'none.test', 'a.none.test', 'mine.test'],
  },
  {
    lines: ['# ads', 'address=/track.test/127.0.0.1 # why', 'cache-size=100', 'server=/pass.track.test/#'],
    names: ['track.test', 'a.track.test', 'pass.track.test'],
  },
  {
    lines: [
      'local=/zone.test/',
      'address=/n.zone.test/0.0.0.0',
      'server=/up.n.zone.test/#',
      'host-record=h.up.n.zone.test,0.0.0.0',
    ],
    names: ['zone.test', 'n.zone.test', 'up.n.zone.test', 'a.up.n.zone.test', 'h.up.n.zone.test'],
  },
];

const HEAD = [
  '$TTL 60',
  '@ IN SOA localhost. root.localhost. (',
  '  1 3600 600 86400 60 )',
  '  IN NS localhost.',
];

/** Files for BIND, loaded as the zone `rpz.local`. */
export const RPZ_FILES: readonly NeighbourFile[] = [
  {
    lines: [...HEAD, 'ads.test CNAME .', '*.ads.test CNAME .'],
    names: ['ads.test', 'a.ads.test', 'badads.test'],
  },
  {
    lines: [
      '$TTL 60',
      'rpz.local. 60 IN SOA localhost. root.localhost. 1 3600 600 86400 60',
      'rpz.local. 60 IN NS localhost.',
      'r1.test.rpz.local. 60 IN CNAME .',
      '*.r1.test.rpz.local. 60 IN CNAME .',
      'ok.r1.test.rpz.local. 60 IN CNAME rpz-passthru.',
    ],
    names: ['r1.test', 'a.r1.test', 'ok.r1.test', 'a.ok.r1.test'],
  },
  {
    lines: [
      '$ORIGIN rpz.local.',
      ...HEAD,
      '$ORIGIN test.rpz.local.',
      'ads CNAME .',
      '* CNAME *.',
      'ok CNAME rpz-passthru.',
      '$ORIGIN deep',
      'x IN 300 CNAME .',
    ],
    names: ['test', 'ads.test', 'a.ads.test', 'b.test', 'ok.test', 'x.deep.test', 'y.deep.test'],
  },
  {
    lines: [
      '$ORIGIN .',
      '$TTL 60',
      'rpz.local IN SOA localhost. root.localhost. (1 3600 600',
      ' 86400 60)',
      '\t\t\tNS localhost.',
      '$ORIGIN rpz.local.',
      'n.test CNAME .',
      '$ORIGIN n.test.rpz.local.',
      '* CNAME .',
    ],
    names: ['n.test', 'a.n.test', 'b.a.n.test', 'x.test'],
  },
  {
    lines: [...HEAD, 'r3.test CNAME .;why', 'r4.test IN 300 CNAME .', 'r5.test 300 IN CNAME *.'],
    names: ['r3.test', 'r4.test', 'r5.test', 'a.r5.test'],
  },
  {
    lines: [
      ...HEAD,
      '*.x.test CNAME rpz-passthru.',
      'bad.x.test CNAME .',
      '*.bad.x.test CNAME .',
      '*.test CNAME .',
    ],
    names: ['x.test', 'a.x.test', 'bad.x.test', 'a.bad.x.test', 'y.test'],
  },
  {
    lines: [...HEAD, '*.w.test CNAME .', 'garden.w.test A 192.0.2.9', 'sink.w.test A 0.0.0.0'],
    names: ['w.test', 'a.w.test', 'garden.w.test', 'a.garden.w.test', 'sink.w.test'],
  },
  {
    lines: [...HEAD, 'txt.test CNAME .', 'with.test A 0.0.0.0', '  TXT "a ; b"', 'MIXED.Test CNAME .'],
    names: ['txt.test', 'with.test', 'mixed.test'],
  },
  {
    lines: [
      '$ORIGIN rpz.local.',
      ...HEAD,
      'one.test.rpz.local. CNAME .',
      '32.1.2.0.192.rpz-ip CNAME .',
      'two.test CNAME rpz-drop-not.',
    ],
    names: ['one.test', 'three.test'],
  },
  {
    lines: [...HEAD, '*.a.b.test CNAME .', '*.b.test CNAME rpz-passthru.', 'n.a.b.test CNAME rpz-passthru.'],
    names: ['b.test', 'a.b.test', 'c.b.test', 'x.a.b.test', 'n.a.b.test', 'x.n.a.b.test'],
  },
];
