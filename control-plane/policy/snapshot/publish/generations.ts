/**
 * The generations (published states of policy) on disk, in `<data_dir>/snapshots/`: with them, a node can start without
 * a database and without parsing lists. Files are written with a temporary name, synced and renamed; every checksum is
 * verified on reading, and if a generation is damaged, the previous one is used. The file formats are in
 * `generation-file.ts` and `shared/snapshot/layout.ts`.
 */
import { randomBytes } from 'node:crypto';
import { hasErrorCode, reasonOf } from '../../../../shared/errors.ts';
import { type FileHandle, mkdir, open, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../../shared/log.ts';
import { RuleTableLayout, checksumWords, ruleTableBytes } from '../../../../shared/snapshot/layout.ts';
import { RuleTable } from '../../../../shared/snapshot/rule-table.ts';
import { checkSpecialRules } from '../../../../shared/snapshot/special-rules.ts';
import { attributeCount } from '../../compile/table/attribute-table.ts';
import { type CompiledRules, rulesIdOf } from '../../compile/table/compiled-rules.ts';
import { differingRows, withChanges } from '../../change/row-differences.ts';
import { type PolicyRows } from '../../change/rows.ts';
import { type PublishedState } from '../published-state.ts';
import { TEMPORARY_SUFFIX, writeDurably } from '../../../host/files/durable-file.ts';
import {
  DamagedGeneration,
  decodeGeneration,
  decodeManaged,
  encodeGeneration,
  encodeManaged,
  type GenerationContent,
  type SharedManaged,
} from './generation-file.ts';
import { readFully } from '../../../host/files/read-fully.ts';

/** Number of generations that are kept on disk. */
const KEPT = 20;
/** Milliseconds after its publication by which every thread uses a generation. */
const SETTLED_MS = 2000;
/**
 * Maximum number of managed domains written with each generation; if there are more, each generation contains only the
 * differences from a shared file.
 */
const MAX_OWN_MANAGED = 2000;
/** Number of differing rows above which a new shared file is written. */
const MAX_DIFFERING = 2000;
const GENERATION_FILE = /^generation-(\d{10})-([0-9a-f]{56})(?:-([0-9a-f]{16}))?\.weir$/;
const MANAGED_FILE = /^managed-[0-9a-f]{16}\.weir$/;
const READY_FILE = 'was-ready';
const RULES_FILE = /^rules-([0-9a-f]{56})\.weir$/;

interface GenerationName {
  readonly file: string;
  readonly version: number;
  readonly rulesId: string;
  /** Id of the shared file of managed domains that the generation uses; null = none. */
  readonly managedId: string | null;
}

/** The content of a generation: all inputs of a snapshot. */
export interface KeptGeneration {
  readonly version: number;
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
}

/** The directory of generations. Calls must not overlap; the publisher ensures this. */
export class Generations {
  private readonly folder: string;
  private readonly logger: Logger;
  /** The shared file of managed domains that was written last, and its rows. */
  private managed: { readonly id: string; readonly rows: PolicyRows['managedDomains'] } | undefined;

  constructor(dataDir: string, logger: Logger) {
    this.folder = join(dataDir, 'snapshots');
    this.logger = logger;
  }

  /**
   * The newest intact generation, and the highest version ever used here, even in damaged files, so that versions
   * always increase. Also removes temporary files that a crash has left.
   */
  async load(): Promise<{ kept: KeptGeneration | undefined; highestVersion: number }> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeTemporary();
    const names = await this.list();
    for (const name of names) {
      try {
        return { kept: await this.read(name), highestVersion: names[0]!.version };
      } catch (error) {
        const reason = reasonOf(error);
        this.logger.warn('skipped a damaged policy snapshot on disk; an older one is used if there is one', {
          file: name.file,
          reason,
        });
      }
    }
    return { kept: undefined, highestVersion: names[0]?.version ?? 0 };
  }

  /**
   * Whether an earlier process with this directory has been ready. If so, lists that still have no copy cannot be
   * fetched, and the start does not wait for them.
   */
  wasReady(): Promise<boolean> {
    return exists(join(this.folder, READY_FILE));
  }

  /** Records for later starts that this process has been ready. */
  async noteReady(): Promise<void> {
    if (!(await this.wasReady())) await writeDurably(join(this.folder, READY_FILE));
  }

  /** Writes a generation and deletes those that are too old. If writing fails, earlier generations are kept. */
  async save(state: PublishedState): Promise<void> {
    const rulesId = rulesIdOf(state.snapshot.rules);
    const rulesPath = join(this.folder, rulesFile(rulesId));
    const { rules, special } = state.snapshot;
    if (!(await exists(rulesPath)))
      await writeDurably(rulesPath, new Uint8Array(rules), new Uint8Array(special));
    const version = String(state.snapshot.version).padStart(10, '0');
    const managed = await this.shareManaged(state.rows.managedDomains);
    const name = ['generation', version, rulesId, ...(managed === undefined ? [] : [managed.id])].join('-');
    await writeDurably(join(this.folder, `${name}.weir`), encodeGeneration(state, managed));
    await this.prune();
  }

  /**
   * Converts rows to differences from a shared file; writes a new shared file if the rows differ too much from the last
   * one.
   */
  private async shareManaged(rows: PolicyRows['managedDomains']): Promise<SharedManaged | undefined> {
    if (rows.length <= MAX_OWN_MANAGED) return undefined;
    let shared = this.managed;
    const changes = shared && differingRows(shared.rows, rows);
    if (
      shared === undefined ||
      changes === undefined ||
      changes.gone.length + changes.fresh.length > MAX_DIFFERING
    ) {
      shared = { id: randomBytes(8).toString('hex'), rows };
      await writeDurably(join(this.folder, managedFile(shared.id)), encodeManaged(rows));
      this.managed = shared;
      return { id: shared.id, gone: [], fresh: [] };
    }
    return { id: shared.id, gone: changes.gone.map(({ id }) => id), fresh: changes.fresh };
  }

  /** Identities of the rule tables that are kept. */
  async rulesIds(): Promise<ReadonlySet<string>> {
    return new Set((await this.list().catch(() => [])).map(({ rulesId }) => rulesId));
  }

  /**
   * The newest rules on disk whose sources satisfy `fits`; undefined if no rules do. Skips damaged and deleted files.
   */
  async findRules(fits: (sources: CompiledRules['sources']) => boolean): Promise<CompiledRules | undefined> {
    const seen = new Set<string>();
    for (const name of await this.list().catch(() => [])) {
      if (seen.has(name.rulesId)) continue;
      seen.add(name.rulesId);
      try {
        const { sources } = decodeGeneration(await readFile(join(this.folder, name.file)));
        if (fits(sources)) return (await this.read(name)).compiled;
      } catch (error) {
        const reason = reasonOf(error);
        this.logger.debug('skipped a policy snapshot on disk', { file: name.file, reason });
      }
    }
    return undefined;
  }

  /**
   * The generation that was active at a given time in Unix milliseconds; null if the generation is not kept, or was
   * just being applied at that time. Rules that equal those of `active` are not read again.
   */
  async at(momentMs: number, active: CompiledRules): Promise<KeptGeneration | null> {
    try {
      const found = await this.contentAt(momentMs, await this.list());
      if (found === null || momentMs - found.publishedAtMs < SETTLED_MS) return null;
      return await this.complete(found, rulesIdOf(active.rules) === found.rulesId ? active : undefined);
    } catch (error) {
      this.logger.debug('skipped a policy snapshot on disk', { reason: reasonOf(error) });
      return null;
    }
  }

  /**
   * The content of the last generation before a given time, if the file of the next version also exists. Modification
   * times only select the two files to read; the times in their content are decisive.
   */
  private async contentAt(
    momentMs: number,
    names: readonly GenerationName[],
  ): Promise<GenerationContent | null> {
    let place = await this.placeAt(momentMs, names);
    if (names[place] === undefined) return null;
    let found = await this.timedContent(names[place]!);
    let later: GenerationContent | undefined;
    while (found.publishedAtMs > momentMs) {
      later = found;
      place += 1;
      if (place === names.length) return null;
      found = await this.timedContent(names[place]!);
    }
    while (later === undefined && place > 0) {
      const next = await this.timedContent(names[place - 1]!);
      if (next.publishedAtMs > momentMs) later = next;
      else {
        found = next;
        place -= 1;
      }
    }
    return later === undefined || later.version === found.version + 1 ? found : null;
  }

  /**
   * Index of the newest generation that was written before a given time, or index of the newest generation if no file
   * is that old, for example because the files were copied.
   */
  private async placeAt(momentMs: number, names: readonly GenerationName[]): Promise<number> {
    for (const [place, { file }] of names.entries())
      if ((await stat(join(this.folder, file))).mtimeMs <= momentMs) return place;
    return 0;
  }

  private async timedContent(name: GenerationName): Promise<GenerationContent> {
    const content = this.check(name, decodeGeneration(await readFile(join(this.folder, name.file))));
    if (content.publishedAtMs === 0)
      throw new DamagedGeneration('the file does not contain the time at which the snapshot became active');
    return content;
  }

  private async read(name: GenerationName): Promise<KeptGeneration> {
    return this.complete(this.check(name, decodeGeneration(await readFile(join(this.folder, name.file)))));
  }

  private check({ version, rulesId }: GenerationName, content: GenerationContent): GenerationContent {
    if (content.version !== version || content.rulesId !== rulesId)
      throw new DamagedGeneration('the content does not match the name');
    return content;
  }

  private async complete(content: GenerationContent, known?: CompiledRules): Promise<KeptGeneration> {
    const { version, rulesId } = content;
    const { rules, special } = known ?? (await this.readRules(rulesId));
    const { attributes, sources, compiledAtMs, compileMs, hasLeftNames } = content;
    const rows = await this.rowsOf(content);
    // Creating the `RuleTable` also checks the layout.
    if (attributeCount(attributes) !== new RuleTable(rules).attributeCount)
      throw new DamagedGeneration('its attributes and its rules do not belong together');
    return {
      version,
      compiled: {
        rules,
        special,
        attributes,
        sources,
        compiledAtMs,
        compileMs,
        ...(hasLeftNames && { hasLeftNames }),
      },
      rows,
    };
  }

  private async rowsOf({ rows, managed }: GenerationContent): Promise<PolicyRows> {
    if (managed === undefined) return rows;
    const shared = decodeManaged(await readFile(join(this.folder, managedFile(managed.id))));
    const changes = { ids: [...managed.gone, ...managed.fresh.map(({ id }) => id)], rows: managed.fresh };
    return { ...rows, managedDomains: withChanges(shared, changes) };
  }

  /** The file of rules contains the table, whose header contains its length, and then the special rules. */
  private async readRules(
    rulesId: string,
  ): Promise<{ rules: SharedArrayBuffer; special: SharedArrayBuffer }> {
    const file = await open(join(this.folder, rulesFile(rulesId)));
    try {
      const { size } = await file.stat();
      const header = new Uint32Array(RuleTableLayout.HEADER_WORDS);
      await readPart(file, new Uint8Array(header.buffer), 0);
      const tableBytes = ruleTableBytes(header[RuleTableLayout.BUCKET_COUNT_WORD]!);
      if (size < tableBytes || size % 4 !== 0) throw new DamagedGeneration('rule table is incomplete');
      const rules = new SharedArrayBuffer(tableBytes);
      await readPart(file, new Uint8Array(rules), 0);
      const words = new Uint32Array(rules);
      if (checksumWords(words, RuleTableLayout.HEADER_WORDS) !== words[RuleTableLayout.CHECKSUM_WORD])
        throw new DamagedGeneration('checksum of the rule table is wrong');
      if (rulesIdOf(rules) !== rulesId) throw new DamagedGeneration('rule table does not match its name');
      const special = new SharedArrayBuffer(size - tableBytes);
      await readPart(file, new Uint8Array(special), tableBytes);
      checkSpecialRules(special);
      return { rules, special };
    } finally {
      await file.close();
    }
  }

  /** The files of generations, newest first. */
  private async list(): Promise<GenerationName[]> {
    const names: GenerationName[] = [];
    for (const file of await readdir(this.folder)) {
      const match = GENERATION_FILE.exec(file);
      if (match !== null)
        names.push({ file, version: Number(match[1]), rulesId: match[2]!, managedId: match[3] ?? null });
    }
    return names.sort((a, b) => b.version - a.version);
  }

  private async prune(): Promise<void> {
    const names = await this.list();
    for (const { file } of names.slice(KEPT)) await rm(join(this.folder, file), { force: true });
    const needed = new Set(
      names
        .slice(0, KEPT)
        .flatMap(({ rulesId, managedId }) => [
          rulesFile(rulesId),
          ...(managedId === null ? [] : [managedFile(managedId)]),
        ]),
    );
    for (const file of await readdir(this.folder))
      if ((RULES_FILE.test(file) || MANAGED_FILE.test(file)) && !needed.has(file))
        await rm(join(this.folder, file), { force: true });
  }

  private async removeTemporary(): Promise<void> {
    for (const file of await readdir(this.folder))
      if (file.endsWith(TEMPORARY_SUFFIX)) await rm(join(this.folder, file), { force: true });
  }
}

async function readPart(file: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  if (!(await readFully(file, bytes, from))) throw new DamagedGeneration('rule table is incomplete');
}

function managedFile(id: string): string {
  return `managed-${id}.weir`;
}

function rulesFile(rulesId: string): string {
  return `rules-${rulesId}.weir`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}
