/** The parts of a full copy of the embedded database that are JSON. */
import { z } from 'zod';

/** Description of the file. */
export const CopyHead = z.strictObject({
  weir: z.string(),
  created_at: z.string(),
  /** Names of the migrations that the copied database has, in order. */
  migrations: z.array(z.string()).min(1),
});
export type CopyHead = z.infer<typeof CopyHead>;

/** A table. Its rows follow in data frames, in the binary format of COPY. */
export const CopiedTable = z.strictObject({
  name: z.string(),
  /** The name with its columns in parentheses, in the syntax of COPY. */
  route: z.string(),
  parent: z.string().optional(),
  bound: z.string().optional(),
});
export type CopiedTable = z.infer<typeof CopiedTable>;

/** A file of the data directory. */
export const CopiedFile = z.strictObject({
  path: z.enum(['tls/cert.pem', 'tls/key.pem']),
  base64: z.string(),
});
export type CopiedFile = z.infer<typeof CopiedFile>;
