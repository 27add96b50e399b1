// The names on the block list and the question stream, from which all workloads are taken. Uses sample data if present,
// and adds generated names if there are too few. Every server of a run gets the same material.
import { generateNames, generateStream } from './generated.ts';
import type { Question } from './asked-question.ts';
import { findSampleData, readSampleNames, readSampleQuestions } from './sample-data.ts';

const GENERATED_ALLOWED_NAMES = 60_000;
const GENERATED_STREAM_LENGTH = 300_000;
const GENERATED_BLOCKED_SHARE = 0.3;

export interface Material {
  source: 'sample data' | 'generated';
  /** The names on the block list, without duplicates. */
  names: string[];
  listed: ReadonlySet<string>;
  stream: Question[];
}

/** Collects `count` names and a stream. `root` is the folder of the checkout. */
export function gatherMaterial(root: string, count: number, seed: number): Material {
  const folder = findSampleData(root);
  if (folder === undefined) return generateMaterial(count, seed);
  const names = readSampleNames(folder, count);
  if (names.length < count)
    for (const name of generateNames(count - names.length, seed, new Set(names))) names.push(name);
  return { source: 'sample data', names, listed: new Set(names), stream: readSampleQuestions(folder) };
}

/** Generates names and a stream without sample data. */
export function generateMaterial(count: number, seed: number): Material {
  const names = generateNames(count, seed);
  const listed = new Set(names);
  const allowed = generateNames(GENERATED_ALLOWED_NAMES, seed + 1, listed);
  const stream = generateStream(GENERATED_STREAM_LENGTH, allowed, names, GENERATED_BLOCKED_SHARE, seed + 2);
  return { source: 'generated', names, listed, stream };
}
