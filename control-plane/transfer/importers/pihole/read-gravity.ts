/** The tables of Pi-hole's settings: from its database, or from the JSON files of version 5. */
import { type FileSet, fileAt } from '../files/file-set.ts';
import { importFault } from '../files/import-fault.ts';
import { parseJson } from '../files/read-tree.ts';
import type { SqliteTables } from '../files/sqlite-tables.ts';
import type { GravityTables, Links, PiholeDevice } from './pihole-settings.ts';

type Row = Readonly<Record<string, unknown>>;
/** The rows of a table by its name; undefined if there is no such table. */
type Tables = (table: string, columns: readonly string[]) => readonly Row[] | undefined;

/** Files of version 5 with rows of one table; the type of a domain is only in the file name. */
const DOMAIN_FILES = ['whitelist.exact', 'blacklist.exact', 'whitelist.regex', 'blacklist.regex'] as const;

/** The tables of `gravity.db`: a live one, or the copy in an export. */
export function readGravity(tables: SqliteTables): GravityTables {
  return fromTables((table, columns) => tables.rows(table, columns));
}

/** The tables in the JSON files that Pi-hole 5 exports. */
export function readGravityJson(files: FileSet): GravityTables {
  const rowsOf = (name: string): readonly Row[] | undefined => {
    const content = fileAt(files, `${name}.json`);
    return content === undefined ? undefined : jsonRows(`${name}.json`, content);
  };
  return fromTables((table) => {
    if (table !== 'domainlist') return rowsOf(table);
    const domains = DOMAIN_FILES.map((name, type) => rowsOf(name)?.map((row) => ({ ...row, type })));
    return domains.some((rows) => rows !== undefined) ? domains.flatMap((rows) => rows ?? []) : undefined;
  });
}

/** Devices that Pi-hole has seen, from `pihole-FTL.db`. */
export function readDevices(tables: SqliteTables): PiholeDevice[] {
  const network = tables.rows('network', ['id', 'hwaddr']) ?? [];
  const macs = new Map(network.map((row) => [number(row['id']), text(row['hwaddr'])]));
  const addresses = tables.rows('network_addresses', ['network_id', 'ip', 'name']) ?? [];
  return addresses.map((row) => ({
    mac: macs.get(number(row['network_id'])) ?? '',
    address: text(row['ip']),
    name: text(row['name']),
  }));
}

/** The tables of an upload that contains none. */
export const NO_TABLES: GravityTables = {
  groups: [],
  lists: [],
  domains: [],
  clients: [],
  listLinks: new Map(),
  domainLinks: new Map(),
  clientLinks: new Map(),
  hasTables: false,
};

function fromTables(tables: Tables): GravityTables {
  const groups = tables('group', ['id', 'name', 'enabled', 'description']) ?? [];
  const lists = tables('adlist', ['id', 'address', 'type', 'enabled', 'comment']);
  const domains = tables('domainlist', ['id', 'type', 'domain', 'enabled', 'comment']);
  if (lists === undefined && domains === undefined) throw importFault('not_pihole');
  const clients = tables('client', ['id', 'ip', 'comment']) ?? [];
  const common = (row: Row) => ({
    id: number(row['id']),
    enabled: flag(row['enabled']),
    comment: text(row['comment']),
  });
  return {
    groups: groups.map((row) => ({
      ...common(row),
      name: text(row['name']),
      comment: text(row['description']),
    })),
    lists: (lists ?? []).map((row) => {
      const kind = number(row['type'] ?? 0) === 1 ? 'allow' : 'block';
      return { ...common(row), address: text(row['address']).trim(), kind };
    }),
    domains: (domains ?? []).map((row) => ({
      ...common(row),
      type: number(row['type']),
      domain: text(row['domain']),
    })),
    clients: clients.map((row) => ({
      id: number(row['id']),
      ip: text(row['ip']).trim(),
      comment: text(row['comment']),
    })),
    listLinks: links(tables('adlist_by_group', ['adlist_id', 'group_id']), 'adlist_id'),
    domainLinks: links(tables('domainlist_by_group', ['domainlist_id', 'group_id']), 'domainlist_id'),
    clientLinks: links(tables('client_by_group', ['client_id', 'group_id']), 'client_id'),
    hasTables: true,
  };
}

function links(rows: readonly Row[] | undefined, column: string): Links {
  const found = new Map<number, number[]>();
  for (const row of rows ?? []) {
    const id = number(row[column]);
    found.set(id, [...(found.get(id) ?? []), number(row['group_id'])]);
  }
  return found;
}

function jsonRows(name: string, content: Uint8Array): Row[] {
  const value = parseJson(name, content);
  const isRow = (row: unknown): row is Row => typeof row === 'object' && row !== null && !Array.isArray(row);
  if (!Array.isArray(value) || !value.every(isRow)) throw importFault('file_without_rows', { file: name });
  return value;
}

/** Some exports write numbers as strings. Anything else becomes -1, which is never the id of a row. */
function number(value: unknown): number {
  const read = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value;
  return typeof read === 'number' && Number.isSafeInteger(read) ? read : -1;
}

function flag(value: unknown): boolean {
  return value === true || number(value) === 1;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
