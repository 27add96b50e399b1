/**
 * The copy of the configuration in this node's data directory: the values that the node last read from its file, to
 * detect changes in the file, and the last rows of the database, to start without a database.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTable } from '../../../config/config-fault.ts';
import {
  clusterValues,
  configOf,
  decidingValues,
  differingKeys,
  pickValues,
  setValues,
} from '../../../config/layers.ts';
import type { Layers, Values } from '../../../config/layers.ts';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { writeDurably } from '../../host/files/durable-file.ts';

/** Values of the cluster's keys as last read from the file, and the last rows of the database. */
export interface RememberedConfig {
  readonly file: Values;
  readonly rows: Values;
}

/** The file with the remembered values, in one data directory. */
export class ConfigMemory {
  private readonly path: string;
  private readonly logger: Logger;
  private written = '';

  constructor(dataDir: string, logger: Logger) {
    this.path = join(dataDir, 'config-state.json');
    this.logger = logger;
  }

  /** The stored configuration; null if the file does not exist or is damaged. */
  read(): RememberedConfig | null {
    try {
      const state: unknown = JSON.parse(readFileSync(this.path, 'utf8'));
      if (isTable(state) && isTable(state['file']) && isTable(state['rows']))
        return { file: state['file'], rows: state['rows'] };
      throw new Error('the file was not written by Weir');
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT'))
        this.logger.warn('could not read the last configuration; using the file', {
          reason: reasonOf(error),
        });
      return null;
    }
  }

  /** Stores the state. A failure is logged, and the next call retries. */
  async write(state: RememberedConfig): Promise<void> {
    const text = JSON.stringify(state);
    if (text === this.written) return;
    try {
      await writeDurably(this.path, Buffer.from(text));
      this.written = text;
    } catch (error) {
      this.logger.warn('could not store the configuration', { reason: reasonOf(error) });
    }
  }

  /** The rows to start with: the last rows of the database, with later changes in the file. */
  firstRows(given: Pick<Layers, 'file' | 'environment'>, known: RememberedConfig | null): Values {
    const file = clusterValues(given.file);
    if (known === null) return file;
    const edited = pickValues(file, differingKeys(known.file, file));
    const rows = setValues({ ...known.rows, ...edited });
    const isGood = (tried: Values): boolean =>
      'config' in configOf(decidingValues({ ...given, rows: tried }));
    if (isGood(rows)) return rows;
    this.logger.error(
      'the changed configuration file conflicts with the configuration of the cluster, which stays active',
      {},
    );
    return isGood(known.rows) ? known.rows : file;
  }
}
