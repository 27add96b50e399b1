/** Makes a plan from an upload: detects the program, then reads and maps its settings. Runs in the import thread. */
import type { ImportFormat } from '../../../shared/api/imports-api.ts';
import { loggedNames } from './adguard-home/logged-names.ts';
import { mapAdguard } from './adguard-home/map-adguard.ts';
import { isAdguard, readAdguard } from './adguard-home/read-adguard.ts';
import { mapBlocky } from './blocky/map-blocky.ts';
import { isBlocky, readBlocky } from './blocky/read-blocky.ts';
import { isDnsmasq } from './dnsmasq/dnsmasq-options.ts';
import { isHosts, mapDnsmasq, mapHosts } from './dnsmasq/map-dnsmasq.ts';
import type { FileSet } from './files/file-set.ts';
import { importFault } from './files/import-fault.ts';
import { openUpload } from './files/open-upload.ts';
import { mapPihole } from './pihole/map-pihole.ts';
import { isPihole, readPihole } from './pihole/read-pihole.ts';
import type { ImportPlan } from './plan/import-plan.ts';
import { isControld, mapControld } from './profiles/map-controld.ts';
import { isNextdns, mapNextdns } from './profiles/map-nextdns.ts';
import { mapTechnitium } from './technitium/map-technitium.ts';
import { isTechnitium, readTechnitium } from './technitium/read-technitium.ts';

/** A file to import. */
export interface ImportOrder {
  /** Path of the upload. */
  readonly path: string;
  /** A directory for temporary files; the caller empties it. */
  readonly folder: string;
  readonly format: ImportFormat | 'auto';
}

/**
 * Maximum number of rows of one import: an import is one transaction, which takes about 35 s for so many rows and
 * blocks all other changes.
 */
const MAX_ROWS = 20_000;

/** An importer of one format. */
interface Importer {
  readonly isMine: (files: FileSet) => boolean;
  readonly plan: (files: FileSet, folder: string) => ImportPlan;
}

/** In the order in which `auto` tries them: formats that are easier to recognize come first. */
const IMPORTERS: Readonly<Record<ImportFormat, Importer>> = {
  pihole: { isMine: isPihole, plan: (files, folder) => mapPihole(readPihole(files, folder)) },
  adguard_home: { isMine: isAdguard, plan: planAdguard },
  technitium: { isMine: isTechnitium, plan: (files) => mapTechnitium(readTechnitium(files)) },
  nextdns: { isMine: isNextdns, plan: mapNextdns },
  controld: { isMine: isControld, plan: mapControld },
  dnsmasq: { isMine: isDnsmasq, plan: mapDnsmasq },
  blocky: { isMine: isBlocky, plan: (files) => mapBlocky(readBlocky(files)) },
  hosts: { isMine: isHosts, plan: mapHosts },
};

/** Makes the plan; throws an ImportFault if the file cannot be imported. */
export async function makePlan({ path, folder, format }: ImportOrder): Promise<ImportPlan> {
  const { files } = await openUpload(path);
  const importer =
    format === 'auto' ? Object.values(IMPORTERS).find(({ isMine }) => isMine(files)) : IMPORTERS[format];
  if (importer === undefined)
    throw importFault('upload_unknown', { formats: Object.keys(IMPORTERS).join(', ') });
  const plan = importer.plan(files, folder);
  if (rowsOf(plan) > MAX_ROWS) throw importFault('upload_rows', { count: rowsOf(plan), max: MAX_ROWS });
  return plan;
}

function planAdguard(files: FileSet): ImportPlan {
  return { ...mapAdguard(readAdguard(files)), queries: loggedNames(files) };
}

/** Approximate number of rows of a plan. */
function rowsOf({ origins: { configuration: _settings, groups, ...others } }: ImportPlan): number {
  return Object.values(others).reduce((sum, things) => sum + things.length, groups.length - 1);
}
