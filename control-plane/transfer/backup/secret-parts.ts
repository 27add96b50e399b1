/** Merges the encrypted secrets of a file back into its parts. */
import { BackupFile } from '../../../shared/api/policy/backup-api.ts';
import type { BackupText } from '../../../shared/api/policy/backup-api.ts';
import { invalid } from '../../api/api-error.ts';
import { openSecrets, WrongPassphrase } from './sealed-secrets.ts';
import { formatValue } from './format-value.ts';

/** Objects with a secret, by kind: as shown in the file, and with their secrets, in the same order. */
export interface SecretParts {
  readonly hidden: Readonly<Record<string, unknown>>;
  readonly full: Readonly<Record<string, unknown>>;
}

/** Text that binds the encrypted secrets to their file. */
export function contextOf({
  version,
  created_at: createdAt,
}: Pick<BackupFile, 'version' | 'created_at'>): string {
  return `weir-backup ${String(version)} ${createdAt}`;
}

/**
 * The file with its secrets. An object that was removed from the file or changed in it gets no secret. Files without
 * encrypted secrets are not changed. @throws {ApiError} 400
 */
export async function withSecrets(file: BackupFile, passphrase: string | undefined): Promise<BackupFile> {
  const { secrets, ...open } = file;
  if (secrets === undefined) return file;
  if (passphrase === undefined)
    throw invalid([
      { path: 'passphrase', message: 'this backup has encrypted secrets: its passphrase is required' },
    ]);
  const parts = await opened(file, passphrase);
  const [hidden, full] = [parsed(open, parts.hidden), parsed(open, parts.full)];
  const result: Record<string, unknown> = { ...open };
  for (const [name, items] of Object.entries(hidden)) {
    const [own, known] = [open[name as keyof typeof open], full[name as keyof BackupFile]];
    if (own !== undefined) result[name] = completed(own, items, known);
  }
  return result as BackupFile;
}

async function opened(file: BackupFile, passphrase: string): Promise<SecretParts> {
  try {
    return (await openSecrets(file.secrets!, passphrase, contextOf(file))) as SecretParts;
  } catch (error) {
    if (error instanceof WrongPassphrase) throw invalid([{ path: 'passphrase', message: error.message }]);
    throw error;
  }
}

/** The kinds of a part, validated like those of a file. */
function parsed(
  { format, version, created_at, weir, node }: Omit<BackupFile, 'secrets'>,
  part: Readonly<Record<string, unknown>>,
): Partial<BackupText> {
  const head = { format, version, created_at, weir, node, has_secrets: true };
  const result = BackupFile.safeParse({ ...head, ...part });
  if (!result.success) throw invalid([{ path: 'secrets', message: 'expected the secrets of a backup' }]);
  const names = new Set(Object.keys(part));
  return Object.fromEntries(Object.entries(result.data).filter(([name]) => names.has(name)));
}

function completed(own: unknown, hidden: unknown, full: unknown): unknown {
  if (Array.isArray(own)) {
    const known = new Map(
      (hidden as unknown[]).map((item, at) => [formatValue(item), (full as unknown[])[at]]),
    );
    return own.map((item: unknown) => known.get(formatValue(item)) ?? item);
  }
  const values = own as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const isHidden = formatValue((hidden as Record<string, unknown>)[key]) === formatValue(value);
      return [key, isHidden ? (full as Record<string, unknown>)[key] : value];
    }),
  );
}
