/** Applies a draft to the rows of policy. */
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import type { SimulateBody } from '../../../shared/api/policy/simulate-api.ts';
import type { LivePolicy } from '../../policy/change/runtime-state.ts';
import type { FindService } from '../../policy/change/policy-memory.ts';
import type { PolicyMacClient, PolicyRows, PolicySource } from '../../policy/change/rows.ts';

/** Data that applying a draft needs. */
export interface DraftedParts {
  /** Sources of policy, including the lists of the draft. */
  readonly sources: readonly PolicySource[];
  /** Services by id, including custom ones. */
  readonly findService: FindService;
}

/** The rows, and the errors in the draft; if there are errors, the rows must not be used. */
export interface DraftedRows {
  readonly rows: PolicyRows;
  readonly faults: readonly FieldProblem[];
}

/** Applies a draft. New rows are added after existing ones, with unused ids. */
export function applyDraft(before: PolicyRows, draft: SimulateBody, parts: DraftedParts): DraftedRows {
  const faults: FieldProblem[] = [];
  const check = new DraftCheck(before, faults);
  const { managed_domains: managed, regex_filters: filters, services } = draft;
  draft.lists.add.forEach((list, index) => {
    if (!('source_id' in list))
      list.group_ids.forEach((id, place) => check.group(id, `lists.add.${index}.group_ids.${place}`));
  });
  const managedDomains = [
    ...check.without(before.managedDomains, managed.drop, 'managed_domains.drop'),
    ...managed.add.map(({ domain, action, group_id: groupId }, index) => {
      check.group(groupId, `managed_domains.add.${index}.group_id`);
      const suffix = domain.startsWith('*.');
      return {
        id: -1 - index,
        name: domain,
        domain: suffix ? domain.slice(2) : domain,
        suffix,
        action,
        groupId,
      };
    }),
  ];
  const regexFilters = [
    ...check.without(before.regexFilters, filters.drop, 'regex_filters.drop'),
    ...filters.add.map(({ pattern, action, group_id: groupId }, index) => {
      check.group(groupId, `regex_filters.add.${index}.group_id`);
      return { id: -1 - index, name: pattern.slice(0, 200), pattern, action, groupId };
    }),
  ];
  const rows: PolicyRows = {
    ...before,
    sources: parts.sources,
    // If a table is unchanged, its array must be the same object as before.
    managedDomains: isUsed(managed) ? managedDomains : before.managedDomains,
    regexFilters: isUsed(filters) ? regexFilters : before.regexFilters,
    blockedServices:
      services.block.length + services.unblock.length === 0
        ? before.blockedServices
        : blockedServices(before, services, parts.findService, check),
    ...clientRows(before, draft, check),
    ...(draft.blocking_enabled === undefined
      ? {}
      : { blockingSwitch: { enabled: draft.blocking_enabled, until: null } }),
  };
  return { rows, faults };
}

/**
 * Addresses of clients with a group by MAC in the draft; a change of an address takes precedence over a change of its
 * MAC.
 */
export function draftedAddresses(
  { clients }: SimulateBody,
  { macClients }: Pick<PolicyRows, 'macClients'>,
  addressesOf: (macClients: readonly PolicyMacClient[]) => LivePolicy['clientAddresses'],
): LivePolicy['clientAddresses'] {
  const assigned = new Set(clients.flatMap((client) => ('ip_address' in client ? client.ip_address : [])));
  return addressesOf(macClients).filter(({ address }) => !assigned.has(address));
}

function isUsed({
  add,
  drop,
}: {
  readonly add: readonly unknown[];
  readonly drop: readonly unknown[];
}): boolean {
  return add.length + drop.length > 0;
}

function blockedServices(
  before: PolicyRows,
  { block, unblock }: SimulateBody['services'],
  findService: FindService,
  check: DraftCheck,
): PolicyRows['blockedServices'] {
  const keyOf = (serviceId: string, groupId: number): string => `${groupId} ${serviceId}`;
  const keys = new Set(before.blockedServices.map(({ serviceId, groupId }) => keyOf(serviceId, groupId)));
  unblock.forEach(({ service_id: id, group_id: groupId }, index) => {
    const key = keyOf(id, groupId);
    if (!keys.has(key))
      check.fault(`services.unblock.${index}`, `service ${id} is not blocked for that group`);
    keys.delete(key);
  });
  const kept = before.blockedServices.filter((row) => keys.has(keyOf(row.serviceId, row.groupId)));
  const added = block.flatMap(({ service_id: serviceId, group_id: groupId }, index) => {
    check.group(groupId, `services.block.${index}.group_id`);
    const service = findService(serviceId);
    if (service === undefined)
      check.fault(`services.block.${index}.service_id`, 'expected the id of a service');
    if (service === undefined || keys.has(keyOf(serviceId, groupId))) return [];
    keys.add(keyOf(serviceId, groupId));
    return { serviceId, groupId, ...service };
  });
  return [...kept, ...added];
}

function clientRows(
  before: PolicyRows,
  { clients, client_subnets: subnets }: SimulateBody,
  check: DraftCheck,
): Pick<PolicyRows, 'clients' | 'macClients' | 'subnets'> {
  const byAddress = new Map<string, number | null>();
  const byMac = new Map<string, number | null>();
  clients.forEach((client, index) => {
    const { group_id: groupId } = client;
    check.group(groupId, `clients.${index}.group_id`);
    if ('ip_address' in client) byAddress.set(client.ip_address, groupId);
    else byMac.set(client.mac_address, groupId);
  });
  const byCidr = new Map<string, number | null>();
  subnets.forEach(({ subnet_cidr: cidr, group_id: groupId }, index) => {
    check.group(groupId, `client_subnets.${index}.group_id`);
    byCidr.set(cidr, groupId);
  });
  return {
    clients: assigned(before.clients, byAddress, ({ address }) => address, toClient),
    macClients: assigned(before.macClients, byMac, ({ mac }) => mac, toMacClient),
    subnets: assigned(before.subnets, byCidr, ({ cidr }) => cidr, toSubnet),
  };
}

const toClient = (address: string, groupId: number) => ({ address, groupId });
const toMacClient = (mac: string, groupId: number) => ({ mac, groupId });
const toSubnet = (cidr: string, groupId: number) => ({ cidr, groupId });

/** The rows with changed groups; null = no group. */
function assigned<Row>(
  rows: readonly Row[],
  groups: ReadonlyMap<string, number | null>,
  keyOf: (row: Row) => string,
  toRow: (key: string, groupId: number) => Row,
): readonly Row[] {
  if (groups.size === 0) return rows;
  const kept = rows.filter((row) => !groups.has(keyOf(row)));
  const added = [...groups].flatMap(([key, groupId]) => (groupId === null ? [] : toRow(key, groupId)));
  return [...kept, ...added];
}

/** Records references of a draft to objects that do not exist. */
class DraftCheck {
  private readonly groups: ReadonlySet<number>;
  private readonly faults: FieldProblem[];

  constructor({ groups }: PolicyRows, faults: FieldProblem[]) {
    this.groups = new Set(groups.map(({ id }) => id));
    this.faults = faults;
  }

  fault(path: string, message: string): void {
    this.faults.push({ path, message });
  }

  /** Checks the id of a group; null = every group. */
  group(id: number | null, path: string): void {
    if (id !== null && !this.groups.has(id)) this.fault(path, 'expected the id of an existing group');
  }

  /** The rows without these ids. */
  without<Row extends { readonly id: number }>(
    rows: readonly Row[],
    ids: readonly number[],
    path: string,
  ): readonly Row[] {
    const dropped = new Set(ids);
    const known = new Set(rows.map(({ id }) => id));
    ids.forEach((id, index) => {
      if (!known.has(id)) this.fault(`${path}.${index}`, 'expected the id of an active rule');
    });
    return rows.filter(({ id }) => !dropped.has(id));
  }
}
