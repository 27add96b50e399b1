/** Converts the current settings into a backup file, without secrets or with encrypted secrets. */
import { BACKUP_VERSION } from '../../../shared/api/policy/backup-api.ts';
import type { BackupText } from '../../../shared/api/policy/backup-api.ts';
import type { Values } from '../../../config/layers.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { timeOfDay } from '../../../shared/policy/time-of-day.ts';
import { SECRET_FIELDS } from './access-kinds.ts';
import type { BackupItems } from './backup-items.ts';
import type { Item, KindName } from './backup-kind.ts';
import { hiddenValue, valuesOfItems } from './configuration-items.ts';
import { contextOf, type SecretParts } from './secret-parts.ts';
import { sealSecrets } from './sealed-secrets.ts';

/** Head of a file. */
export interface BackupHead {
  readonly createdAt: Date;
  readonly weir: string;
  readonly node: string;
  readonly nodeConfiguration: Values;
}

/** Creates the file; it contains the secrets if there is a passphrase, which encrypts them. */
export async function toBackupFile(
  items: BackupItems,
  head: BackupHead,
  passphrase?: string,
): Promise<BackupText> {
  const hidden: Record<string, unknown> = {};
  const secrets: { hidden: Record<string, unknown>; full: Record<string, unknown> } = {
    hidden: {},
    full: {},
  };
  for (const [name, found] of items) {
    const pairs = found.map((item) => ({ full: toWritten(name, item), hidden: withoutSecret(name, item) }));
    hidden[name] = asWritten(
      name,
      pairs.map((pair) => pair.hidden),
    );
    const differing = pairs.filter((pair) => JSON.stringify(pair.full) !== JSON.stringify(pair.hidden));
    if (differing.length === 0) continue;
    secrets.hidden[name] = asWritten(
      name,
      differing.map((pair) => pair.hidden),
    );
    secrets.full[name] = asWritten(
      name,
      differing.map((pair) => pair.full),
    );
  }
  const file = {
    format: 'weir-backup' as const,
    version: BACKUP_VERSION,
    created_at: head.createdAt.toISOString(),
    weir: head.weir,
    node: head.node,
    has_secrets: passphrase !== undefined,
    ...hidden,
    node_configuration: head.nodeConfiguration,
  };
  if (passphrase === undefined) return file;
  return { ...file, secrets: await sealSecrets(secrets satisfies SecretParts, passphrase, contextOf(file)) };
}

function asWritten(kind: KindName, items: readonly Item[]): unknown {
  return kind === 'configuration' ? valuesOfItems(items) : items;
}

function toWritten(kind: KindName, item: Item): Item {
  switch (kind) {
    case 'schedule_profiles': {
      const slots = (item['slots'] as { start_time: number; end_time: number }[]).map((slot) => {
        return { ...slot, start_time: timeOfDay(slot.start_time), end_time: timeOfDay(slot.end_time) };
      });
      return { ...item, slots };
    }
    case 'local_records': {
      const { fqdn: _fqdn, ...record } = item;
      return record;
    }
    default:
      return item;
  }
}

function withoutSecret(kind: KindName, item: Item): Item {
  switch (kind) {
    case 'list_sources':
      return { ...item, url: shownUrl(String(item['url'])) };
    case 'configuration':
      return { ...item, value: hiddenValue(String(item['key']), item['value']) };
    case 'users':
    case 'second_factors':
    case 'certificates':
    case 'api_tokens':
      return { ...item, [SECRET_FIELDS[kind]]: null };
    default:
      return toWritten(kind, item);
  }
}
