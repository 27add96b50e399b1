/**
 * dnsmasq's options about domains: `address`, `local` and `server` with `/domain/`. In dnsmasq, the longest domain
 * decides, regardless of its option; in Weir, local records override denied names, and allowed names override denied
 * names. Pure.
 */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason, reasonAbout } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import { addAddressOfAll } from './dnsmasq-records.ts';

/** The domain that contains every name. */
const ROOT = '';
/** Addresses that mean that there is no host. */
const NOWHERE = /^(?:#|0\.0\.0\.0|::)?$/;

/** Everything that the options specify for a domain and its subdomains. */
interface Domain {
  readonly name: string;
  /** Targets of `address`; a target that means no host denies the name. */
  readonly addresses: string[];
  readonly servers: string[];
  /** `server=/x/#`: forwarded to the default servers. */
  isUsual: boolean;
  /** `local=/x/`: never forwarded. */
  isLocal: boolean;
}

/** Recipients of the imported domains. */
export interface DomainParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  readonly names: OwnNames;
}

/** Collects the domains of all options, since each depends on its parent domains. */
export class DnsmasqDomains {
  private readonly parts: DomainParts;
  private readonly ttlSecs: number | undefined;
  private readonly domains = new Map<string, Domain>();
  /** Names for which only queries of some types are answered locally. */
  private readonly records: string[] = [];
  private readonly denied: string[] = [];
  /** Denied names of options without an address. */
  private readonly absent: string[] = [];
  private readonly allowed: string[] = [];

  /** `ttlSecs` is the TTL of the records; undefined = Weir's. */
  constructor(parts: DomainParts, ttlSecs: number | undefined) {
    this.parts = parts;
    this.ttlSecs = ttlSecs;
  }

  /** `address=/a/b/address`; without an address, or with one that means no host, the names are denied. */
  addAddress(value: string): void {
    const { builder } = this.parts;
    const { domains, target } = splitDomains(value);
    for (const written of domains) {
      const name = written === '#' ? ROOT : canonicalDomain(written.replace(/^\*?\.*/, ''));
      if (name === null)
        builder.notMapped('local_record', `address=${value}`, importReason('dnsmasq_pattern'));
      else if (!NOWHERE.test(target) && addressFromText(target) === null)
        builder.notMapped('local_record', `address=${value}`, importReason('not_name_with_address'));
      else if (written.startsWith('*')) this.addStar(written, name, target);
      else this.domain(name).addresses.push(target);
    }
  }

  /** `server=/a/b/address#port`, or `local=/a/`. */
  addServer(value: string): void {
    const { builder } = this.parts;
    const { domains, target } = splitDomains(value);
    for (const written of domains) {
      const name = canonicalDomain(written.replace(/^\*?\.*/, ''));
      if (name === null) {
        builder.notMapped('forward_zone', `server=${value}`, importReason('dnsmasq_such_names'));
        continue;
      }
      if (written.startsWith('*'))
        builder.differs('forward_zone', name, importReason('dnsmasq_name_excluded', { name, same: name }));
      const domain = this.domain(name);
      if (target === '#') domain.isUsual = true;
      else if (target === '') domain.isLocal = true;
      else domain.servers.push(target.split('@')[0] ?? '');
    }
  }

  /**
   * Adds everything; `usual` are the servers for names without an option. Returns the allowed domains that are below
   * denied domains.
   */
  finish(usual: readonly string[]): string[] {
    const { builder } = this.parts;
    for (const domain of this.domains.values()) {
      this.addAddresses(domain);
      if (domain.isLocal && domain.servers.length === 0) this.addLocal(domain);
      if (domain.servers.length > 0) this.addZone(domain, domain.servers);
      if (domain.isUsual && domain.servers.length === 0) this.addUsual(domain, usual);
    }
    if (this.records.length > 0)
      builder.differs('other', itemName('address_names'), NO_OTHER_TYPES, this.records);
    if (this.denied.length > 0)
      builder.differs('other', itemName('denied_names'), importReason('dnsmasq_denied_types'), this.denied);
    if (this.absent.length > 0)
      builder.differs(
        'other',
        'denied names without an address',
        importReason('dnsmasq_denied_answer'),
        this.absent,
      );
    return this.allowed;
  }

  private domain(name: string): Domain {
    const known = this.domains.get(name);
    if (known !== undefined) return known;
    const made = { name, addresses: [], servers: [], isUsual: false, isLocal: false };
    this.domains.set(name, made);
    return made;
  }

  /** `*.x` does not include x; `*x` is every name with this suffix. */
  private addStar(written: string, name: string, target: string): void {
    const { builder, lists } = this.parts;
    const isDotted = written.startsWith('*.');
    const shown = `address=/${written}/${target}`;
    if (target === '') this.absent.push(name);
    if (NOWHERE.test(target))
      lists.add(
        `${isDotted ? '.' : ''}${name}|`,
        null,
        builder.item('list_rule', shown, importReason('dnsmasq_denied')),
      );
    else if (isDotted) addAddressOfAll(builder, name, target, { isBelowOnly: true, ttlSecs: this.ttlSecs });
    else builder.notMapped('local_record', shown, importReason('dnsmasq_same_ending'));
  }

  private addAddresses(domain: Domain): void {
    const { builder, names } = this.parts;
    const { name, addresses } = domain;
    const real = addresses.filter((address) => !NOWHERE.test(address));
    const isDenied = real.length < addresses.length;
    if (name === ROOT) return this.addRoot(addresses);
    for (const address of real) addAddressOfAll(builder, name, address, { ttlSecs: this.ttlSecs });
    if (real.length > 0) this.records.push(name);
    if (!isDenied || real.length > 0) return;
    if (addresses.some((address) => address !== '')) this.denied.push(name);
    else this.absent.push(name);
    if (!this.above(name).some((one) => one.isLocal || hasRecord(one) || this.isFreed(one)))
      return names.add({ name: `*.${name}`, action: 'deny', groups: null });
    // A record, a local domain or an allowed name above it would override a denied name.
    for (const address of ['0.0.0.0', '::'])
      addAddressOfAll(builder, name, address, { remark: importReason('dnsmasq_denied') });
  }

  /** `address=/#/…`: every name not covered by another option. */
  private addRoot(addresses: readonly string[]): void {
    const { builder, lists } = this.parts;
    for (const address of new Set(addresses)) {
      const isDenied = NOWHERE.test(address);
      const item = builder.item(
        'list_rule',
        `address=/#/${address}`,
        importReason(isDenied ? 'dnsmasq_others_denied' : 'dnsmasq_others'),
      );
      if (address === '') this.absent.push(ROOT);
      const type = address.includes(':') ? 'AAAA' : 'A';
      lists.add(isDenied ? '||*^' : `||*^$dnstype=${type},dnsrewrite=${address}`, null, item);
    }
  }

  /** NXDOMAIN for unknown names, except in subdomains that have servers. */
  private addLocal({ name }: Domain): void {
    const { builder } = this.parts;
    const item = builder.item('forward_zone', `local=/${name}/`, importReason('answered_by_weir'));
    builder.zone({ zone: name, servers: [], enabled: true }, item);
  }

  private addZone({ name }: Domain, written: readonly string[]): void {
    const { builder } = this.parts;
    this.allowIfDenied(name);
    const item = builder.item('forward_zone', name);
    const servers = written.flatMap((one) => {
      const read = readUpstream(one);
      const reason = read.server === null ? read.reason : read.remark;
      if (reason !== null) builder.remark(item, reasonAbout(one, reason));
      return read.server ?? [];
    });
    if (servers.length === 0) builder.refuse(item, importReason('no_servers'));
    else builder.zone({ zone: name, servers, enabled: true }, item);
  }

  /**
   * Adds a domain that is forwarded like all other names, within a domain that is answered or forwarded differently.
   */
  private addUsual(domain: Domain, usual: readonly string[]): void {
    const { builder } = this.parts;
    const { name } = domain;
    const shown = `server=/${name}/#`;
    const isAsked = this.above(name).some((one) => hasRecord(one) || one.isLocal || one.servers.length > 0);
    if (isAsked && usual.length > 0) return this.addZone(domain, usual);
    if (isAsked) return builder.notMapped('forward_zone', shown, importReason('dnsmasq_exceptions'));
    if (this.isDeniedAbove(name)) this.allowIfDenied(name);
    else builder.skipped('forward_zone', shown, importReason('dnsmasq_no_parent'));
  }

  private allowIfDenied(name: string): void {
    if (!this.isDeniedAbove(name)) return;
    this.parts.names.add({ name: `*.${name}`, action: 'allow', groups: null });
    this.allowed.push(name);
  }

  private isFreed(domain: Domain): boolean {
    return (domain.isUsual || domain.servers.length > 0) && this.isDeniedAbove(domain.name);
  }

  private isDeniedAbove(name: string): boolean {
    return this.above(name).some(({ addresses }) => addresses.some((address) => NOWHERE.test(address)));
  }

  /** The parent domains of a name, the nearest first. */
  private above(name: string): Domain[] {
    const labels = name === ROOT ? [] : name.split('.');
    return labels.flatMap((_, at) => this.domains.get(labels.slice(at + 1).join('.')) ?? []);
  }
}

/** Difference that the report lists for names with records. */
export const NO_OTHER_TYPES = importReason('other_types');

function hasRecord({ name, addresses }: Domain): boolean {
  return name !== ROOT && addresses.some((address) => !NOWHERE.test(address));
}

function splitDomains(value: string): { domains: string[]; target: string } {
  const last = value.lastIndexOf('/');
  if (!value.startsWith('/') || last === 0) return { domains: [''], target: value };
  const domains = value.slice(1, last).split('/');
  return { domains: domains.length === 0 ? [''] : domains, target: value.slice(last + 1).trim() };
}
