/**
 * The search engines that Weir knows: their names and the targets of safe search; see `NOTICE.md` for the sources of
 * this data.
 */
import { readFileSync } from 'node:fs';
import {
  type SafeSearchEngineData,
  SafeSearchEngineFile,
} from '../../../../shared/api/policy/safe-search-api.ts';

const SHIPPED = new URL('./engines-data.json', import.meta.url);

/** All engines, in the order of the data file. */
export const ENGINES: readonly SafeSearchEngineData[] = SafeSearchEngineFile.parse(
  JSON.parse(readFileSync(SHIPPED, 'utf8')),
).engines;
