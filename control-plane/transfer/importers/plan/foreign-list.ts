/** Lists of another program: URLs, and files next to its settings. Pure. */
import type { ImportReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { TEXT_URL } from '../../../../shared/policy/source-kind.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { sourceName } from './plan-text.ts';

/** A list in the other program. */
export interface ForeignList {
  readonly kind: 'block' | 'allow';
  /** URL or path of the list; for a list inside the settings, a name to show to users. */
  readonly place: string;
  /** Name of the list; empty = its location is its name. */
  readonly name?: string;
  readonly comment?: string;
  readonly enabled: boolean;
  readonly subdomains?: boolean;
  /** Names of groups; null = every group; empty = the list is kept but disabled. */
  readonly groups: readonly string[] | null;
  /** Text of the list, if the upload contains it. */
  readonly text?: string | undefined;
  /** Name of the file in which Weir stores the text of a list, and of custom rules. */
  readonly fileName?: string;
  /** Whether users wrote the text in the settings, so that it becomes custom rules. */
  readonly isCustom?: boolean;
}

/** Texts for the report. */
export interface ListReasons {
  readonly noGroup: ImportReason;
  readonly noText: ImportReason;
}

/** Adds a list. */
export function addForeignList(builder: PlanBuilder, list: ForeignList, reasons: ListReasons): void {
  const { kind, place, name = '', comment = '', subdomains = false, text } = list;
  const item = builder.item(kind === 'block' ? 'blocklist' : 'allowlist', place);
  const isFor = list.groups === null || list.groups.length > 0;
  if (!isFor) builder.remark(item, reasons.noGroup);
  const shared = {
    kind,
    subdomains,
    name: name.trim() === '' ? sourceName(place) : name,
    enabled: list.enabled && isFor,
    groups: isFor ? list.groups : null,
  };
  if (text !== undefined && list.isCustom === true)
    return builder.customRules({ ...shared, text, url: TEXT_URL + stemOf(list) }, [item]);
  if (text !== undefined) return builder.list({ ...shared, text, fileName: `${stemOf(list)}.txt` }, [item]);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place) && !/^file:/i.test(place))
    return builder.source({ ...shared, url: place, comment }, item);
  builder.refuse(item, reasons.noText);
}

/** Only characters that are valid in file names of all file systems; never a path. */
function stemOf({ fileName, place }: ForeignList): string {
  const stem = (fileName ?? place).replaceAll(/[^a-z0-9-]+/gi, '-').replaceAll(/^-+|-+$/g, '');
  return stem.slice(0, 100);
}
