/** The included engines: names and targets; see `NOTICE.md` for their sources. */
import { readFileSync } from 'node:fs';
import {
  type SafeSearchEngineData,
  SafeSearchEngineFile,
} from '../../../../shared/api/policy/safe-search-api.ts';

const SHIPPED = new URL('./engines-data.json', import.meta.url);

/** All engines, in the order of the file. */
export const ENGINES: readonly SafeSearchEngineData[] = SafeSearchEngineFile.parse(
  JSON.parse(readFileSync(SHIPPED, 'utf8')),
).engines;
