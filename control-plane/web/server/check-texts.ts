/** Texts of the page `/check`, in the languages of the dashboard. `{…}` stands for what the script fills in. */

export const CHECK_LANGUAGES = ['en', 'de'] as const;
export type CheckLanguage = (typeof CHECK_LANGUAGES)[number];

/** What the page and its script show. */
export interface CheckTexts {
  readonly title: string;
  readonly needsScript: string;
  readonly checking: string;
  /** Subjects of the verdicts. */
  readonly phone: string;
  readonly tablet: string;
  readonly computer: string;
  readonly device: string;
  /** Verdicts: every test name was asked at this node, a part of them, none. */
  readonly all: string;
  readonly some: string;
  readonly none: string;
  readonly allDetail: string;
  readonly someDetail: string;
  readonly noneDetail: string;
  readonly failed: string;
  readonly failedDetail: string;
  readonly tooMany: string;
  /** How many names came over IPv4 or IPv6, and from where. */
  readonly families: string;
  readonly familySeen: string;
  readonly familyNotSeen: string;
  readonly oneFamilyAll: string;
  readonly oneFamilySome: string;
  readonly forwarded: string;
  readonly maybeForwarded: string;
  readonly limits: string;
  readonly nextSteps: string;
  readonly steps: readonly string[];
  readonly guides: string;
  readonly again: string;
  readonly dashboard: string;
}

const ENGLISH: CheckTexts = {
  title: 'Does this device use Weir?',
  needsScript: 'This check needs JavaScript.',
  checking: 'Checking. This takes a few seconds.',
  phone: 'This phone',
  tablet: 'This tablet',
  computer: 'This computer',
  device: 'This device',
  all: '{device} uses Weir',
  some: '{device} does not always use Weir',
  none: '{device} does not use Weir on {node}',
  allDetail: 'All {count} test names were asked at {node}.',
  someDetail:
    'Only {seen} of {count} test names were asked at {node}. There is probably a second DNS server.',
  noneDetail: 'None of {count} test names was asked there.',
  failed: 'The check did not work',
  failedDetail: 'Weir did not answer ({reason}). Try again.',
  tooMany: 'Too many checks from this network. Try again in a minute.',
  families: 'IPv4 and IPv6',
  familySeen: '{seen} of {count} names, from {clients}',
  familyNotSeen: 'no name',
  oneFamilyAll: 'Nothing came over {other}, and nothing is missing: every name came over {used}.',
  oneFamilySome:
    'Nothing came over {other}. The second DNS server may be an {other} address that the router announces.',
  forwarded:
    'The names came from {client}, but this page was opened from {address}. If those are two devices, a router or another server asks for this one, and Weir cannot distinguish the devices behind it.',
  maybeForwarded:
    'If these are not addresses of this device, a router or another server asks for it, and Weir cannot distinguish the devices behind it.',
  limits:
    'This check cannot see a second DNS server that is used only now and then, or a browser that asks its own DNS service first and Weir after that (Firefox with increased protection).',
  nextSteps: 'Next steps',
  steps: [
    'Enter Weir as the only DNS server in the router, or on this device, and reconnect the device. A second DNS server bypasses Weir.',
    'Do the same for IPv6: many routers announce their own IPv6 DNS server.',
    'Turn off secure DNS (DNS over HTTPS) in the browser, and Private DNS on Android.',
    'Turn off VPNs, proxies and iCloud Private Relay, and check again.',
    'Weir may refuse the network of this device: see Access under Clients in the dashboard.',
    'If there are several Weir servers, another one may have been asked.',
  ],
  guides: 'Guides for routers and devices',
  again: 'Check again',
  dashboard: 'Dashboard',
};

const GERMAN: CheckTexts = {
  title: 'Benutzt dieses Gerät Weir?',
  needsScript: 'Diese Prüfung braucht JavaScript.',
  checking: 'Wird geprüft. Das dauert ein paar Sekunden.',
  phone: 'Dieses Telefon',
  tablet: 'Dieses Tablet',
  computer: 'Dieser Computer',
  device: 'Dieses Gerät',
  all: '{device} benutzt Weir',
  some: '{device} benutzt Weir nicht immer',
  none: '{device} benutzt Weir auf {node} nicht',
  allDetail: 'Alle {count} Testnamen wurden bei {node} angefragt.',
  someDetail:
    'Nur {seen} von {count} Testnamen wurden bei {node} angefragt. Wahrscheinlich gibt es einen zweiten DNS-Server.',
  noneDetail: 'Keiner von {count} Testnamen wurde dort angefragt.',
  failed: 'Die Prüfung hat nicht funktioniert',
  failedDetail: 'Weir hat nicht geantwortet ({reason}). Versuche es noch einmal.',
  tooMany: 'Zu viele Prüfungen aus diesem Netz. Versuche es in einer Minute noch einmal.',
  families: 'IPv4 und IPv6',
  familySeen: '{seen} von {count} Namen, von {clients}',
  familyNotSeen: 'kein Name',
  oneFamilyAll: 'Über {other} kam nichts, und es fehlt auch nichts: alle Namen kamen über {used}.',
  oneFamilySome:
    'Über {other} kam nichts. Der zweite DNS-Server ist vielleicht eine {other}-Adresse, die der Router bekannt gibt.',
  forwarded:
    'Die Namen kamen von {client}, diese Seite wurde aber von {address} geöffnet. Sind das zwei Geräte, fragt ein Router oder ein anderer Server für dieses, und Weir kann die Geräte dahinter nicht unterscheiden.',
  maybeForwarded:
    'Gehören diese Adressen nicht zu diesem Gerät, fragt ein Router oder ein anderer Server an seiner Stelle, und Weir kann die Geräte dahinter nicht unterscheiden.',
  limits:
    'Nicht sichtbar ist für diese Prüfung ein zweiter DNS-Server, der nur ab und zu gefragt wird, und ein Browser, der erst seinen eigenen DNS-Dienst und danach Weir fragt (Firefox mit erhöhtem Schutz).',
  nextSteps: 'Nächste Schritte',
  steps: [
    'Trage Weir im Router oder auf diesem Gerät als einzigen DNS-Server ein und verbinde das Gerät neu. Ein zweiter DNS-Server umgeht Weir.',
    'Mache dasselbe für IPv6: viele Router geben einen eigenen IPv6-DNS-Server bekannt.',
    'Schalte sicheres DNS (DNS über HTTPS) im Browser aus, und „Privates DNS“ unter Android.',
    'Schalte VPN, Proxy und iCloud Privat-Relay aus, und prüfe noch einmal.',
    'Weir lehnt vielleicht das Netz dieses Geräts ab: siehe „Zugang“ unter „Clients“ im Dashboard.',
    'Gibt es mehrere Weir-Server, wurde vielleicht ein anderer gefragt.',
  ],
  guides: 'Anleitungen für Router und Geräte',
  again: 'Noch einmal prüfen',
  dashboard: 'Dashboard',
};

export const CHECK_TEXTS: Readonly<Record<CheckLanguage, CheckTexts>> = { en: ENGLISH, de: GERMAN };
