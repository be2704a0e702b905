import type { Prisma } from '../../generated/prisma/client';
import { withSettings } from './copy-values';
import type { Statement } from './statement-messages';
import { selectStamp } from './version-stamp';

/** The differences between statements over books on one node and over books that are distributed. */
export interface Placement {
  /**
   * The SQL of the stamp of an organization's newest version, in a statement that reads other tables. It yields null where the version may be
   * on another node than those: a join would ask every node, so a statement of its own reads the stamp.
   */
  stampBeside(organizationId: string): string;
  /** The statements that follow BEGIN. */
  readonly opening: readonly Statement[];
  /** The statements that give a transaction's state a name, by which other connections read it; none where names mean nothing elsewhere. */
  readonly sharing: readonly Statement[];
  /** The statements whose first value is the version at the end of a transaction; none where a transaction stays in its state. */
  closing(organizationId: number): readonly Statement[];
  /** The COPY of a SELECT, and the SELECT whose values must be settings of the transaction before. */
  toCopy(select: Prisma.Sql): { readonly text: string; readonly settings: Prisma.Sql | undefined };
}

/** The books on the one node that is connected to. */
export const oneNode: Placement = {
  stampBeside: selectStamp,
  opening: [],
  // It is sent before the first statement, which may be long and would keep the connection busy.
  sharing: [{ text: 'SELECT pg_export_snapshot() AS name' }],
  closing: () => [],
  toCopy: (select) => ({ text: withSettings(select), settings: select }),
};
