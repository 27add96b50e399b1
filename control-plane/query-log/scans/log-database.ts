/** The database connections of the thread, to the server that the control plane uses. */
import type { Logger } from '../../../shared/log.ts';
import { sentLogger } from '../../../shared/threads/sent-logger.ts';
import { BackgroundWork } from '../../db/background-work.ts';
import { fromSentTarget, type SentTarget } from '../../db/database-target.ts';
import type { FromScans } from './scan-messages.ts';
import { LANES } from './lane-of.ts';

/** The connections as `pg_stat_activity` shows them. */
const NAME = 'weir scans';
/** As many as there are questions at once. */
const PLACES = LANES.quick.atOnce + LANES.long.atOnce;

/** Connections to one server at a time. */
export class LogDatabase {
  private readonly logger: Logger;
  private work: BackgroundWork | undefined;
  /** The server in use, as text. */
  private server = '';

  constructor(send: (message: FromScans) => void) {
    this.logger = sentLogger(send);
  }

  /** Connections to `server`; those to another one end with what runs on them. */
  over(server: SentTarget): BackgroundWork {
    const text = JSON.stringify(server);
    if (this.work !== undefined && text === this.server) return this.work;
    void this.work?.end();
    this.server = text;
    const target = fromSentTarget({ ...server, config: { ...server.config, application_name: NAME } });
    this.work = new BackgroundWork(target, this.logger, { places: PLACES, keepsPlans: true });
    return this.work;
  }

  /** Ends every connection; what runs on them fails. */
  cut(): void {
    this.work?.cut();
    this.work = undefined;
  }
}
