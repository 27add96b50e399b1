/** Common parts of the JSON files of NextDNS and Control D. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { FileSet } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { ImportFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { readJson } from '../files/read-tree.ts';
import { placeOf } from '../plan/client-place.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/**
 * The object of a JSON upload, without the wrapper that APIs add; null for other uploads. Throws an ImportFault for bad
 * JSON.
 */
export function readProfile(files: FileSet): ForeignTree | null {
  const content = files.get(ONLY_TEXT);
  if (content === undefined || !/^(?:\xef\xbb\xbf)?\s*\{/.test(content.toString('latin1', 0, 64)))
    return null;
  const file = readJson('the file', content);
  const wrapper = ['data', 'body', 'profile'].find((name) => file.at(name).members().length > 0);
  return wrapper === undefined ? file : file.at(wrapper);
}

/** Like `readProfile`, but also null if the upload is not JSON. */
export function profileIn(files: FileSet): ForeignTree | null {
  try {
    return readProfile(files);
  } catch (error) {
    if (error instanceof ImportFault) return null;
    throw error;
  }
}

/**
 * Adds a name that is answered with an address or another name; `isForAll`: its subdomains are included; a leading `*.`
 * means only subdomains.
 */
export function addSpoof(builder: PlanBuilder, name: string, target: string, isForAll: boolean): void {
  const isBelowOnly = name.startsWith('*.');
  const covers = isForAll && !isBelowOnly;
  const item = builder.item('local_record', `${name} ${target}`, covers ? importReason('names_below') : null);
  const isAddress = placeOf(target)?.kind === 'ip';
  const type = !isAddress ? 'CNAME' : target.includes(':') ? 'AAAA' : 'A';
  for (const owner of covers ? [name, `*.${name}`] : [name])
    builder.record({ name: owner, type, value: target }, item);
}
