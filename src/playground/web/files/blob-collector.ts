/** Puts the pieces of a file together. */
export interface BlobCollector {
  add(piece: Uint8Array<ArrayBuffer>): void;
  /** All pieces so far, as one file. */
  all(): Blob;
}

const BLOB_LENGTH = 16 * 1024 * 1024;

/** Creates a collector. Long files go into blobs, which browsers keep on disk, so that the memory stays small. */
export function createBlobCollector(type: string): BlobCollector {
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const gather = (): void => {
    blobs.push(new Blob(pieces, { type }));
    pieces = [];
    length = 0;
  };
  return {
    add: (piece) => {
      pieces.push(piece);
      length += piece.length;
      if (length >= BLOB_LENGTH) gather();
    },
    all: () => {
      gather();
      return new Blob(blobs, { type });
    },
  };
}
