/**
 * The identity of this server: CHAOS texts for clients that may see them, the encrypted resolvers that the server
 * announces (RFC 9462), and whether the server already answers all clients.
 */
import { nameFromText } from '../../shared/dns/name.ts';
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { isProbeName } from '../../shared/dns/probe-zone.ts';
import { LogMark, type LogMarkCode } from '../../shared/query-log.ts';
import { networkContains, networkFromText } from '../../shared/net/cidr.ts';
import type { Network } from '../../shared/net/cidr.ts';
import { NodeState, WorkerControl } from '../../shared/threads/messages.ts';
import type { CompatApiUrls, IdentitySettings } from '../../shared/threads/messages.ts';
import type { Query } from '../query/query.ts';
import { NameExclusions } from './name-exclusions.ts';

/** Maximum size of a character-string in bytes (RFC 1035 section 3.3). */
const MAX_TEXT_SIZE = 255;
/** Settings without any information about this server. */
export const NO_IDENTITY: IdentitySettings = {
  chaosClients: [],
  healthCheckNames: [],
  logExcludedDomains: [],
  statsExcludedDomains: [],
  refusesSilently: false,
  version: '',
  nodeName: '',
  compatApi: null,
  designated: [],
  designatedAddresses: [],
};

/**
 * The machine itself, which is answered before the first policy: it may need this DNS server to find the web servers of
 * the lists.
 */
const OWN_NETWORKS = ['127.0.0.0/8', '::1'].map((text) => networkFromText(text)!);

const STATE_NAME = nameFromText('status.weir')!;
const STATE_TEXTS: Readonly<Record<number, Uint8Array>> = {
  [NodeState.HOLDING]: asciiBytes('starting'),
  [NodeState.STARTING]: asciiBytes('starting'),
  [NodeState.READY]: asciiBytes('ready'),
  [NodeState.DRAINING]: asciiBytes('draining'),
};

/** The identity of a thread's node. */
export class ServerIdentity {
  /** RDATA of the SVCB records for encrypted resolvers. */
  readonly designated: readonly Uint8Array[];
  /** Addresses of the designated resolver's name, 4 or 16 bytes each. */
  readonly designatedAddresses: readonly Uint8Array[];
  /** Whether refused clients get no answer. */
  readonly refusesSilently: boolean;
  /** Names whose queries are excluded from the log or from statistics. */
  readonly nameExclusions: NameExclusions;
  private readonly clients: readonly Network[];
  private readonly healthCheckNames: readonly Uint8Array[];
  private readonly texts: readonly (readonly [name: Uint8Array, text: Uint8Array])[];
  private readonly control: Int32Array | null;

  /** `control` are the `WorkerControl` words of the thread's worker. */
  constructor(settings: IdentitySettings = NO_IDENTITY, control: Int32Array | null = null) {
    const version = asciiBytes(`Weir ${settings.version}`);
    const node = asciiBytes(settings.nodeName);
    this.control = control;
    this.refusesSilently = settings.refusesSilently;
    this.designated = settings.designated;
    this.designatedAddresses = settings.designatedAddresses;
    this.nameExclusions = new NameExclusions(settings.logExcludedDomains, settings.statsExcludedDomains);
    this.healthCheckNames = settings.healthCheckNames.flatMap((text) => nameFromText(text) ?? []);
    this.clients = settings.chaosClients.flatMap((text) => networkFromText(text) ?? []);
    const texts: [string, Uint8Array][] = [
      ['version.bind', version],
      ['version.server', version],
      ['hostname.bind', node],
      ['id.server', node],
      ...compatTexts(settings.compatApi),
    ];
    this.texts = texts.map(([name, text]) => [nameFromText(name)!, text]);
  }

  /** Whether a query is logged and counted: probes, and queries about the state of this node, are not. */
  logMarkOf(query: Query): LogMarkCode {
    if (query.qclass === RRClass.CH) return LogMark.NONE;
    if (isProbeName(query.qname, 0, query.qnameLength)) return LogMark.PROBE;
    for (const name of this.healthCheckNames) if (isName(query, name)) return LogMark.NONE;
    return LogMark.COUNTED;
  }

  /** RDATA of the answer to a query of class CHAOS; null if the query is refused. */
  chaosText(query: Query): Uint8Array | null {
    if (query.qtype !== RRType.TXT || !this.mayAsk(query)) return null;
    if (isName(query, STATE_NAME)) return STATE_TEXTS[this.nodeState()]!;
    for (const [name, text] of this.texts) if (isName(query, name)) return text;
    return null;
  }

  /** Whether the query has to wait for the first policy. */
  holdsBack({ clientBytes, clientAt }: Query): boolean {
    if (this.nodeState() !== NodeState.HOLDING) return false;
    for (const network of OWN_NETWORKS) if (networkContains(network, clientBytes, clientAt)) return false;
    return true;
  }

  private mayAsk({ clientBytes, clientAt }: Query): boolean {
    return this.clients.some((network) => networkContains(network, clientBytes, clientAt));
  }

  private nodeState(): number {
    if (this.control === null) return NodeState.READY;
    return Atomics.load(this.control, WorkerControl.NODE_STATE_WORD);
  }
}

function isName({ qname, qnameLength }: Query, name: Uint8Array): boolean {
  if (qnameLength !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (qname[i] !== name[i]) return false;
  return true;
}

/** The names under which PADD and Pi-hole's scripts look for the API. */
function compatTexts(urls: CompatApiUrls | null): [string, Uint8Array][] {
  if (urls === null) return [];
  const named = asciiBytes(urls.named);
  return [
    ['local.api.ftl', asciiBytes(urls.local)],
    ['domain.api.ftl', named],
    ['api.ftl', named],
  ];
}

/** RDATA of a TXT record with one text. */
function asciiBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text).subarray(0, MAX_TEXT_SIZE);
  return Uint8Array.from([bytes.length, ...bytes]);
}
