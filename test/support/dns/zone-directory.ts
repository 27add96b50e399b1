/** The zone that the authority under test serves, and its records. */

/** Name of the zone. */
export const ZONE = 'weir.example';

/** Strings of a TXT record larger than 4 KiB. */
export const LONG_TEXTS: readonly string[] = Array.from({ length: 24 }, (_, i) =>
  String.fromCharCode(0x61 + (i % 26)).repeat(200),
);

/** Seconds. */
export const TTL = 300;

/** The zone as a master file. */
export const ZONE_TEXT = `$ORIGIN ${ZONE}.
$TTL ${String(TTL)}
@ IN SOA ns.${ZONE}. root.${ZONE}. 1 3600 600 86400 60
@ IN NS ns
ns IN A 127.0.0.1
www IN A 192.0.2.1
www IN A 192.0.2.2
www IN AAAA 2001:db8::1
@ IN MX 10 www
@ IN MX 20 backup
backup IN A 192.0.2.3
long IN TXT ${LONG_TEXTS.map((text) => `"${text}"`).join(' ')}
short IN TXT "one" "two"
svc IN SVCB 1 www.${ZONE}. alpn="h2" port=8443
web IN HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1
odd IN TYPE65280 \\# 4 C00CFFFF
alias IN CNAME middle
middle IN CNAME www
outside IN CNAME nothing
*.wild IN A 192.0.2.9
`;
