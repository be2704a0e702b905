/** The classes of changes, in their order. A gift's effect counts in the first class that a changed line of it has. */
export const changeClasses = ['MONEY', 'ADDED', 'REMOVED', 'MOVED', 'REKEYED', 'ERASED', 'RELABELLED'] as const;
export type ChangeClass = (typeof changeClasses)[number];
