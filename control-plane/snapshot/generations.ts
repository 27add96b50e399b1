/**
 * The generations on disk, `<data_dir>/snapshots/`: what a node starts from when there is no database, and
 * when there is one, without parsing a list. A file is written beside its place, synced and renamed; on the
 * way in every checksum is verified, and a generation that is torn or damaged gives way to the one before.
 * File formats are `generation-file.ts` and `shared/snapshot/layout.ts`.
 */
import { mkdir, open, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../shared/log.ts';
import { RuleTableLayout, checksumWords } from '../../shared/snapshot/layout.ts';
import { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { RuleTable } from '../../shared/snapshot/rule-table.ts';
import type { PublishedState } from './compiled-rules.ts';
import { rulesIdOf } from './compiled-rules.ts';
import { TEMPORARY_SUFFIX, writeDurably } from './durable-file.ts';
import { DamagedGeneration, decodeGeneration, encodeGeneration } from './generation-file.ts';

/** Generations that stay on disk. */
const KEPT = 3;
const GENERATION_FILE = /^generation-(\d{10})-([0-9a-f]{56})\.weir$/;
const RULES_FILE = /^rules-([0-9a-f]{56})\.weir$/;

interface GenerationName {
  readonly file: string;
  readonly version: number;
  readonly rulesId: string;
}

/** The folder of generations. Calls must not overlap; the publisher sees to that. */
export class Generations {
  private readonly folder: string;
  private readonly logger: Logger;

  constructor(dataDir: string, logger: Logger) {
    this.folder = join(dataDir, 'snapshots');
    this.logger = logger;
  }

  /**
   * The newest whole generation, and the highest version ever used here, damaged files included, so that
   * versions go on growing. Also removes what a crash left half written.
   */
  async load(): Promise<{ state: PublishedState | undefined; highestVersion: number }> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeTemporary();
    const names = await this.list();
    for (const name of names) {
      try {
        return { state: await this.read(name), highestVersion: names[0]!.version };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.logger.warn('skip damaged generation', { file: name.file, reason });
      }
    }
    return { state: undefined, highestVersion: names[0]?.version ?? 0 };
  }

  /** Writes a generation and removes those that are too old. What was there stays when it throws. */
  async save(state: PublishedState): Promise<void> {
    const rulesId = rulesIdOf(state.snapshot.rules);
    const rulesPath = join(this.folder, rulesFile(rulesId));
    if (!(await exists(rulesPath))) await writeDurably(rulesPath, new Uint8Array(state.snapshot.rules));
    const version = String(state.snapshot.version).padStart(10, '0');
    await writeDurably(join(this.folder, `generation-${version}-${rulesId}.weir`), encodeGeneration(state));
    await this.prune();
  }

  private async read({ file, version, rulesId }: GenerationName): Promise<PublishedState> {
    const content = decodeGeneration(await readFile(join(this.folder, file)));
    if (content.version !== version || content.rulesId !== rulesId)
      throw new DamagedGeneration('content is not what the name says');
    const rules = await this.readRules(rulesId);
    // Both readers check the layout they are about to be read with.
    const policy = new PolicyTable(content.policy);
    if (policy.snapshotVersion !== version || policy.attributeCount !== new RuleTable(rules).attributeCount)
      throw new DamagedGeneration('policy and rules do not belong together');
    const { attributes, sources, compiledAtMs, compileMs } = content;
    return {
      snapshot: { version, rules, policy: content.policy },
      compiled: { rules, attributes, sources, compiledAtMs, compileMs },
      rows: content.rows,
    };
  }

  private async readRules(rulesId: string): Promise<SharedArrayBuffer> {
    const file = await open(join(this.folder, rulesFile(rulesId)));
    try {
      const { size } = await file.stat();
      if (size < RuleTableLayout.HEADER_WORDS * 4 || size % 4 !== 0)
        throw new DamagedGeneration('rule table is torn');
      const rules = new SharedArrayBuffer(size);
      const bytes = new Uint8Array(rules);
      for (let at = 0; at < size;) {
        const { bytesRead } = await file.read(bytes, at, size - at, at);
        if (bytesRead === 0) throw new DamagedGeneration('rule table is torn');
        at += bytesRead;
      }
      const words = new Uint32Array(rules);
      if (checksumWords(words, RuleTableLayout.HEADER_WORDS) !== words[RuleTableLayout.CHECKSUM_WORD])
        throw new DamagedGeneration('checksum of the rule table is wrong');
      if (rulesIdOf(rules) !== rulesId) throw new DamagedGeneration('rule table is not what its name says');
      return rules;
    } finally {
      await file.close();
    }
  }

  /** Newest first. */
  private async list(): Promise<GenerationName[]> {
    const names: GenerationName[] = [];
    for (const file of await readdir(this.folder)) {
      const match = GENERATION_FILE.exec(file);
      if (match !== null) names.push({ file, version: Number(match[1]), rulesId: match[2]! });
    }
    return names.sort((a, b) => b.version - a.version);
  }

  private async prune(): Promise<void> {
    const names = await this.list();
    for (const { file } of names.slice(KEPT)) await rm(join(this.folder, file), { force: true });
    const needed = new Set(names.slice(0, KEPT).map(({ rulesId }) => rulesFile(rulesId)));
    for (const file of await readdir(this.folder))
      if (RULES_FILE.test(file) && !needed.has(file)) await rm(join(this.folder, file), { force: true });
  }

  private async removeTemporary(): Promise<void> {
    for (const file of await readdir(this.folder))
      if (file.endsWith(TEMPORARY_SUFFIX)) await rm(join(this.folder, file), { force: true });
  }
}

function rulesFile(rulesId: string): string {
  return `rules-${rulesId}.weir`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
