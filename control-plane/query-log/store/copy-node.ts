/** Sets the node of the rows in a binary COPY stream: rows from disk belong to the node under its current name. */
import { COPY_HEADER_BYTES, NODE_ID_COLUMN } from './copy-encoder.ts';

const END = -1;

/** Writes `nodeId` into every row of a stream that `CopyEncoder` made. */
export function stampNode(bytes: Buffer, nodeId: number): void {
  for (let at = COPY_HEADER_BYTES; at + 2 <= bytes.length;) {
    const columns = bytes.readInt16BE(at);
    if (columns === END) return;
    at += 2;
    for (let column = 0; column < columns; column++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (column === NODE_ID_COLUMN) bytes.writeInt32BE(nodeId, at);
      at += Math.max(length, 0); // -1 = null
    }
  }
}
