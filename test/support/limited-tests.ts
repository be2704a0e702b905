import { isDistributed, isPooled } from './database';

/** A test of something that distributed books do not have: a view in the place of a table, a trigger, a backup, the name of a state. */
export const testOnOneNode = isDistributed ? test.skip : test;
/** A test of statements that are kept prepared, which no pooler of transactions lets a connection have. */
export const testOnOwnConnection = isPooled ? test.skip : test;
