/**
 * Guides for setting up routers and devices to use Weir. The texts are in `guides.en.json` and the files of other
 * languages. In a text, `*…*` marks a name in the product's menu; `{ipv4}` and `{ipv6}` are addresses of Weir.
 */

export type GuideKind = 'router' | 'device';

interface Product {
  readonly kind: GuideKind;
  /** Product name that is not translated; null if the name is in the translated texts. */
  readonly name: string | null;
  /** Commands to run in a terminal. */
  readonly commands?: { readonly ipv4: string; readonly ipv6: string };
}

const router = (name: string | null): Product => ({ kind: 'router', name });
const device = (name: string): Product => ({ kind: 'device', name });

/** Products in the order in which they are listed. */
export const PRODUCTS = {
  otherRouter: router(null),
  fritzbox: router('FRITZ!Box'),
  speedport: router('Speedport'),
  tplink: router('TP-Link'),
  asus: router('ASUS'),
  netgear: router('Netgear'),
  linksys: router('Linksys'),
  unifi: router('UniFi'),
  mikrotik: router('MikroTik'),
  openwrt: router('OpenWrt'),
  pfsense: router('pfSense'),
  opnsense: router('OPNsense'),
  googleNest: router('Google Nest Wifi'),
  eero: router('eero'),
  windows: device('Windows 11'),
  macos: device('macOS'),
  android: device('Android'),
  ios: device('iPhone, iPad'),
  networkManager: {
    ...device('Linux (NetworkManager)'),
    commands: {
      ipv4: 'nmcli connection modify NAME ipv4.ignore-auto-dns yes ipv4.dns {ipv4}\nnmcli connection up NAME',
      ipv6: 'nmcli connection modify NAME ipv6.ignore-auto-dns yes ipv6.dns {ipv6}\nnmcli connection up NAME',
    },
  },
  systemdNetworkd: {
    ...device('Linux (systemd-networkd, systemd-resolved)'),
    commands: {
      ipv4: '[Network]\nDNS={ipv4}\n\n[DHCPv4]\nUseDNS=no',
      ipv6: '[Network]\nDNS={ipv6}\n\n[DHCPv6]\nUseDNS=no\n\n[IPv6AcceptRA]\nUseDNS=no',
    },
  },
} as const satisfies Record<string, Product>;

export type GuideId = keyof typeof PRODUCTS;
export const GUIDE_IDS = Object.keys(PRODUCTS) as readonly GuideId[];

/** Texts of a guide. A step is one or two sentences. */
interface GuideTexts {
  readonly name?: string;
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

/** Contents of the file of a language. */
export interface GuideFile {
  readonly guides: Readonly<Record<GuideId, GuideTexts>>;
  /** Steps for routers that have no setting for the IPv6 DNS server. */
  readonly withoutSetting: readonly string[];
}

/** The texts of a guide, together with its product. */
export interface Guide {
  readonly id: GuideId;
  readonly kind: GuideKind;
  readonly name: string;
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  readonly commands: { readonly ipv4: string; readonly ipv6: string } | null;
}

/** The guide with this id; the first guide if the id is unknown. */
export function guideOf(wanted: string, { guides }: GuideFile): Guide {
  const id = GUIDE_IDS.find((one) => one === wanted) ?? GUIDE_IDS[0]!;
  const { kind, name, commands }: Product = PRODUCTS[id];
  const texts = guides[id];
  return {
    id,
    kind,
    name: name ?? texts.name ?? id,
    commands: commands ?? null,
    ipv4: texts.ipv4,
    ipv6: texts.ipv6,
  };
}

/** Part of a step: plain text, a menu name, or a value to enter. */
export interface StepPiece {
  readonly kind: 'text' | 'menu' | 'code';
  readonly text: string;
}

/** Splits a step into pieces and replaces `{ipv4}` and `{ipv6}`. */
export function piecesOf(step: string, addresses: Readonly<Record<string, string>>): StepPiece[] {
  return step
    .split(/(\*[^*]+\*|`[^`]+`|\{ipv[46]\})/)
    .filter((text) => text !== '')
    .map((text) => {
      if (text.startsWith('*')) return { kind: 'menu', text: text.slice(1, -1) };
      if (text.startsWith('`')) return { kind: 'code', text: withAddresses(text.slice(1, -1), addresses) };
      if (text.startsWith('{')) return { kind: 'code', text: withAddresses(text, addresses) };
      return { kind: 'text', text };
    });
}

/** Replaces `{ipv4}` and `{ipv6}` in a text. */
export function withAddresses(text: string, addresses: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(ipv[46])\}/g, (_whole, key: string) => addresses[key] ?? '');
}
