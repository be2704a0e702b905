import type { Prisma } from '../../generated/prisma/client';
import { withSettings } from './copy-values';
import type { Statement } from './statement-messages';

/** The differences between statements over books on one node and over books that are distributed. */
export interface Placement {
  /**
   * True where rows may move to another node, which takes a transaction to a later state: its last statement tells the version again. No
   * name of a state means the same on all nodes, and the check of access reads no version.
   */
  readonly isDistributed: boolean;
  /** The statements that follow BEGIN. */
  readonly opening: readonly Statement[];
  /** The COPY of a SELECT, and the SELECT whose values must be settings of the transaction before. */
  toCopy(select: Prisma.Sql): { readonly text: string; readonly settings: Prisma.Sql | undefined };
}

/** The books on the one node that is connected to. */
export const oneNode: Placement = {
  isDistributed: false,
  opening: [],
  toCopy: (select) => ({ text: withSettings(select), settings: select }),
};
